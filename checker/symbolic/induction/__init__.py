"""Proofs by induction over the bits of a state: IC3, k-induction, and Z3's Spacer as a cross-check.

In comes a system of gates and a literal that should be unreachable; out comes a ``verdict``. It is cubes that exclude
the literal and are inductive, a run that reaches it, or no answer within the budget. No result is trusted as it is:
``symbolic.prove`` has each certificate confirmed by the second encoding.
"""
