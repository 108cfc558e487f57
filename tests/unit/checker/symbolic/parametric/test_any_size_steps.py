"""Proofs for any size lose no step: a condition that holds in the language holds in the second encoding, whatever ranges meet in it."""

from __future__ import annotations

import pytest

from assay.checker.engines.reference_engine import check
from assay.checker.options import SearchOptions
from assay.checker.report import Outcome, Report
from assay.checker.symbolic.parametric.prove import prove_any
from assay.grammar.load import load_text

THREE = """
module three
param Node: set = {a, b} symmetric
size param Most: int = 2
record Box: inside: set[0 .. 1]
type Few = set[0 .. 2, max 1]
type Some = set[0 .. 2, max Most]
type Word = seq[0 .. 1, max Most]
type Table = map[0 .. 2, bool, max Most]
state:
    low: set[0 .. 1] = {}
    high: set[0 .. 3] = {3}
    table: map[0 .. 1, 0 .. 1, max 2] = {}
    wide: map[0 .. 3, 0 .. 9, max 2] = {3 -> 7}
    sets: map[0 .. 1, set[0 .. 1]] = [n -> {}]
    maybe: set[0 .. 1]? = {}
    box: Box = Box(inside = {})
    three: bool = false
action see(n: Node, p: Node, o: Node):
    when n != p and p != o and n != o
    when low == {} and high == {3} and table == {} and wide == {3 -> 7} and sets[0] == {} and maybe == {}
    when CONDITION
    three := true
invariant two: not three
"""
"""Three elements are told apart, of which the model has two: what is violated is violated for larger sets alone."""


def two(report: Report) -> Outcome:
    return next(each.outcome for each in report.properties if each.name == "two")


@pytest.mark.everyday(1)
@pytest.mark.parametrize(
    "condition",
    [
        "low != high",
        pytest.param("low < high", marks=pytest.mark.slow),
        pytest.param("low != {3}", marks=pytest.mark.slow),
        "maybe != high",
        pytest.param("box.inside == {} and box.inside != high", marks=pytest.mark.slow),
        "table != wide",
        pytest.param("keys(table) != keys(wide)", marks=pytest.mark.slow),
        pytest.param("values(table) != values(wide)", marks=pytest.mark.slow),
        "not (high in values(sets))",
        "not (high in Few)",
        pytest.param("keys(table with {7 -> 1}) != {}", marks=pytest.mark.slow),
        pytest.param("exists s in Some: count(s) == 3", marks=pytest.mark.slow),
        "exists s in Word: count(s) == 3",
        pytest.param("exists s in Table: count(s) == 3", marks=pytest.mark.slow),
    ],
)
def test_a_step_that_larger_sets_have_is_not_lost(condition: str) -> None:
    text = THREE.replace("CONDITION", condition)
    larger = load_text(text, overrides={"Node": "3", "Most": "3"}).kernel
    assert two(check(larger, SearchOptions(check_deadlock=False))) is Outcome.VIOLATED
    options = SearchOptions(properties=frozenset({"two"}), timeout=60)
    assert two(prove_any(load_text(text), ["Node"], options).report) is Outcome.UNKNOWN
