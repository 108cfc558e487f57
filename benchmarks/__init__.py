"""Measurements, each printed as one line of JSON. They assert nothing: tests do that, and tests are never timed."""
