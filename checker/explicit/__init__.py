"""Explicit-state search over packed rows: the state store and breadth-first search by blocks."""
