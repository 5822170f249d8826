"""The expr layer: see ARCHITECTURE.md."""
