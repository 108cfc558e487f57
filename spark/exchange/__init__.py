"""How the tasks of a distributed search send newly found states to the tasks that own them, level by level.

In: a manifest (the levels searched so far) and the kinds of findings that are known already. Out: a ``TaskReport`` from
each task about the next level.

Two implementations have one interface (``Exchange`` in ``spark/search/cluster_bfs.py``): ``direct`` by sockets between
tasks that run all at once, and ``shuffle`` by Spark's own shuffle. ``fallback`` changes from the first to the second.

A room of its own, because only this code opens sockets and therefore has to authenticate and check what arrives.
"""
