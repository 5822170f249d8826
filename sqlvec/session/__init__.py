"""The session layer: see ARCHITECTURE.md."""
