"""The exec.dml layer: see ARCHITECTURE.md."""
