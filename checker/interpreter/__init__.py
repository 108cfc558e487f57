"""The reference evaluator: the meaning of every kernel expression and action on plain Python values."""
