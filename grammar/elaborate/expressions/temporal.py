"""Expressions about other moments: ``old(e)``, ``new(e)``, temporal operators, and action atoms of formulas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from assay.grammar import kernel, syntax
from assay.grammar.elaborate.expressions.action_references import refer
from assay.grammar.elaborate.expressions.logic import condition
from assay.grammar.elaborate.scopes.context import Context
from assay.grammar.elaborate.scopes.erroneous import erroneous, failed
from assay.grammar.elaborate.scopes.narrowing import at_another_moment, state_dependent
from assay.grammar.elaborate.scopes.rewrite import uses, with_fresh_binders
from assay.grammar.elaborate.scopes.scope import ValueEntity
from assay.grammar.kernel.types import BOOL, Type


def in_another_state(cx: Context, elaborate: Callable[[Context], kernel.Expr]) -> kernel.Expr:
    """Elaborate something that is read in another state.

    Pattern variables keep their present values, so those that are used get a ``LetIn`` around the result. What is known
    to be present now need not be present then.
    """
    scope = at_another_moment(cx.scope)
    fixed: list[tuple[kernel.Local, kernel.Expr]] = []
    for name, entity in state_dependent(cx.scope).items():
        local = kernel.Local(entity.expr.type, cx.fresh(name), span=entity.span)
        fixed.append((local, entity.expr))
        scope = scope.bind(name, ValueEntity(local, entity.span))
    result = elaborate(cx.within(scope))
    for local, value in reversed(fixed):
        # A value that is not read is left out: around a temporal formula each of its values would be listed.
        if uses(result, local.name):
            result = kernel.LetIn(result.type, local, with_fresh_binders(value, cx.fresh), result, span=result.span)
    return result


def old(expr: syntax.Call, cx: Context, hint: Type | None) -> kernel.Expr:
    """``old(e)``."""
    if not cx.scope.permissions.old:
        message = "`old` is known only in `transition` properties and in the `then` clauses of traces"
        return cx.forbidden("E111", expr.span, message)
    if len(expr.arguments) != 1 or expr.arguments[0].name is not None:
        return cx.error("E205", expr.span, f"old(e) takes one expression, {len(expr.arguments)} given")

    def before(inner: Context) -> kernel.Expr:
        operand = inner.infer(expr.arguments[0].value, hint)
        return operand if failed(operand) else kernel.Old(operand.type, operand, span=expr.span)

    # A step has one state before it, so no `old` stands inside another one.
    return in_another_state(cx.within(cx.scope.allowing(old=False, new=None)).timeless(), before)


def new(expr: syntax.Call, cx: Context, hint: Type | None) -> kernel.Expr:
    """``new(e)``."""
    # What `new` means is said by the place: in a `transition` nothing is to be done, in an action its lines are put in.
    after = cx.scope.permissions.new
    if after is None:
        message = (
            "`new` is known only in the updates of an action, in `transition` properties and in the `then` clauses of "
            "traces"
        )
        advice = "guards come first: bind with `let` what is to be assigned, ask that, and assign it"
        return cx.forbidden("E111", expr.span, message, advice)
    if len(expr.arguments) != 1 or expr.arguments[0].name is not None:
        return cx.error("E205", expr.span, f"new(e) takes one expression, {len(expr.arguments)} given")

    def later(inner: Context) -> kernel.Expr:
        operand = inner.infer(expr.arguments[0].value, hint)
        return operand if failed(operand) else after(operand, cx, expr.span)

    return in_another_state(cx.within(cx.scope.allowing(old=False, new=None)).timeless(), later)


def temporal(
    op: Literal["always", "eventually", "until", "leads_to"],
    expr: syntax.Expr,
    operands: tuple[syntax.Expr, ...],
    cx: Context,
) -> kernel.Expr:
    """A temporal operator."""
    if not cx.scope.permissions.temporal:
        message = (
            f"`{op}` may stand only in a `property`, under logical operators, quantifiers and other temporal operators"
        )
        return cx.forbidden("E114", expr.span, message)

    def later(inner: Context) -> kernel.Expr:
        parts = tuple(condition(operand, inner).expr for operand in operands)
        return erroneous(expr.span) if failed(*parts) else kernel.Temporal(BOOL, op, parts, span=expr.span)

    return in_another_state(cx, later)


def action_atom(op: Literal["enabled", "occurs"], expr: syntax.Call, cx: Context) -> kernel.Expr:
    """``enabled(a(…))`` or ``occurs(a(…))``."""
    permitted = cx.scope.permissions
    if not permitted.temporal and not (op == "enabled" and permitted.enabled):
        message = f"`{op}` may stand only in a `property`, under logical and temporal operators and quantifiers"
        advice = []
        if op == "enabled":
            message = f"{message}, in conditions on states, in `show`, and where an action updates ghosts"
            advice = ["in a guard, ask what the other action waits for: a `def` that both guards use"]
        return cx.forbidden("E114", expr.span, message, *advice)
    if len(expr.arguments) != 1 or expr.arguments[0].name is not None:
        return cx.error("E205", expr.span, f"{op}(a) takes one action, {len(expr.arguments)} given")
    # Its arguments are values of this moment.
    action = refer(expr.arguments[0].value, cx.timeless())
    if action is None:
        return erroneous(expr.span)
    return kernel.ActionAtom(BOOL, op, action.entity.name, action.arguments, span=expr.span)
