"""The accepted execution, and the model's invariants and transitions evaluated on it.

Comes in: a path of the search. Goes out: an ``Execution`` (steps with their events), the counts of hidden steps, and
the properties that the execution violates.

It is a room of its own because search, compiled replay and slices all end here. A property is evaluated in one way,
whoever found the execution.
"""
