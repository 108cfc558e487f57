"""A search gives the exact answer though processes of its cluster are ended, and goes on where its driver or its files were lost."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from benchmarks.faults import FAULTS, FEW, SETTINGS, Fault, Range, ready

from assay.spark.session import session
from assay.spark.standalone import Standalone

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture(scope="module")
def field(cluster: Standalone) -> Iterator[Range]:
    with session(cluster.url, SETTINGS) as spark:
        yield ready(cluster, spark)


def name(fault: Fault) -> str:
    return f"{fault.exchange}-{fault.victim}-{fault.level}".replace(" ", "_")


@pytest.mark.parametrize("fault", FEW, ids=name)
def test_the_answer_is_exact_in_spite_of(field: Range, fault: Fault) -> None:
    assert not field.wrong(fault)


def test_the_whole_matrix_has_twenty_rows_and_more() -> None:
    assert len(set(FAULTS)) == len(FAULTS) >= 20
