"""Closed expressions have their values before anything runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from assay.checker.interpreter.expressions.dispatch import scope_of
from assay.checker.interpreter.expressions.frame import Frame
from assay.grammar.elaborate.types.constant_folding import constant, folded

if TYPE_CHECKING:
    from tests.unit.grammar.elaborate.conftest import World


ROWS = [
    ("7 // 2", 3),
    ("-7 // 2", -4),
    ("-7 % 3", 2),
    ("2 * (3 + 4) - 1", 13),
    ("if Fence then 1 else 2", 1),
    ("let q = N: q * q", 16),
    ("count(Node)", 3),
    ("count({n1, n2, n1})", 2),
    ("max({1, 5, 3}) + min(2 .. 4) + sum({1, 2})", 10),
    ("n1 in Node and n1 < n2 and n1 != n3", True),
    ("forall a, b in Node: a == b implies b == a", True),
    ("exists a in Node: a > n3", False),
    ("{x in Digit if x > 7} == {8, 9}", True),
    ("{x + 1 for x in 1 .. 3 if x != 2} == {2, 4}", True),
    ("{n1} < Node and not (Node <= {n1})", True),
    ("Node <= Node and not (Node < Node)", True),
    ("count(subsets(Node))", 8),
    ("{1, 2} + {3} - {1} == {2, 3} & (0 .. 9)", True),
    ("Active(2) is Active(e) and e == 2", True),
    ("Active(2) is Off", False),
    ("some(3) is some(v) and v == 3", True),
    ("Vote(n1, 2, none).epoch", 2),
    ("Vote(n1, 2, none).lead is none", True),
    ("Fence or 1 // 0 == 1", True),
    ("(not Fence) and 1 // 0 == 1", False),
    ("(not Fence) implies 1 // 0 == 1", True),
    ("exists x in {1, 8}: 1 // (8 - x) == 0", True),
    ("twice(N)", 8),
    ("forall v in {some(n1), none}: v == none or v is some", True),
    ("count({b in {true, false} if b})", 1),
    ("(if Fence then {1} else {}) == {1}", True),
]


@pytest.mark.parametrize(("text", "value"), ROWS)
def test_a_closed_expression_has_its_value(here: World, text: str, value: object) -> None:
    expr = here.allowing(size=True).expression(text)
    assert here.messages == ""
    assert constant(expr) == value


@pytest.mark.parametrize(("text", "value"), ROWS)
def test_the_reference_evaluator_finds_the_same_value(here: World, text: str, value: object) -> None:
    expr = here.expression(text)
    assert scope_of(()).meaning(expr)(Frame(())) == value


@pytest.mark.parametrize(
    "text",
    [
        "digit",
        "1 // 0",
        "1 % 0",
        "exists x in {1, 8}: 1 // (x - 1) == 0",
        "min({x in Digit if false})",
        "count(log)",
        "Active(9) == Off",
        "1 in {2 // 0}",
    ],
)
def test_what_reads_state_or_is_undefined_is_not_constant(here: World, text: str) -> None:
    assert constant(here.expression(text)) is None
    assert here.messages == ""


def test_none_is_a_constant_that_only_folding_tells_apart(here: World) -> None:
    expr = here.expression("none", "Node?")
    found = folded(expr)
    assert found is not None
    assert found.value is None
    assert folded(here.expression("leader")) is None


def test_every_value_of_a_type_can_be_gone_through(here: World) -> None:
    found = constant(here.expression("{v.epoch for v in {Vote(n1, 1, none), Vote(n1, 2, n2)}}"))
    assert found == frozenset({1, 2})


def test_a_large_range_is_counted_without_its_elements(here: World) -> None:
    assert constant(here.expression("count(Huge)")) == 10**9 + 1
