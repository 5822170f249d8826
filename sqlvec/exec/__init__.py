"""The exec layer: see ARCHITECTURE.md."""
