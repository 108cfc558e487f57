"""Runs that together exercise a model: every action, every guard that refuses alone, every pair of actions in a row.

A model comes in; few short runs go out, with what they cover and what was not reached. All of it is the reference
evaluator's. The room is apart because a search for a property ends where this one only begins to be of use.
"""
