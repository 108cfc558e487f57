"""Breadth-first search over tasks."""
