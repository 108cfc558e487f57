"""Expressions and types of the kernel as TLA+ formulas."""
