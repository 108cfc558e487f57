"""Spark sessions: how one is started, ended and configured, and how assay's code gets to executors.

In: a master and settings, or a session that the user has made. Out: a session with the settings that assay's jobs need;
a ``SpecError`` with one of the codes E830 to E832 where there is none.

A room of its own, because it is full of workarounds for pyspark and Java that no other code should know. ``java`` finds
a Java, and ``local_cluster`` starts a small cluster. ``ship_package`` and ``ship_bitcode`` send code, ``worker_cache``
is about worker processes that are reused.
"""
