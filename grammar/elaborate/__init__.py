"""From syntax to kernel: modules found and joined, names resolved, types checked, sugar expanded, parameters bound.

In comes the syntax tree of a file with the chosen model and overrides; out comes one kernel, or diagnostics.
``build_kernel.py`` is the last pass and calls the others.
"""
