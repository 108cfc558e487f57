"""The reference evaluator: the meaning of every kernel expression and action, on plain Python values.

In comes a kernel; out come its initial states, the outcomes of each action in a state, and the value of any expression.
Every other engine is tested against it, and every counterexample, whichever engine found it, is replayed here.
"""
