"""The direct exchange as long as the cluster bears it, and the shuffle from the level on in which it failed twice."""

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
    """What `--exchange auto` does where tasks can run all at once: a cluster that lost a part may not be able to any more."""

    def __init__(self, spark: SparkSession, job: Job) -> None:
        self._spark = spark
        self._job = job
        self._current: Direct | Shuffle = Direct(spark, job)
        self._failures = 0
        self.remarks: list[str] = []

    @property
    def name(self) -> str:
        """The exchange that is used now."""
        return self._current.name

    @property
    def dear(self) -> bool:
        """Whether a level has a price of its own."""
        return self._current.dear

    def level(self, manifest: str, known: set[Kind], heed: Callable[[], None]) -> list[TaskReport]:
        """The level after those that a manifest names: what each task says of it; raises ``JobFailedError``."""
        try:
            outcomes = self._current.level(manifest, known, heed)
        except JobFailedError as problem:
            self._failures += 1
            if problem.code is None and self._failures >= FAILURES and isinstance(self._current, Direct):
                self._current = Shuffle(self._spark, self._job)
                self.remarks.append(f"the direct exchange failed twice in a level, and the shuffle went on: {problem}")
            raise
        self._failures = 0
        return outcomes

    def close(self) -> None:
        """Let go of what is held between levels."""
        self._current.close()
