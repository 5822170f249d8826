"""The exec.row layer: see ARCHITECTURE.md."""
