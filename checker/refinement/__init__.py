"""Refinement: whether every step of a spec, seen through a mapping, is a step of an abstract spec.

In come the concrete and the abstract kernel with the mapping; out comes, for each step, whether the abstract side can
follow. Both the reference search and compiled search ask it.
"""
