"""Expressions of the syntax tree to typed expressions of the kernel."""
