"""Patterns: the test whether a value fits one, ``match``, and whether its cases cover every value."""
