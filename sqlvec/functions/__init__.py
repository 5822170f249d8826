"""SQL functions: the registry and the families of built-in functions."""
