"""A session begins with the settings that are needed, and says what is missing otherwise."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from assay.grammar.diagnostics import SpecError
from assay.spark.session import RUNTIME, configured, require_pyspark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_without_pyspark_the_diagnostic_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(SpecError) as problem:
        require_pyspark()
    found = problem.value.diagnostics[0]
    assert found.code == "E830"
    assert "assay[spark]" in found.notes[0].message


@pytest.mark.spark
def test_a_session_has_the_settings_of_assay(spark: SparkSession) -> None:
    assert {name: spark.conf.get(name) for name in RUNTIME} == RUNTIME


@pytest.mark.spark
def test_tasks_run_in_the_same_python(spark: SparkSession) -> None:
    def executables(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            yield pa.RecordBatch.from_pydict({"python": [sys.executable]})

    assert {row.python for row in spark.range(0, 2, 1, 2).mapInArrow(executables, "python string").collect()} == {
        sys.executable
    }


@pytest.mark.spark
def test_a_session_of_somebody_else_gets_its_own_settings_back(spark: SparkSession) -> None:
    spark.conf.set("spark.sql.adaptive.enabled", "true")
    with configured(spark) as same:
        assert same.conf.get("spark.sql.adaptive.enabled") == "false"
    assert spark.conf.get("spark.sql.adaptive.enabled") == "true"
    spark.conf.set("spark.sql.adaptive.enabled", "false")
