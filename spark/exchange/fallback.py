"""The exchange of ``--exchange auto``: the direct one, until it has failed twice in one level, and the shuffle from
then on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from assay.checker.explicit.shard import Kind
from assay.spark.exchange.direct import Direct
from assay.spark.exchange.shuffle import Shuffle
from assay.spark.tasks.job import JobFailedError
from assay.spark.tasks.task import Job, TaskReport

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FAILURES = 2


class Fallback:
    """Begins with the direct exchange, where the cluster can run all tasks at once, and changes to the shuffle for good
    after two failures.

    A cluster that has lost an executor may have too few slots left for a barrier stage. The shuffle needs no more than
    one.
    """

    def __init__(self, spark: SparkSession, job: Job) -> None:
        self._spark = spark
        self._job = job
        self._current: Direct | Shuffle = Direct(spark, job)
        self._failures = 0
        self.remarks: list[str] = []

    @property
    def name(self) -> str:
        """The name of the exchange in use."""
        return self._current.name

    @property
    def dear(self) -> bool:
        """Whether a level has a price of its own."""
        return self._current.dear

    def level(self, manifest: str, known: set[Kind], check_stop: Callable[[], None]) -> list[TaskReport]:
        """Search the next level as the exchange in use does. Raises ``JobFailedError``; the caller tries again, perhaps
        with the other one.
        """
        try:
            outcomes = self._current.level(manifest, known, check_stop)
        except JobFailedError as problem:
            self._failures += 1
            # A failure with a code would meet the shuffle too: lack of memory, or a work directory that cannot be
            # read.
            if problem.code is None and self._failures >= FAILURES and isinstance(self._current, Direct):
                self._current = Shuffle(self._spark, self._job)
                self.remarks.append(f"the direct exchange failed twice in a level, and the shuffle went on: {problem}")
            raise
        # Failures of different levels do not add up: a cluster that loses an executor a day keeps the faster
        # exchange.
        self._failures = 0
        return outcomes

    def close(self) -> None:
        """End what the exchange in use holds between levels."""
        self._current.close()
