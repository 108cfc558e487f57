"""What actions do: initial states, the outcomes of each instance in a state, and why an instance is disabled.

The plain evaluator comes first (``action.py``, ``update.py``). Beside it are generated Python functions and a memo of
outcomes, for callers that ask an action very often; both give the plain evaluator's results.
"""
