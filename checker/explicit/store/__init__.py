"""Visited states: hash tables, row stores, level files, large arrays."""
