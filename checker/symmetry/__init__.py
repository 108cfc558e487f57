"""Symmetry reduction: states that differ only in how the elements of `symmetric` parameters are called are looked at once."""
