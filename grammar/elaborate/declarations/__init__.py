"""Declarations of a module: actions, initial states, properties, scenarios, refinements, trace clauses."""
