"""Symbolic values: what an expression is while code for it is being written.

Each class mirrors a type of the language and holds registers or gates. Integers carry their interval, so that no
operation can overflow; small types can be numbered in canonical order. The lowering combines them; nothing here knows
kernel expressions.
"""
