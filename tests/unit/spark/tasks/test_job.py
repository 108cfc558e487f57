"""A job that nobody waits for any more is ended, whenever that is."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JNetworkError

from assay.spark.exchange.direct import Direct
from assay.spark.exchange.shuffle import Shuffle
from assay.spark.tasks.job import BackgroundJob, JobFailedError, run_and_wait
from assay.spark.tasks.task import Job


class Session:
    """A session that knows of a job only some time after it was asked for one."""

    def __init__(self) -> None:
        self.sparkContext = self
        self.asked, self.ended = threading.Event(), threading.Event()
        self.known = False

    def collect(self) -> list[Any]:
        self.asked.wait()
        self.known = True
        self.ended.wait()
        raise RuntimeError("the job was cancelled")

    def interruptTag(self, _tag: str) -> None:  # noqa: N802 - the name of Spark
        if self.known:
            self.ended.set()
        self.asked.set()

    def addTag(self, _tag: str) -> None:  # noqa: N802 - the name of Spark
        """It has one job."""

    def setJobDescription(self, _text: str) -> None:  # noqa: N802 - the name of Spark
        """Nobody watches."""


@pytest.fixture(autouse=True)
def _threads_without_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pyspark.InheritableThread", threading.Thread)
    monkeypatch.setattr("assay.spark.tasks.job.AGAIN", 0.01)


def test_a_job_that_spark_does_not_know_of_yet_is_ended_as_soon_as_it_does() -> None:
    spark: Any = Session()
    running = BackgroundJob(spark, spark.collect, "a job")
    running.cancel()
    assert running.ended


def test_who_does_not_want_to_wait_ends_the_job() -> None:
    spark: Any = Session()

    def check_stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_and_wait(spark, spark.collect, check_stop, "a job")
    assert spark.ended.is_set()


class Gone(Session):
    """A session whose Java has ended."""

    def addTag(self, *_: object) -> None:  # noqa: N802 - the name of Spark
        raise Py4JNetworkError("An error occurred while trying to connect to the Java server")

    getConf = range = addTag  # noqa: N815 - the name of Spark


@pytest.mark.parametrize("exchange", [Direct, Shuffle])
def test_a_job_without_java_has_failed(exchange: Callable[..., Direct | Shuffle], tmp_path: Path) -> None:
    """So that the search says so, and its checkpoint is kept."""
    lost: Any = Gone()
    with pytest.raises(JobFailedError, match="Java server"):
        exchange(lost, Job(str(tmp_path), 2, None)).level("manifest", set(), lambda: None)
