"""Conditions as graphs of gates: what expressions are lowered to for solvers, and for machine words that hold one bit of 64 states each."""
