"""A Spark job that the driver can wait for and cancel; why it failed is one line."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from assay.spark.storage.filesystem import new_name
from assay.spark.tasks.task import MARK

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

T = TypeVar("T")

SECONDS = 0.05
"""Pause between two calls of ``check_stop``."""
AGAIN = 0.5
"""Seconds after which a job that was cancelled and still runs is cancelled again."""
LONGEST = 300
BLAME = re.compile(r"^(Caused by: )?[\w.]*(Error|Exception): (?!.*\bo\d+\.)")
"""A line that names an exception and has a message. A message with an id of Java's gateway (``o42.``) says nothing
to a user.
"""


class JobFailedError(Exception):
    """A job has failed. ``code`` is a diagnostic code where another attempt would fail the same way, else None."""

    def __init__(self, message: str, code: str | None = None) -> None:
        super().__init__(message)
        self.code = code


class BackgroundJob:
    """A job that runs in a thread of its own. It has a tag by which Spark can cancel it, and a description for Spark's
    web pages.
    """

    def __init__(self, spark: SparkSession, work: Callable[[], T], description: str) -> None:
        """Start the job; raises ``JobFailedError`` where the Java process is gone."""
        from py4j.protocol import Py4JError  # noqa: PLC0415 - optional
        from pyspark import InheritableThread  # noqa: PLC0415 - optional

        self._spark = spark
        self._tag = f"assay-{new_name()}"
        self._answer: T | None = None
        self._failure: JobFailedError | None = None

        def run() -> None:
            try:
                spark.addTag(self._tag)
                if not is_remote(spark):
                    spark.sparkContext.setJobDescription(description)
                self._answer = work()
            except Exception as error:  # noqa: BLE001 - whatever it is belongs to the thread that waits
                self._failure = job_failure(error)

        # The thread takes over properties of the caller's thread; under Spark Connect it finds them by the session.
        of = {"session": spark} if is_remote(spark) else {}
        try:
            self._thread = InheritableThread(target=run, daemon=True, **of)
        except Py4JError as error:
            raise job_failure(error) from None
        self._thread.start()

    @property
    def ended(self) -> bool:
        """Whether the job has ended."""
        return not self._thread.is_alive()

    @property
    def problem(self) -> JobFailedError | None:
        """Why the job failed, if it did."""
        return self._failure

    def wait(self, seconds: float | None = None) -> None:
        """Wait until the job has ended, for so many seconds at most."""
        self._thread.join(seconds)

    def check(self) -> None:
        """Raise ``JobFailedError`` if the job failed."""
        if self._failure is not None:
            raise self._failure

    def check_code(self) -> None:
        """Raise ``JobFailedError`` if the job failed and another attempt would fail the same way."""
        if self._failure is not None and self._failure.code is not None:
            raise self._failure

    def cancel(self) -> None:
        """Cancel the job, and wait until it has ended.

        Repeated, because a tag that Spark does not know yet cancels nothing.
        """
        from py4j.protocol import Py4JError  # noqa: PLC0415 - optional

        while not self.ended:
            with suppress(Py4JError):  # Java is gone, and the job with it
                self._spark.interruptTag(self._tag)
            self.wait(AGAIN)


def is_remote(spark: SparkSession) -> bool:
    """Whether a session is one of Spark Connect, which has no ``SparkContext``."""
    # Under Spark Connect asking for it raises a kind of `AttributeError`.
    return not hasattr(spark, "sparkContext")


def run_and_wait(spark: SparkSession, work: Callable[[], T], check_stop: Callable[[], None], description: str) -> T:
    """The answer of a job. ``check_stop`` is called while it runs; an exception from it cancels the job and is
    raised. Raises ``JobFailedError``.
    """
    # A list, because a job may answer None.
    answers: list[T] = []
    running = BackgroundJob(spark, lambda: answers.append(work()), description)
    try:
        while not running.ended:
            running.wait(SECONDS)
            check_stop()
    # Ctrl-C too: a job that nobody waits for would go on on the cluster.
    except BaseException:
        running.cancel()
        raise
    running.check()
    return answers[0]


def job_failure(error: Exception) -> JobFailedError:
    """The error for an exception that Spark raised: the task's own ``TaskProblem`` if it holds one, else the line
    that names the last cause.
    """
    text = str(error)
    # A task's own problem first: Spark wraps it in many lines of its own.
    problem = MARK.search(text)
    if problem is not None:
        return JobFailedError(problem[2], problem[1])
    lines = [
        line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith(("at ", "..."))
    ]
    # The last cause is the first one in time: those above it only say that something below has failed.
    blamed = [line for line in lines if BLAME.search(line)] or lines or [type(error).__name__]
    return JobFailedError(blamed[-1][:LONGEST])
