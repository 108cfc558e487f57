"""Blame and repair, where there is no execution."""
