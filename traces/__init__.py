"""Recorded logs of a real system, validated against a kernel."""
