"""The plan layer: see ARCHITECTURE.md."""
