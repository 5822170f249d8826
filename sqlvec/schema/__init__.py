"""The schema layer: see ARCHITECTURE.md."""
