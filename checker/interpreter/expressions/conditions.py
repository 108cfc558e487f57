"""Booleans: logic from left to right, comparison, quantifiers, membership, pattern tests."""

from __future__ import annotations

from typing import Any, assert_never

from assay.checker.interpreter.expressions.cancellation import EVERY, check_cancelled
from assay.checker.interpreter.expressions.enumerate_set import searched
from assay.checker.interpreter.expressions.frame import EvaluationScope, Frame, Meaning
from assay.checker.interpreter.values.sort_occurrence import mentions
from assay.grammar import kernel as k
from assay.grammar.kernel.node_unions import Condition
from assay.grammar.kernel.types import AtomType, BagType


def condition(node: Condition, scope: EvaluationScope) -> Meaning:
    """The function that evaluates a condition."""
    match node:
        case k.Not(_, operand):
            value = scope.meaning(operand)
            return lambda frame: not value(frame)
        case k.Logic():
            return _logic(node, scope)
        case k.Equal(_, left, right, negated):
            a, b = scope.meaning(left), scope.meaning(right)
            return (lambda frame: a(frame) != b(frame)) if negated else (lambda frame: a(frame) == b(frame))
        case k.Compare():
            return _compare(node, scope)
        case k.Quantified():
            return _quantified(node, scope)
        case k.Member():
            return _member(node, scope)
        case k.Subset():
            return _subset(node, scope)
        case k.IsVariant(_, operand, variant):
            value = scope.meaning(operand)
            return lambda frame: value(frame).variant == variant
        case k.IsSome(_, operand):
            value = scope.meaning(operand)
            return lambda frame: value(frame) is not None
        case _:
            assert_never(node)


def _logic(node: k.Logic, scope: EvaluationScope) -> Meaning:
    parts = scope.meanings(node.parts)
    match node.op:
        case "and":
            return _until(parts, stop=False)
        case "or":
            return _until(parts, stop=True)
        case "implies":
            premise, conclusion = parts
            return lambda frame: conclusion(frame) if premise(frame) else True
        case _:
            assert_never(node.op)


def _until(parts: list[Meaning], *, stop: bool) -> Meaning:
    go_on = not stop

    def left_to_right(frame: Frame) -> bool:
        for part in parts:
            value: bool = part(frame)
            # `is`: conditions are real booleans, so there is no need to compare values.
            if value is stop:
                return stop
        return go_on

    return left_to_right


def _compare(node: k.Compare, scope: EvaluationScope) -> Meaning:
    a, b = scope.meaning(node.left), scope.meaning(node.right)
    if isinstance(node.left.type, AtomType):
        return _positions(node.op, a, b)
    match node.op:
        case "<":
            return lambda frame: a(frame) < b(frame)
        case "<=":
            return lambda frame: a(frame) <= b(frame)
        case ">":
            return lambda frame: a(frame) > b(frame)
        case ">=":
            return lambda frame: a(frame) >= b(frame)
        case _:
            assert_never(node.op)


def _positions(op: str, a: Meaning, b: Meaning) -> Meaning:
    def compare(frame: Frame) -> bool:
        left: int = a(frame).index
        right: int = b(frame).index
        return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[op]

    return compare


def _quantified(node: k.Quantified, scope: EvaluationScope) -> Meaning:
    elements, body, name = searched(node.domain, scope), scope.meaning(node.body), node.binder.name
    stop: bool = node.kind == "exists"
    go_on = not stop
    evaluated, nonempty = scope.evaluated, scope.nonempty
    # Symmetry permutes these elements, and which undefined one is met first must not depend on their order.
    strict = mentions(node.binder.type, scope.strict)
    looked_at = 0

    def quantified(frame: Frame) -> bool:
        nonlocal looked_at
        values = elements(frame)
        # Counted across calls: a small quantifier that is evaluated very often has to be interruptible, too.
        looked_at += len(values)
        if looked_at > EVERY:
            looked_at = 0
            check_cancelled()
        if evaluated is not None and nonempty is not None:
            # A quantifier that never had an element may make a property true for nothing, which coverage reports.
            evaluated.add(node)
            if values:
                nonempty.add(node)
        result = go_on
        for value in values:
            # Nothing is restored: binders have unique names.
            frame.locals[name] = value
            holds: bool = body(frame)
            if holds is stop:
                result = stop
                if not strict:
                    break
        return result

    return quantified


def _member(node: k.Member, scope: EvaluationScope) -> Meaning:
    item, contains = scope.meaning(node.item), _contains(node.collection, scope)
    if node.negated:
        return lambda frame: not contains(frame, item(frame))
    return lambda frame: contains(frame, item(frame))


def _contains(collection: k.Expr, scope: EvaluationScope) -> Any:
    match collection:
        case k.Interval(_, low, high):
            bottom, top = scope.meaning(low), scope.meaning(high)
            # Neither the range nor the subsets below are listed: they may be too many.
            return lambda frame, item: bottom(frame) <= item <= top(frame)
        case k.Subsets(_, operand):
            whole = scope.meaning(operand)
            return lambda frame, item: item <= whole(frame)
        case _:
            value = scope.meaning(collection)
            return lambda frame, item: item in value(frame)


def _subset(node: k.Subset, scope: EvaluationScope) -> Meaning:
    a, b, strict = scope.meaning(node.left), scope.meaning(node.right), node.strict
    if isinstance(node.left.type, BagType):
        return lambda frame: _bag_within(a(frame), b(frame), strict)
    return (lambda frame: a(frame) < b(frame)) if strict else (lambda frame: a(frame) <= b(frame))


def _bag_within(left: Any, right: Any, strict: bool) -> bool:
    within = all(n <= right.get(item, 0) for item, n in left.items())
    return within and not (strict and left == right)
