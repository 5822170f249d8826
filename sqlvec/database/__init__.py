"""The database layer: see ARCHITECTURE.md."""
