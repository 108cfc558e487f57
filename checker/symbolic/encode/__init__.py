"""The kernel as a transition system of gates."""
