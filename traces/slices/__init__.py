"""Slices over the shared timeline."""
