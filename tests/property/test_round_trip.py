"""parse ∘ print is the identity on random trees, and printing is idempotent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from tests.stages import rounds as few_or_many

from assay.grammar.formatting.format import format_expression, format_module
from assay.grammar.parsing.parse import parse, parse_expression
from assay.grammar.syntax import Expr, Module

from .syntax_strategy import expressions, modules

ROUNDS = few_or_many(20, 100)

PHASES = (Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink)
"""All but the explanation of a failure, which tries hundreds of other trees."""


class Unprinted:
    """A tree of which a report does not show the repr: with all its places that takes minutes to lay out. The messages
    of the checks have the text."""

    def __init__(self, tree: Any) -> None:
        self.tree = tree

    def __repr__(self) -> str:
        return "<a tree>"


@st.composite
def unprinted(draw: st.DrawFn, trees: SearchStrategy[Any]) -> Unprinted:
    """Such trees; of a strategy that maps others, a report would show the origin."""
    return Unprinted(draw(trees))


def holds(check: Callable[[Any], None], trees: SearchStrategy[Any], rounds: int) -> None:
    """Whether something is so of that many random trees."""
    known = [HealthCheck.too_slow]
    asked = settings(max_examples=rounds, deadline=None, suppress_health_check=known, phases=PHASES)
    asked(given(unprinted(trees))(lambda drawn: check(drawn.tree)))()


@pytest.mark.slow
def test_a_failure_is_reported_by_the_text_alone() -> None:
    def refused(module: Module) -> None:
        text = format_module(module)
        assert "state:" not in text, text

    with pytest.raises(AssertionError) as failure:
        holds(refused, modules, 100)
    assert failure.value.__notes__[0].count("<a tree>") == 1
    assert len(str(failure.value)) + len("".join(failure.value.__notes__)) < 2000


@ROUNDS
def test_parsing_a_printed_module_gives_the_module_back(rounds: int) -> None:
    holds(module_survives, modules, rounds)


def module_survives(module: Module) -> None:
    text = format_module(module)
    parsed = parse(text, "random.assay")
    assert parsed.diagnostics == (), text
    same = parsed.module == module  # compared outside of the assertion, which would describe the difference at length
    assert same, text


@ROUNDS
def test_formatting_twice_changes_nothing(rounds: int) -> None:
    holds(formatting_is_idempotent, modules, rounds)


def formatting_is_idempotent(module: Module) -> None:
    once = format_module(parse(format_module(module), "random.assay").module)
    assert format_module(parse(once, "random.assay").module) == once


@ROUNDS
def test_parsing_a_printed_expression_gives_the_expression_back(rounds: int) -> None:
    holds(expression_survives, expressions, rounds)


def expression_survives(expr: Expr) -> None:
    text = format_expression(expr)
    parsed = parse_expression(text, "random.assay")
    assert parsed.diagnostics == (), text
    same = parsed.expression == expr
    assert same, text
