"""Refinement: whether every step of a spec, seen through a mapping, is a step of an abstract one."""
