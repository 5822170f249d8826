"""The exec.vector layer: see ARCHITECTURE.md."""
