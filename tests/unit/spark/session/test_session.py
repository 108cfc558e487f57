"""A session begins with the settings that are needed, and says what is missing otherwise."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from py4j.protocol import Py4JError, Py4JNetworkError

from assay.grammar.diagnostics.diagnostic import SpecError
from assay.spark.session import session as module
from assay.spark.session.session import RUNTIME, configured, require_pyspark, session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_without_pyspark_the_diagnostic_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(SpecError) as problem:
        require_pyspark()
    found = problem.value.diagnostics[0]
    assert found.code == "E830"
    assert ".[spark]" in found.notes[0].message


class Starts:
    """What starts a session, and fails first as often as there are failures."""

    def __init__(self, *failures: Exception) -> None:
        self.failures = list(failures)

    def __call__(self, _master: str, _settings: object, log: Path) -> str:
        log.write_text(f"attempt with {len(self.failures)} failures to come\n")
        if self.failures:
            raise self.failures.pop(0)
        return "a session"


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch, end_session: Callable[[], None]) -> Callable[..., Any]:
    """Begins a session where starting fails so."""
    end_session()

    def begin(*failures: Exception) -> Any:
        monkeypatch.setattr(module, "_start", Starts(*failures))
        monkeypatch.setattr(module, "PAUSE", 0.0)
        with session("local[2]") as made:
            return made

    return begin


PASSING = Py4JError("Answer from Java side is empty")


def test_a_session_that_does_not_start_is_started_again(
    starts: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    assert starts(PASSING) == "a session"
    (said,) = caplog.messages
    assert "Answer from Java side is empty | attempt with 1 failures to come" in said


def test_of_two_attempts_that_fail_both_are_told(starts: Callable[..., Any]) -> None:
    with pytest.raises(SpecError, match="nor when it is started again") as problem:
        starts(PASSING, OSError("no memory"))
    (found,) = problem.value.diagnostics
    assert found.code == "E832"
    said = [note.message for note in found.notes]
    assert said[0] == "Answer from Java side is empty"
    assert said[2:] == ["no memory", "attempt with 1 failures to come"]


def test_what_another_attempt_would_not_mend_is_told_at_once(starts: Callable[..., Any]) -> None:
    with pytest.raises(SpecError) as problem:
        starts(Py4JError("Could not parse Master URL: 'nothing'"), PASSING)
    assert "started again" not in problem.value.diagnostics[0].message


@pytest.mark.spark
def test_a_second_session_at_once_is_refused_and_the_first_goes_on(spark: SparkSession) -> None:
    with pytest.raises(SpecError, match="has a session already"), session("local[1]"):
        pass
    assert spark.range(3).count() == 3


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


def test_what_ended_java_is_told_and_not_that_its_settings_are_gone_too() -> None:
    class Gone(dict[str, str]):
        def unset(self, name: str) -> None:
            raise Py4JNetworkError(f"no answer about {name}")

        set = dict.__setitem__

    lost: Any = SimpleNamespace(conf=Gone())
    with pytest.raises(ValueError, match="a task failed"), configured(lost):
        raise ValueError("a task failed")
