"""The table of what Spark is held to says of each target whether it was met."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from benchmarks.spark import keep_lines
from benchmarks.spark_table import is_met, lines

if TYPE_CHECKING:
    from pathlib import Path


def test_of_costs_less_is_better_and_of_rates_more() -> None:
    of_costs = {"benchmark": "seconds a small level", "target": 0.02}
    of_rates = {"benchmark": "spark_logs", "unit": "events a second", "target": 20_000}
    assert [is_met({**of_costs, "value": value}) for value in (0.01, 0.02, 0.03)] == [True, True, False]
    assert [is_met({**of_rates, "value": value}) for value in (19_999, 20_000)] == [False, True]
    assert not is_met({**of_rates, "value": 20_000, "equal_to_local": False})


def test_faults_are_survived_exactly_or_not() -> None:
    assert is_met({"benchmark": "fault", "value": "exact", "target": "exact"})
    assert not is_met({"benchmark": "fault", "value": {"distinct": 3}, "target": "exact"})
    assert not is_met({"benchmark": "faults survived exactly", "value": 27, "target": 28})


def test_what_was_measured_is_not_measured_again(tmp_path: Path) -> None:
    of_search = {"part": "dear", "benchmark": "processor seconds over native", "value": 0.95, "target": 1.3}
    of_logs = {"part": "live=1MB", "benchmark": "spark_logs", "value": 5, "unit": "events a second", "target": 20_000}
    beside = {"part": "dear", "benchmark": "native, one thread", "cpu": 1.0}
    keep_lines(tmp_path / "kept", [of_search, beside, of_logs])
    assert list(lines([f"into={tmp_path / 'kept'}", "dear", "live=1MB"])) == [
        {**of_search, "met": True},
        {**of_logs, "met": False},
        {"benchmark": "targets met", "value": 1, "target": 2},
    ]


@pytest.mark.parametrize("wrong", ["clusters", "dear=3"])
def test_a_part_that_is_none_or_has_no_size_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match=wrong.partition("=")[0]):
        next(iter(lines([wrong])))
