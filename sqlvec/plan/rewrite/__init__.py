"""The plan.rewrite layer: see ARCHITECTURE.md."""
