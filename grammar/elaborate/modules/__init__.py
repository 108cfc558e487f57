"""Module files and instances of modules, and the binding of their parameters.

In come a path, a model's name and ``--set`` overrides. Out comes the tree of module instances, each with its prefix,
its parameters' values and its table of names.
"""
