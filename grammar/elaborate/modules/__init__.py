"""Module files, instances of modules, and the binding of their parameters."""
