"""Bounded search finds the fair runs that violate temporal properties: those of the corpus, and what the state graph says of random specs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from random import Random

import pytest
from tests.stages import everyday, rounds

from assay.checker.engines.reference_engine import check as reference
from assay.checker.options import SearchOptions
from assay.checker.report import Outcome, PropertyResult, Report
from assay.checker.symbolic.bounded import bmc
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.load import load_spec, load_text

from .random_behaviour import random_spec
from .test_liveness_corpus import FOLDER, SPECS, expected

LEVELS = 12
EXPLICIT = SearchOptions(keep_going=True, check_deadlock=False, threads=1)
BOUNDED = SearchOptions(keep_going=True, check_deadlock=False, max_depth=LEVELS)


def temporal(report: Report) -> dict[str, PropertyResult]:
    return {each.name: each for each in report.properties if each.kind == "temporal"}


@pytest.mark.parametrize("name", everyday(SPECS, 9))
def test_what_is_violated_is_found_and_nothing_else(name: str) -> None:
    found = temporal(bmc.check(load_spec(FOLDER / f"{name}.assay").kernel, BOUNDED))
    assert {each for each, result in found.items() if result.outcome is Outcome.VIOLATED} == {
        each for each, holds in expected(name).items() if not holds
    }
    assert {result.outcome for result in found.values()} <= {Outcome.VIOLATED, Outcome.UNKNOWN}


def agree(seeds: Iterable[int]) -> Counter[str]:
    """Assert that both engines agree on random specs; how often which of them found a violation."""
    seen: Counter[str] = Counter()
    for seed in seeds:
        text = random_spec(Random(seed))
        kernel = load_text(text).kernel
        try:
            on_graph = temporal(reference(kernel, EXPLICIT))
        except SpecError:  # the automaton of a property would be too large
            continue
        found = temporal(bmc.check(kernel, BOUNDED))
        for name, each in on_graph.items():
            seen[compared(each, found[name], f"seed {seed}, {name}\n{text}")] += 1
    return seen


def compared(on_graph: PropertyResult, found: PropertyResult, where: str) -> str:
    """What both say of a property; a run that is longer than the search went is said to be one."""
    if found.outcome is Outcome.VIOLATED:
        # On the graph nothing is decided where a property has no value somewhere, though a run may violate it elsewhere.
        assert on_graph.outcome is Outcome.VIOLATED or "no value" in (on_graph.reason or ""), where
        return "both" if on_graph.outcome is Outcome.VIOLATED else "no value"
    assert found.outcome is Outcome.UNKNOWN, where
    if on_graph.outcome is not Outcome.VIOLATED:
        return "neither"
    assert on_graph.trace is not None
    assert "no value" in (found.reason or "") or len(on_graph.trace) > LEVELS, where
    return "too long"


@pytest.mark.slow
@rounds(4, 20)
def test_both_engines_agree_on_random_specs(rounds: int) -> None:
    seen = agree(range(rounds))
    assert min(seen["both"], seen["neither"]) >= rounds // 2


@pytest.mark.slow
def test_both_engines_agree_on_many_random_specs() -> None:
    seen = agree(range(5_000, 5_120))
    assert seen["too long"] <= seen["both"] // 10
