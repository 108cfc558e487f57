"""The report as a whole: which properties it answers, in which order, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from assay.checker.engines.reference_engine import check
from assay.checker.report import ExitCode, Outcome
from assay.grammar import kernel as k
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.kernel.types import BOOL

Run = Callable[..., Any]
Load = Callable[..., Any]

MODEL = """
state:
    x: bool = false
action flip:
    x := not x
reachable second: x
invariant first: true
property third: always (x implies eventually not x)
scenario fourth:
    flip
"""


def names(answer: Any) -> list[str]:
    return [each.name for each in answer.report.properties]


def test_answers_come_in_the_order_of_declaration_after_the_built_in_ones(run: Run) -> None:
    assert names(run(MODEL)) == ["defined", "deadlock", "second", "first", "third", "fourth"]


def test_a_temporal_property_is_decided_beside_the_others(run: Run) -> None:
    answer = run(MODEL)
    assert answer.outcome("third") is Outcome.VIOLATED
    assert answer.outcome("first") is Outcome.HOLDS
    assert answer.report.exit_code is ExitCode.VIOLATED


def test_selected_properties_alone_are_answered_with_definedness(run: Run) -> None:
    answer = run(MODEL, properties=frozenset({"first", "fourth"}))
    assert names(answer) == ["defined", "first", "fourth"]
    assert answer.report.exit_code is ExitCode.OK


def test_deadlock_can_be_left_out(run: Run) -> None:
    answer = run("state:\n    x: bool = false\naction a:\n    when x\n    x := x\n", check_deadlock=False)
    assert names(answer) == ["defined"]
    assert answer.report.exit_code is ExitCode.OK


def test_an_unknown_property_is_refused_with_a_suggestion(run: Run) -> None:
    with pytest.raises(SpecError) as error:
        run(MODEL, properties=frozenset({"frist"}))
    (diagnostic,) = error.value.diagnostics
    assert (diagnostic.code, diagnostic.notes[0].message) == ("E804", "did you mean `first`?")


TOO_LARGE = [
    "action a(s in subsets(1 .. 40)):\n    x := x\n",
    "action a(n in 1 .. 100000, m in 1 .. 100000):\n    x := x\n",
    "action a:\n    pick s in subsets(1 .. 40)\n    x := x\n",
    "action a:\n    x := x\ninvariant i: count(subsets(1 .. 40)) > 0\n",
]


@pytest.mark.parametrize("text", TOO_LARGE)
def test_a_domain_too_large_to_list_is_refused_at_its_place(run: Run, text: str) -> None:
    with pytest.raises(SpecError) as error:
        run(f"state:\n    x: bool = false\n{text}")
    (diagnostic,) = error.value.diagnostics
    assert diagnostic.code == "E801"
    assert diagnostic.span.line >= 3


def nested(kernel: k.Kernel, depth: int) -> k.Kernel:
    condition: k.Expr = k.true()
    for _ in range(depth):
        condition = k.Not(BOOL, condition)
    conjunct = k.Conjunct("deep", condition)
    return replace(kernel, properties=(k.Property("deep", "invariant", (conjunct,), None),), scenarios=())


def test_a_deeply_nested_expression_is_evaluated(load: Load) -> None:
    report = check(nested(load(MODEL).kernel, 2_000))
    assert report.properties[-1].outcome is Outcome.HOLDS


@pytest.mark.slow
def test_an_expression_too_deep_to_evaluate_is_a_diagnostic(load: Load) -> None:
    with pytest.raises(SpecError) as error:
        check(nested(load(MODEL).kernel, 30_000))
    assert [each.code for each in error.value.diagnostics] == ["E802"]
