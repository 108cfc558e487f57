"""Temporal properties: LTL without next, under weak and strong fairness, decided by fair cycles of the state graph.

In come the states of a search and the temporal properties of a kernel; out come verdicts. Each violation has a
lasso-shaped run that ``lasso_semantics`` has judged by the definitions. This is the obvious version;
``explicit.liveness`` does the same on large graphs, and ``symbolic.bounded`` without a graph.
"""
