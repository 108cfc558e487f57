"""Explains a rejection: which line is to blame, which guard or condition is false, and the smallest repair of the log.

Comes in: the deepest paths of a failed search. Goes out: violations (lines, atoms, a repair), and the search that goes
on after them.

It is a room of its own because it only ever runs after a rejection, and never changes a verdict. What it says is a
ranking of suspects, not a proof.
"""
