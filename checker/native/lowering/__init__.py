"""Expressions and updates of the kernel lowered to code."""
