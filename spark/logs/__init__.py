"""Logs validated by many processes: read in parts, attributed cluster by cluster, and checked slice by slice.

In: paths, URIs or a DataFrame of logs, and what is asked of each cluster. Out: a ``Validation`` for each cluster, the
same value as that of ``traces.scoped_validate`` in one process, and tables of events, verdicts, violations and
coverage.

A room of its own, because everything about logs and validation is in ``traces``. Here is only which process does what,
and how its result gets to the next one.
"""
