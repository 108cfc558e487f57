"""Logs validated while they grow."""
