"""A search gives the exact answer though processes of its cluster are ended, and goes on where its driver or its files were lost."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

import pytest
from benchmarks.faults import FAULTS, FEW, SETTINGS, Fault, Range, kernel_of, ready
from pyspark import SparkContext

from assay.spark.session.local_cluster import Standalone

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture(scope="module")
def field(cluster: Standalone, session_of: Callable[..., Any]) -> Range:
    return ready(cluster, session_of(cluster.url, SETTINGS), "few")


def name(fault: Fault) -> str:
    return f"{fault.exchange}-{fault.victim}-{fault.level}".replace(" ", "_")


@pytest.mark.parametrize("fault", FEW, ids=name)
def test_the_answer_is_exact_in_spite_of(field: Range, fault: Fault) -> None:
    assert not field.wrong(fault)
    assert fault.level < field.expected["depth"]


def test_a_session_that_lost_its_java_is_ended_all_the_same(
    cluster: Standalone, session_of: Callable[..., Any], end_session: Callable[[], None]
) -> None:
    session_of(cluster.url, SETTINGS)
    gateway: Any = SparkContext._gateway
    os.kill(gateway.proc.pid, signal.SIGKILL)
    gateway.proc.wait()
    end_session()
    assert (SparkContext._gateway, SparkContext._active_spark_context) == (None, None)


def test_the_whole_matrix_has_twenty_rows_and_more() -> None:
    assert len(set(FAULTS)) == len(FAULTS) >= 20
    assert kernel_of("whole") != kernel_of("few")
