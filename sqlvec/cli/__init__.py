"""The cli layer: see ARCHITECTURE.md."""
