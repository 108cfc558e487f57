"""A round as one Spark job of one shuffle: each task sends packets to the others, then answers to those that it
receives.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from assay.spark.liveness.product_tasks import Receive, Rounds, Send
from assay.spark.search.cluster_bfs import ATTEMPTS
from assay.spark.tasks.job import JobFailedError, run_and_wait
from assay.spark.tasks.task import errors_as_task_problems

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

Batches = Iterator[Any]
CELLS = "part int, packet binary"
ANSWERS = "part int, answer string"


def rounds(spark: SparkSession, parts: int, check_stop: Callable[[], None]) -> Rounds:
    """A function that runs such jobs, each of so many tasks.

    ``check_stop`` is called while the driver waits; what it raises ends the job and is raised. A failed job is run
    again, ``ATTEMPTS`` times in all, then ``JobFailedError`` is raised; at once where another attempt would fail too.
    """

    def run(send: Send, receive: Receive) -> list[str]:
        def collect() -> list[Row]:
            cells = spark.range(0, parts, 1, parts).mapInArrow(lambda batches: send_packets(send, batches), CELLS)
            answers = cells.repartitionById(parts, "part").mapInArrow(
                lambda each: answer_packets(receive, each), ANSWERS
            )
            return answers.collect()

        for attempt in range(ATTEMPTS):
            try:
                found = run_and_wait(spark, collect, check_stop, "assay: a temporal property")
            except JobFailedError as problem:
                if problem.code is not None or attempt == ATTEMPTS - 1:
                    raise
            else:
                # The driver knows whose answer it is by its position alone.
                return [row.answer for row in sorted(found, key=lambda row: int(row.part))]
        raise AssertionError

    return run


def send_packets(send: Send, batches: Batches) -> Batches:
    """The first stage: the packets of the tasks with these numbers."""
    import pyarrow as pa  # noqa: PLC0415 - optional

    for batch in batches:
        for part in batch.column(0).to_pylist():
            with errors_as_task_problems():
                for to, packet in send(part):
                    arrays = [pa.array([to], pa.int32()), pa.array([packet], pa.binary())]
                    yield pa.RecordBatch.from_arrays(arrays, ["part", "packet"])


def answer_packets(receive: Receive, batches: Batches) -> Batches:
    """The second stage: the answer of the task to which all these packets were sent; every task sends itself at
    least one.
    """
    import pyarrow as pa  # noqa: PLC0415 - optional

    first = next(batches, None)
    if first is None:
        return
    # All rows of a partition have one number (`repartitionById`).
    part = first.column(0)[0].as_py()

    def packets() -> Iterator[bytes]:
        batch: Any = first
        while batch is not None:
            yield from batch.column(1).to_pylist()
            batch = next(batches, None)

    with errors_as_task_problems():
        rest = packets()
        answer = receive(part, rest)
        deque(rest, 0)  # Spark takes a worker again only if it has read everything
    arrays = [pa.array([part], pa.int32()), pa.array([answer], pa.string())]
    yield pa.RecordBatch.from_arrays(arrays, ["part", "answer"])
