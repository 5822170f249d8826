"""The columnar.kernels layer: see ARCHITECTURE.md."""
