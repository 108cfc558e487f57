"""Windows: whether any beginning, and any behaviour of what is not logged, explains some lines of a log.

A SAT solver is asked about a few dozen lines at a time, from a free beginning within the invariants of the model
(docs/design/windows.md). Explanations are replayed by the reference evaluator; refutations name the lines, the guards
and the invariants that contradict each other.

Layer: below `explain`, above `search` and `result`.
"""
