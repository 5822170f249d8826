"""The commands layer: see ARCHITECTURE.md."""
