"""Expressions: each node of the kernel becomes, once, a function from a frame (state and locals) to a value.

``dispatch.py`` lists all nodes; one file a family holds their meaning. Beside it are generated Python functions and a
memo of quantifiers, for callers that evaluate one condition very often; both give the same values.
"""
