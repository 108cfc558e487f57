"""Levels exchanged between tasks."""
