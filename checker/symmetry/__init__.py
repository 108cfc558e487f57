"""Symmetry reduction: one state is searched of each set of states that differ by a permutation of interchangeable
elements.

In come a kernel and its ``symmetric`` parameters. Out comes a group of permutations that is sound for the properties
asked, or the refusal E809 with the place that tells elements apart.
"""
