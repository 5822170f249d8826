"""The pages.columns layer: see ARCHITECTURE.md."""
