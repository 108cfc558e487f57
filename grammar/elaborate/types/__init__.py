"""Types during elaboration: their sizes, constant folding for ranges and capacities, coercion and unification.

In come typed expressions and the types that places want; out come expressions of exactly that type, or a diagnostic.
"""
