"""TLC and the reference engine decide temporal properties alike, under fairness of every sort."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from assay.checker.engines.reference_engine import check
from assay.checker.options import SearchOptions
from assay.checker.report import Outcome
from assay.grammar import kernel as k
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.kernel.types import BOOL
from assay.grammar.load import load_text

from .random_behaviour import random_spec
from .tlc_behaviours import Question, ask

OPTIONS = SearchOptions(keep_going=True, check_deadlock=False)


def questions(wanted: int, first: int, *, nested: bool) -> list[Question]:
    """What the reference engine says of so many random specs, those left out whose automaton would be too large.

    Of ``nested`` properties every other one is asked by auxiliary variables alone, so that TLC sees no temporal formula but fairness.
    """
    found: list[Question] = []
    seed = first
    while len(found) < wanted:
        loaded = load_text(random_spec(Random(seed), plain=True, nested=nested))
        seed += 1
        try:
            report = check(loaded.kernel, OPTIONS, loaded.sources)
        except SpecError:
            continue
        foretell = nested and seed % 2 == 0
        found += [Question(loaded.kernel, p.name, p.trace, foretell) for p in report.properties if p.kind == "temporal"]
        assert {p.outcome for p in report.properties} <= {Outcome.HOLDS, Outcome.VACUOUS, Outcome.VIOLATED}
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("nested", "first"), [(False, 0), (True, 500)])
def test_tlc_agrees_on_temporal_properties_of_random_specs(nested: bool, first: int, tmp_path: Path) -> None:
    asked = questions(15, first, nested=nested)
    answer = ask(asked, tmp_path)
    assert answer.is_complete, answer.error
    assert 4 <= sum(each.run is not None for each in asked) <= 12


@pytest.mark.slow
def test_tlc_would_not_agree_with_the_opposite(tmp_path: Path) -> None:
    asked = questions(15, first=0, nested=False)
    violated = next(each for each in asked if each.run is not None)
    answer = ask([Question(violated.kernel, violated.property, None)], tmp_path)
    assert "Temporal properties were violated" in answer.output


@pytest.mark.slow
@pytest.mark.parametrize("what", ["that it holds", "that its negation is violated by the same run"])
def test_tlc_would_not_agree_with_the_opposite_of_what_is_foretold(what: str, tmp_path: Path) -> None:
    violated = next(each for each in questions(15, first=500, nested=True) if each.run is not None and each.foretell)
    kernel, run = violated.kernel, None
    if what != "that it holds":
        kernel, run = replace(kernel, properties=tuple(map(_negated, kernel.properties))), violated.run
    answer = ask([Question(kernel, violated.property, run, foretell=True)], tmp_path)
    assert "Temporal properties were violated" in answer.output


def _negated(node: k.Property) -> k.Property:
    return replace(
        node, conjuncts=tuple(replace(each, condition=k.Not(BOOL, each.condition)) for each in node.conjuncts)
    )


@pytest.mark.slow
@pytest.mark.parametrize("first", [1_000, 2_000, 3_000, 4_000, 5_000, 6_000])
def test_tlc_agrees_on_temporal_properties_of_many_random_specs(first: int, tmp_path: Path) -> None:
    answer = ask(questions(50, first, nested=first > 2_000), tmp_path)
    assert answer.is_complete, answer.error
