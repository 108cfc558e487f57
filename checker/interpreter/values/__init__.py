"""The values themselves: which values a type has, their canonical order, whether a value fits a type, and how it is
printed.

Nothing here evaluates an expression, so that engines with an evaluator of their own can use it.
"""
