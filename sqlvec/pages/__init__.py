"""The pages layer: see ARCHITECTURE.md."""
