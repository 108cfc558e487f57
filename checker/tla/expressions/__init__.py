"""Expressions, types and constants of the kernel as TLA+ formulas.

In come kernel nodes and a scope of names, out comes text that knows its precedence and where it may be broken. One file
a family of expressions, as in ``interpreter.expressions``.
"""
