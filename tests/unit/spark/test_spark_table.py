"""The table of what Spark is held to says of each target whether it was met."""

from __future__ import annotations

import pytest
from benchmarks.spark_table import is_met, lines


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


def test_parts_are_named_to_the_benchmarks_themselves() -> None:
    with pytest.raises(ValueError, match="faults"):
        next(iter(lines(["faults"])))
