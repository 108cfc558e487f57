"""Log validation: recorded logs of a real system are checked against a kernel.

In: paths of logs, and a loaded spec with a trace clause. Out: a ``Validation`` (verdict, mismatches, broken properties,
outages), as plain values.

The rooms, in the order of the pipeline. ``input`` and ``patterns`` read lines, ``store`` packs them, ``attribution``
finds who wrote them. ``table`` selects events, ``observe`` binds them to the clause, ``search`` and ``slices`` look for
an execution. ``log_reader`` and ``validate`` are the two ends.
"""
