"""parse ∘ print is the identity on random trees, and printing is idempotent."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from assay.grammar.formatting.format import format_expression, format_module
from assay.grammar.parsing.parse import parse, parse_expression
from assay.grammar.syntax import Expr, Module

from .syntax_strategy import expressions, modules

SETTINGS = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@SETTINGS
@given(modules)
def test_parsing_a_printed_module_gives_the_module_back(module: Module) -> None:
    text = format_module(module)
    parsed = parse(text, "random.assay")
    assert parsed.diagnostics == (), text
    assert parsed.module == module, text


@SETTINGS
@given(modules)
def test_formatting_twice_changes_nothing(module: Module) -> None:
    once = format_module(parse(format_module(module), "random.assay").module)
    assert format_module(parse(once, "random.assay").module) == once


@SETTINGS
@given(expressions)
def test_parsing_a_printed_expression_gives_the_expression_back(expr: Expr) -> None:
    text = format_expression(expr)
    parsed = parse_expression(text, "random.assay")
    assert parsed.diagnostics == (), text
    assert parsed.expression == expr, text
