"""Explicit-state search over packed rows: breadth-first, depth-first, or one shard of a distributed search.

In comes a compiled kernel (``native``): functions that map a block of states to a block of successors. Out come the
verdicts, counts and counterexamples of the reference search, state for state. The folder knows no expressions and no
actions; it stores, deduplicates and orders rows of 64-bit words.
"""
