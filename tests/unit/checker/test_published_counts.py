"""Models of spec/classics whose counts other checkers have published."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.checker.check import check
from assay.checker.verdict import Outcome
from assay.grammar.load import load_spec

PUBLISHED = [
    ("die_hard", {}, 16, 8),
    ("transaction_commit", {}, 34, 7),
    ("two_phase", {}, 288, 11),
    ("two_phase", {"ResourceManager": "4"}, 1568, 14),
]


@pytest.mark.parametrize(("name", "settings", "distinct", "depth"), PUBLISHED)
def test_distinct_states_and_depth_are_those_published(
    checkout: Path, name: str, settings: dict[str, str], distinct: int, depth: int
) -> None:
    loaded = load_spec(checkout / "spec" / "classics" / f"{name}.assay", overrides=settings)
    report = check(loaded.kernel)
    assert (report.statistics.distinct, report.statistics.depth) == (distinct, depth)
    checked = [each for each in report.properties if each.kind != "scenario"]  # which are about three managers
    assert {each.outcome for each in checked} == {Outcome.HOLDS}


def test_four_gallons_take_seven_states(checkout: Path) -> None:
    report = check(load_spec(checkout / "spec" / "classics" / "die_hard.assay").kernel)
    witness = next(each for each in report.properties if each.name == "four_gallons")
    assert witness.trace is not None
    assert len(witness.trace) == 7
