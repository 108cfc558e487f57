"""Partial-order reduction: which steps of a state may wait, because no property can tell.

A kernel comes in. Out go the places that each action instance reads and writes (``footprints``), and which instances
depend on which (``dependence``). A filter keeps of a state's steps those of a stubborn set (``stubborn_sets``). It is a
room of its own since nothing else asks which steps commute.

Reference: A. Valmari, "Stubborn sets for reduced state space generation", 1991 (docs/design/partial-order-reduction.md).
"""
