"""One small session after another: a process has one at a time, and to start one takes longer than most tests do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from assay.spark.session.local_cluster import Standalone, standalone
from assay.spark.session.session import session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SMALL = {
    "spark.driver.memory": "512m",
    "spark.executor.memory": "512m",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
    "spark.executor.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
}
"""Settings under which Spark takes little."""


class Sessions:
    """The session that there is: another one is started only where somebody wants one with another master or other settings."""

    def __init__(self) -> None:
        self._open = ExitStack()
        self._key: tuple[str, dict[str, str]] | None = None
        self._spark: SparkSession | None = None

    def of(self, master: str, settings: Mapping[str, str]) -> SparkSession:
        """A session with a master and settings."""
        key = master, dict(settings)
        if self._spark is None or key != self._key:
            self.end()
            self._spark, self._key = self._open.enter_context(session(master, settings)), key
        return self._spark

    def end(self) -> None:
        """End it."""
        self._spark = None
        self._open.close()


SessionOf = Callable[[str, Mapping[str, str]], "SparkSession"]


@pytest.fixture(scope="session")
def sessions() -> Iterator[Sessions]:
    """What starts sessions, and ends the last one."""
    made = Sessions()
    yield made
    made.end()


@pytest.fixture(scope="session")
def session_of(sessions: Sessions) -> SessionOf:
    """Gives the session with a master and settings."""
    return sessions.of


@pytest.fixture
def end_session(sessions: Sessions) -> Callable[[], None]:
    """Ends the session that there is, if there is one."""
    return sessions.end


@pytest.fixture
def spark(session_of: SessionOf) -> SparkSession:
    """Two tasks at once, in one process of Java and two of Python."""
    return session_of("local[2]", SMALL)


@pytest.fixture(scope="session")
def cluster(sessions: Sessions) -> Iterator[Standalone]:
    """Two workers of two cores, which tests may end processes of."""
    with standalone(workers=2, cores=2) as made:
        yield made
        sessions.end()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of one session follow one another: those of the cluster come last."""
    items.sort(key=lambda item: "cluster" in getattr(item, "fixturenames", ()))
