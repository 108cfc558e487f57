"""TLC and the reference engine decide temporal properties alike, under fairness of every sort."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from assay.checker.check import check
from assay.checker.options import SearchOptions
from assay.checker.verdict import Outcome
from assay.grammar.diagnostics import SpecError
from assay.grammar.load import load_text

from .random_behaviour import random_spec
from .tlc_behaviours import Question, ask

OPTIONS = SearchOptions(keep_going=True, check_deadlock=False)


def questions(wanted: int, first: int) -> list[Question]:
    """What the reference engine says of so many random specs, those left out whose automaton would be too large."""
    found: list[Question] = []
    seed = first
    while len(found) < wanted:
        loaded = load_text(random_spec(Random(seed), plain=True))
        seed += 1
        try:
            report = check(loaded.kernel, OPTIONS, loaded.sources)
        except SpecError:
            continue
        found += [Question(loaded.kernel, p.name, p.trace) for p in report.properties if p.kind == "temporal"]
        assert {p.outcome for p in report.properties} <= {Outcome.HOLDS, Outcome.VACUOUS, Outcome.VIOLATED}
    return found


def test_tlc_agrees_on_temporal_properties_of_random_specs(tmp_path: Path) -> None:
    asked = questions(30, first=0)
    answer = ask(asked, tmp_path)
    assert answer.is_complete, answer.error
    assert 8 <= sum(each.run is not None for each in asked) <= 24


def test_tlc_would_not_agree_with_the_opposite(tmp_path: Path) -> None:
    asked = questions(30, first=0)
    violated = next(each for each in asked if each.run is not None)
    answer = ask([Question(violated.kernel, violated.property, None)], tmp_path)
    assert "Temporal properties were violated" in answer.output


@pytest.mark.slow
@pytest.mark.parametrize("first", [1_000, 2_000, 3_000, 4_000, 5_000, 6_000])
def test_tlc_agrees_on_temporal_properties_of_three_hundred_random_specs(first: int, tmp_path: Path) -> None:
    answer = ask(questions(50, first), tmp_path)
    assert answer.is_complete, answer.error
