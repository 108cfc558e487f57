"""Bounded search: unrolling, paths, lassos."""
