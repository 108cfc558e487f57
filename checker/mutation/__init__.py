"""Mutation of specs: which properties notice that a guard, a comparison or an update is wrong, and which mistakes nobody notices."""
