"""Commands about logs: validate and coverage.

In: paths of logs, and options that select a spec, a part of the logs, and the forms of the answer. Out: the answer, and
an exit code.

A room of its own: these commands read logs, the others only specs. ``validate_spark`` has what ``assay validate`` does
on Spark.
"""
