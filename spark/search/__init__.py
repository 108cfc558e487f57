"""The breadth-first search whose large levels are expanded by Spark's tasks.

In: a compiled kernel, an exchange, and a work directory. Out: what the local search gives: levels, counters, findings,
and counterexamples of the same length.

A room of its own, because here the driver's search and the cluster meet. ``cluster_bfs`` decides where a level is
expanded, ``shared_levels`` reads levels that tasks have written.
"""
