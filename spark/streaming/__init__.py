"""Logs validated while they are written, by a streaming query of Spark.

In: a directory of growing files, or a topic of Kafka. Out, after each micro-batch: the answer about all lines so far,
and the verdicts that changed.

A room of its own, because it has state that lives longer than one answer. What was read is stored (``state_store``);
what was found about slices is reused (``incremental_answer``). ``query`` ties these to the sources (``file_source``,
``kafka_source``); ``forked_workers`` shares the work among processes.
"""
