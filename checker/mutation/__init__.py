"""Mutation testing of specs: which small mistakes in the actions would the properties notice?

In comes a kernel; out come its mutants, each with the property that killed it, or as a survivor. The properties
themselves are never changed: they are the judge.
"""
