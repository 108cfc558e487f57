"""The elements of a set or sequence, one by one, in canonical order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from assay.checker.interpreter.expressions.frame import EvaluationScope, Frame
from assay.checker.interpreter.values.domains import domain
from assay.checker.interpreter.values.undefined import ENUMERATION_LIMIT, too_large
from assay.checker.interpreter.values.value_order import sorter
from assay.grammar import kernel as k
from assay.grammar.kernel.types import SeqType, SetType

Listing = Callable[[Frame], Sequence[Any]]


def listing(expr: k.Expr, scope: EvaluationScope) -> Listing:
    """A function that lists the elements of the expression's value. Raises ``SpecError`` if there are too many."""
    match expr:
        case k.TypeDomain(_, of):
            known: list[tuple[Any, ...]] = []

            def listed(_: Frame) -> Sequence[Any]:
                if not known:
                    known.append(domain(of, expr.span))
                return known[0]

            return listed
        case k.Interval(_, low, high):
            bottom, top = scope.meaning(low), scope.meaning(high)
            return lambda frame: interval(bottom(frame), top(frame), expr)
        case _:
            return _values(expr, scope)


def interval(low: int, high: int, expr: k.Expr) -> range:
    """The integers from ``low`` to ``high``; raises ``SpecError`` if they are too many to list."""
    if high - low >= ENUMERATION_LIMIT:
        raise too_large(f"the interval {low} .. {high}", high - low + 1, expr.span)
    return range(low, high + 1)


def _values(expr: k.Expr, scope: EvaluationScope) -> Listing:
    value = scope.meaning(expr)
    match expr.type:
        case SeqType():
            return value
        case SetType(item):
            sort = sorter(item)
            return lambda frame: sort(value(frame))
        case other:
            raise AssertionError(f"a binder ranges over {other}")
