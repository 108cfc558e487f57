"""Answers about specs as text, JSON and pictures."""
