"""One small session for each module of this folder: a process has one at a time, and some modules start clusters of their own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from assay.spark.session import session
from assay.spark.standalone import Standalone, standalone

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


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    """Two tasks at once, in one process of Java and two of Python."""
    with session("local[2]", SMALL) as made:
        yield made


@pytest.fixture(scope="session")
def cluster() -> Iterator[Standalone]:
    """Two workers of two cores, which tests may end processes of."""
    with standalone(workers=2, cores=2) as made:
        yield made
