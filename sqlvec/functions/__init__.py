"""The functions layer: see ARCHITECTURE.md."""
