"""The accepted execution and the invariants on it."""
