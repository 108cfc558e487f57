"""Families of log statements with their meaning, as TOML."""
