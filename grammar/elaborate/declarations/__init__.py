"""Declarations: actions, initial states, properties, scenarios, refinements and trace clauses become kernel nodes.

Each file takes one kind of declaration as written and the scope of its module; the expressions inside are elaborated by
``elaborate.expressions``.
"""
