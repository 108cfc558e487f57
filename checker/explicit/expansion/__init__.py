"""Blocks of packed states expanded by compiled code, by several threads."""
