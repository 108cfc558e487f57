"""The second encoding, for Z3."""
