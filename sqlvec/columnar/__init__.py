"""The columnar layer: see ARCHITECTURE.md."""
