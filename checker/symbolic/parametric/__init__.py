"""Proofs for any number of elements: invariants are guessed on a small model and checked by Z3 over uninterpreted
sorts.

A spec can be proved so only if it does not depend on the size of its sets; ``size_independence.py`` decides that first.
"""
