"""Attribution: which process run, node, broker and ZooKeeper session wrote a record.

In: the packed records of each file, from ``input``. Out: one ``RunStream`` of events for each process run and log, and
the ``ClusterNode`` objects that users see.

This is a room of its own because nothing before it knows processes, and nothing after it looks at files. The process
run is the unit of order for all that follows.
"""
