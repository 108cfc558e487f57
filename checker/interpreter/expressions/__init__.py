"""Expressions as functions from a frame to a value."""
