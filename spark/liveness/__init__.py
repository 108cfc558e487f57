"""Temporal properties decided by Spark's tasks, for graphs that do not fit into the driver's memory.

In: a manifest that lists all states of a finished search, and the plan of the temporal properties. Out: a ``Decision``
for each property, with a lasso as counterexample where it is violated.

``check`` decides, and ``product_tasks`` build and trim the product of graph and automaton. ``shortest_path_tasks``
search backwards in it. ``counterexample`` follows the path in the driver, and ``shuffle_round`` runs one job. A room of
its own, because tasks hold nothing in memory here: everything is in files between two jobs, unlike in the search for
states.
"""
