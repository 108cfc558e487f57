"""Outages in time."""
