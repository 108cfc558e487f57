"""The symbolic engines: bounded search and proofs, by SAT and SMT solvers.

In comes a kernel; ``encode`` makes a transition system of gates of it. ``bounded`` looks for runs of k steps,
``induction`` for inductive invariants, ``parametric`` for proofs of every size. ``certificate`` writes what was proved
as statements of the language, and ``smt``, a second encoding that shares no code with the gates, checks them again.
``prove.py`` puts these together.
"""
