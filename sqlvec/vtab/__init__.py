"""The vtab layer: see ARCHITECTURE.md."""
