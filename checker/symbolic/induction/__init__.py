"""Proofs by induction: IC3, k-induction, Spacer."""
