"""Proofs for any size say whether everything has a value: initial states, guards, updates and properties."""

from __future__ import annotations

from typing import Any

import pytest

from assay.checker.engines.reference_engine import check
from assay.checker.options import SearchOptions
from assay.checker.report import Outcome, Report
from assay.checker.symbolic.parametric.prove import prove_any
from assay.grammar.load import load_text

THREE = """
module three
param Node: set = {a, b} symmetric
enum Role: Idle, Busy(since: 0 .. 2), Done(by: Node)
record Box: n: 0 .. 1
state:
    low: set[0 .. 1] = {}
    table: map[0 .. 1, 0 .. 1, max 2] = {}
    boxes: map[Node, Box] = [x -> Box(n = 0)]
    of: map[Node, 0 .. 3, max 9] = {}
    role: map[Node, Role] = [x -> Idle]
    queue: seq[Node, max 1] = []
    last: Node? = none
    n: 0 .. 3 = 0
action see(p: Node, q: Node, r: Node):
    when p != q and q != r and p != r
    UPDATE
invariant small: n <= 3
"""
"""Three elements are told apart, of which the model has two: what has no value has none in larger models alone."""

LOST = [
    "boxes[p] := Box(n = 0)\n    boxes[q] := Box(n = 1)\n    boxes[if last == none then q else r] := Box(n = 0)",
    "when p in of or of[p] == 2",
    "low := {2}",
    "last := first(queue)",
    "for x in 0 .. 1:\n        table[x + 1] := 0",
    "n := 7",
    "n := 0 - 1",
    "table[2] := 0",
    "boxes[p].n := 2",
    "boxes[p].n := n + 2",
    "n := of[p]",
    "when of[p] == 2",
    "let x = of[p]",
    "pick x in {of[p]}",
    "n := min({x in 0 .. 3 if x > 3})",
    "n := if last != none then 1 else of[p]",
    "when exists x in Node: x == p and of[x] == 2",
    "last := queue[0]",
    "queue := drop(queue, n - 1)",
    "role[p] := Busy(n + 3)",
    "if p in of:\n        n := 1\n    else:\n        n := of[p]",
]
KEPT = [
    "n := 3",
    "when p in of and of[p] == 2",
    "when not (p in of) or of[p] == 2",
    "when p in of implies of[p] == 2",
    "when last is some(x)\n    last := x",
    "role[p] := Busy(2)",
    "boxes[p].n := 1\n    boxes[q].n := 0",
    "if p in of:\n        n := of[p]",
    "n := if p in of then of[p] else 0",
    "when forall x in keys(of): of[x] == 2",
    "for x in 0 .. 1:\n        table[x] := 0",
]


def some_slow(cases: list[str], everyday: int) -> list[Any]:
    """All cases, of which those after the first ones are slow tests."""
    return [*cases[:everyday], *(pytest.param(each, marks=pytest.mark.slow) for each in cases[everyday:])]


def result(report: Report, name: str = "defined") -> Outcome:
    return next(each.outcome for each in report.properties if each.name == name)


def larger(text: str) -> Report:
    return check(load_text(text, overrides={"Node": "3"}).kernel, SearchOptions(check_deadlock=False, max_states=2000))


def any_size(text: str, *names: str) -> Report:
    options = SearchOptions(properties=frozenset(names or {"small"}), timeout=60)
    return prove_any(load_text(text), ["Node"], options).report


@pytest.mark.slow
@pytest.mark.parametrize("update", LOST)
def test_what_has_no_value_in_a_larger_model_is_not_proved_to_have_one(update: str) -> None:
    text = THREE.replace("UPDATE", update)
    assert result(larger(text)) is Outcome.VIOLATED
    assert result(any_size(text)) is Outcome.UNKNOWN


@pytest.mark.parametrize("update", some_slow(KEPT, 3))
def test_what_is_protected_has_a_value_for_any_size(update: str) -> None:
    text = THREE.replace("UPDATE", update)
    assert result(larger(text)) is not Outcome.VIOLATED
    assert result(any_size(text)) in {Outcome.HOLDS, Outcome.UP_TO_BOUND}


@pytest.mark.slow
@pytest.mark.parametrize(
    "asks",
    [
        "invariant odd: forall p in Node: last == p or of[p] >= 0\n",
        "transition odd: forall p in Node: old(of[p]) == of[p]\n",
    ],
)
def test_a_property_without_a_value_is_told_though_it_may_hold(asks: str) -> None:
    text = THREE.replace("UPDATE", "n := 1")
    assert result(any_size(text + asks, "small")) in {Outcome.HOLDS, Outcome.UP_TO_BOUND}
    assert result(any_size(text + asks, "odd")) is Outcome.UNKNOWN


@pytest.mark.slow
@pytest.mark.everyday(1)
@pytest.mark.parametrize("init", ["n := min({x in 0 .. 3 if x > 3})", "n := 5", "n := 1\n    when 1 // (n - 1) == 2"])
def test_an_initial_state_without_a_value_is_not_proved_to_have_one(init: str) -> None:
    text = THREE.replace("UPDATE", "n := 1").replace("n: 0 .. 3 = 0", "n: 0 .. 3")
    assert result(any_size(f"{text}init:\n    {init}\n")) is Outcome.UNKNOWN


@pytest.mark.slow
def test_a_lemma_that_helps_is_used_and_shown() -> None:
    text = THREE.replace("UPDATE", "of[p] := 1\n    last := p").replace(
        "invariant small", "action again(p: Node):\n    when last == p\n    n := of[p]\ninvariant small"
    )
    assert result(any_size(text)) is Outcome.UNKNOWN
    text += "lemma known: forall p in Node: last == p implies p in of\n"
    proofs = prove_any(load_text(text), ["Node"], SearchOptions(properties=frozenset({"small"}), timeout=60))
    assert result(proofs.report) is Outcome.UP_TO_BOUND
    assert any("in of" in line for line in dict(proofs.certificates)["defined"].lines)
