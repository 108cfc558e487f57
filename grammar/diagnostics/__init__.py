"""Diagnostics, their codes, and how they are rendered."""
