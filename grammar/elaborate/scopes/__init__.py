"""What names denote at the place where an expression is read.

Scopes are immutable chains: a new local makes a new scope. The folder also holds what travels beside a scope: labels,
unique names, and which optional values are known to be present.
"""
