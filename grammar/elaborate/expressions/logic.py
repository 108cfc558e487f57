"""Conditions: boolean structure, and what each operand establishes for what follows it.

A condition that holds may establish a match or a presence. ``when_true`` is the scope in which its pattern variables
are visible and its tested optional values have their plain type. It reaches the right side of ``and`` and ``implies``
and the branches of ``if``. What a false condition establishes reaches the right side of ``or`` and the ``else`` branch:
``x == none or x.f``. A true ``or`` establishes nothing, and a pattern variable never leaves a ``not``.
"""

from __future__ import annotations

from typing import Literal

from assay.grammar import kernel, syntax
from assay.grammar.elaborate.expressions.blocks import plain
from assay.grammar.elaborate.patterns.fitting import match_pattern
from assay.grammar.elaborate.scopes.context import Context
from assay.grammar.elaborate.scopes.erroneous import erroneous, failed
from assay.grammar.elaborate.scopes.narrowing import known_present, narrowings_only, widened
from assay.grammar.elaborate.scopes.scope import Scope
from assay.grammar.elaborate.types.coercion import convert
from assay.grammar.kernel.types import BOOL, OptionType
from assay.grammar.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class ScopedCondition:
    """A boolean expression with the scopes of what follows it, where it holds and where it does not."""

    expr: kernel.Expr
    when_true: Scope
    when_false: Scope


def condition(expr: syntax.Expr, cx: Context) -> ScopedCondition:
    """Elaborate a boolean expression."""
    match expr:
        case syntax.Junction("and", parts):
            return _conjunction(expr, parts, cx)
        case syntax.Junction("or", parts):
            return _disjunction(expr, parts, cx)
        case syntax.Binary("implies", left, right):
            first = condition(left, cx)
            # The right side is looked at only where the left one holds.
            second = condition(right, cx.within(first.when_true))
            return ScopedCondition(logic("implies", expr, first.expr, second.expr), cx.scope, cx.scope)
        case syntax.Unary("not", operand):
            inner = condition(operand, cx)
            # `not` exchanges the two, and what a pattern binds is visible in neither.
            true, false = (narrowings_only(scope, cx.scope) for scope in (inner.when_false, inner.when_true))
            return ScopedCondition(_negated(inner.expr, expr), true, false)
        case syntax.Is():
            return _match(expr, cx)
        case syntax.BlockValue() | syntax.BlockIf() | syntax.BlockQuantified():
            return condition(plain(expr), cx)
        case _:
            value = convert(cx.infer(expr, BOOL), BOOL, cx.diagnostics)
            return _comparison_with_none(value, cx.scope)


def _conjunction(expr: syntax.Expr, parts: tuple[syntax.Expr, ...], cx: Context) -> ScopedCondition:
    """Each operand sees what those before it establish."""
    found, scope = [], cx.scope
    for part in parts:
        each = condition(part, cx.within(scope))
        found.append(each.expr)
        scope = each.when_true
    return ScopedCondition(logic("and", expr, *found), scope, cx.scope)


def _disjunction(expr: syntax.Expr, parts: tuple[syntax.Expr, ...], cx: Context) -> ScopedCondition:
    """Each operand is evaluated only where those before it are false, and sees what that establishes."""
    found, scope = [], cx.scope
    for part in parts:
        each = condition(part, cx.within(scope))
        found.append(each.expr)
        scope = each.when_false
    return ScopedCondition(logic("or", expr, *found), cx.scope, scope)


def logic(op: Literal["and", "or", "implies"], place: syntax.Expr, *parts: kernel.Expr) -> kernel.Expr:
    """The connective; nested ``and``s and ``or``s of one kind are flattened."""
    if failed(*parts):
        return erroneous(place.span)
    if op != "implies":
        parts = tuple(inner for part in parts for inner in _flat(op, part))
    return kernel.Logic(BOOL, op, parts, span=place.span)


def _flat(op: str, part: kernel.Expr) -> tuple[kernel.Expr, ...]:
    return part.parts if isinstance(part, kernel.Logic) and part.op == op else (part,)


def _negated(inner: kernel.Expr, place: syntax.Expr) -> kernel.Expr:
    return inner if failed(inner) else kernel.Not(BOOL, inner, span=place.span)


def _match(expr: syntax.Is, cx: Context) -> ScopedCondition:
    match = match_pattern(expr, cx.timeless())
    true, false = (restored(scope, cx.scope) for scope in (match.when_true, match.when_false))
    if expr.negated:
        return ScopedCondition(_negated(match.expr, expr), false, narrowings_only(true, cx.scope))
    return ScopedCondition(match.expr, true, false)


def restored(scope: Scope, outer: Scope) -> Scope:
    """The scope with the permissions of its surroundings."""
    return scope.allowing(temporal=outer.permissions.temporal)


def _comparison_with_none(value: kernel.Expr, scope: Scope) -> ScopedCondition:
    """After ``x != none``, and where ``x == none`` is false, x is present."""
    if not isinstance(value, kernel.Equal) or failed(value.left, value.right):
        return ScopedCondition(value, scope, scope)
    optional = value.left if _is_none(value.right) else value.right if _is_none(value.left) else None
    if optional is None:
        return ScopedCondition(value, scope, scope)
    # If it is known to be present already, its plain value was read. But the optional one is what is looked up.
    known = known_present(widened(optional), scope)
    return ScopedCondition(value, known, scope) if value.negated else ScopedCondition(value, scope, known)


def _is_none(expr: kernel.Expr) -> bool:
    return isinstance(expr, kernel.Const) and isinstance(expr.type, OptionType) and expr.value is None
