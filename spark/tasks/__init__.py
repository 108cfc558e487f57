"""What every Spark job of a search needs: the work of a task, the job in the driver, and the check before the first
job.

In: a manifest, compiled code and a range of owners. Out: a ``TaskReport``, or one ``JobFailedError`` in one line.

A room of its own, because both exchanges and the liveness jobs run the same task and fail in the same ways.
"""
