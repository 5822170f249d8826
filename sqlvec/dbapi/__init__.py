"""The dbapi layer: see ARCHITECTURE.md."""
