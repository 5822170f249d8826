"""The plan.access layer: see ARCHITECTURE.md."""
