"""Answers about logs as text, JSON and HTML."""
