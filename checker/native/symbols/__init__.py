"""Symbolic values of the lowering: intervals, maps, ranks, compact slots."""
