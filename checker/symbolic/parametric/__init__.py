"""Proofs for any size."""
