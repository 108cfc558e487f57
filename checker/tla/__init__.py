"""A kernel written as a TLA+ module with the configuration that TLC reads."""
