"""The parse layer: see ARCHITECTURE.md."""
