"""Bounded search: is there a run of k steps to a violation, for k = 0, 1, 2, …? Asked of one incremental SAT solver.

In comes a system of gates (``encode``); out come shortest counterexamples, lassos that violate temporal properties, and
executions that explain partly known logs. What is not found up to a bound is open, never proved.
"""
