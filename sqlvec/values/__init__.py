"""The values layer: see ARCHITECTURE.md."""
