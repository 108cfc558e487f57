"""Temporal properties of large state graphs, decided by compiled loops over arrays.

In come the states of a finished search and a Büchi automaton. Out comes whether their product has a fair cycle, and the
run that shows it. The meaning is that of ``checker.liveness``, which decides the same with sets and networkx. The
second method here, trimming, is for graphs that no single process holds.
"""
