"""parse ∘ print is the identity on random trees, and printing is idempotent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import SearchStrategy
from tests.stages import rounds as few_or_many

from assay.grammar.formatting.format import format_expression, format_module
from assay.grammar.parsing.parse import parse, parse_expression
from assay.grammar.syntax import Expr, Module

from .syntax_strategy import expressions, modules

ROUNDS = few_or_many(20, 100)


def holds(check: Callable[[Any], None], trees: SearchStrategy[Any], rounds: int) -> None:
    """Whether something is so of that many random trees."""
    asked = settings(max_examples=rounds, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    asked(given(trees)(check))()


@ROUNDS
def test_parsing_a_printed_module_gives_the_module_back(rounds: int) -> None:
    holds(module_survives, modules, rounds)


def module_survives(module: Module) -> None:
    text = format_module(module)
    parsed = parse(text, "random.assay")
    assert parsed.diagnostics == (), text
    assert parsed.module == module, text


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
    assert parsed.expression == expr, text
