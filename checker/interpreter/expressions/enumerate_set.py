"""The elements of a set or sequence, one by one, in canonical order."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain, combinations
from typing import Any, TypeVar

from assay.checker.interpreter.expressions.cancellation import EVERY, check_cancelled
from assay.checker.interpreter.expressions.frame import EvaluationScope, Frame
from assay.checker.interpreter.values.domains import cardinality, domain, number_of_choices
from assay.checker.interpreter.values.undefined import ENUMERATION_LIMIT, integer_text, too_large
from assay.checker.interpreter.values.value_order import sorter
from assay.grammar import kernel as k
from assay.grammar.kernel.types import BagType, RangeType, SeqType, SetType

T = TypeVar("T")
Collected = TypeVar("Collected", bound=Collection[Any])

Listing = Callable[[Frame], Sequence[Any]]


def listing(expr: k.Expr, scope: EvaluationScope) -> Listing:
    """A function that lists the elements of the expression's value. Raises ``SpecError`` if there are too many."""
    match expr:
        case k.TypeDomain(_, of):
            known: list[tuple[Any, ...]] = []

            # On first use, not at once: a domain that is too large raises, and a guard before it may protect it.
            def listed(_: Frame) -> Sequence[Any]:
                if not known:
                    known.append(domain(of, expr.span))
                return known[0]

            return listed
        case k.Interval(_, low, high):
            bottom, top = scope.meaning(low), scope.meaning(high)
            return lambda frame: interval(bottom(frame), top(frame), expr)
        case k.Subsets(_, operand):
            whole = listing(operand, scope)
            return lambda frame: AllSubsets(few_enough(whole(frame), expr))
        case _:
            return _values(expr, scope)


def few_enough(elements: Collected, expr: k.Subsets) -> Collected:
    """The elements of a set; raises ``SpecError`` if its subsets are too many to list."""
    # Before any subset is made: 64 elements would fill all memory.
    if 1 << len(elements) > ENUMERATION_LIMIT:
        raise too_large(f"the set of subsets of {len(elements)} elements", 1 << len(elements), expr.span)
    return elements


class AllSubsets(Sequence[frozenset[Any]]):
    """The subsets of a set in canonical order, each made when it is asked for. Those with the fewest elements come
    first. Then their elements decide, which are in canonical order. With a ``capacity`` none has more elements.
    """

    __slots__ = ("elements", "most")

    def __init__(self, elements: Sequence[Any], capacity: int | None = None) -> None:
        self.elements = elements
        self.most = len(elements) if capacity is None else min(capacity, len(elements))

    def __len__(self) -> int:
        size = number_of_choices(len(self.elements), self.most)
        # `len` raises OverflowError beyond this.
        return min(sys.maxsize, size)

    def __getitem__(self, place: Any) -> Any:
        # `Sequence` asks for this method. It is slow, and for tests and short sets only.
        return list(self)[place]

    def __iter__(self) -> Iterator[frozenset[Any]]:
        sizes = range(self.most + 1)
        return heeded(map(frozenset, chain.from_iterable(combinations(self.elements, size) for size in sizes)))


class AllIntegers:
    """The integers from one to another, each made when it is asked for."""

    __slots__ = ("values",)

    def __init__(self, low: int, high: int) -> None:
        self.values = range(low, high + 1)

    def __len__(self) -> int:
        return min(sys.maxsize, max(0, self.values.stop - self.values.start))

    def __iter__(self) -> Iterator[int]:
        return heeded(iter(self.values))


def heeded(values: Iterator[T]) -> Iterator[T]:
    """The values; whoever goes through them can be cancelled."""
    for number, value in enumerate(values, 1):
        if number % EVERY == 0:
            check_cancelled()
        yield value


def gone_through(expr: k.Expr, scope: EvaluationScope) -> Callable[[Frame], Iterable[Any]]:
    """As ``listing``; whoever goes through many elements, in one evaluation or in several, can be cancelled."""
    elements, looked_at = listing(expr, scope), 0

    def listed(frame: Frame) -> Iterable[Any]:
        nonlocal looked_at
        values = elements(frame)
        looked_at += len(values)
        if looked_at <= EVERY:
            return values
        looked_at = 0
        check_cancelled()
        return heeded(iter(values)) if len(values) > EVERY else values

    return listed


Searched = Sequence[Any] | AllIntegers


def searched(expr: k.Expr, scope: EvaluationScope) -> Callable[[Frame], Searched]:
    """A function that gives the elements for a search that may end early: large domains are not listed before it."""
    match expr:
        # No limit here: a search may end at the first of very many.
        case k.Subsets(_, operand):
            whole = listing(operand, scope)
            return lambda frame: AllSubsets(whole(frame))
        case k.TypeDomain(_, SetType(item, capacity)) if cardinality(expr.of) > ENUMERATION_LIMIT:
            members = listing(k.TypeDomain(SetType(item), item, span=expr.span), scope)
            return lambda frame: AllSubsets(members(frame), capacity)
        case k.TypeDomain(_, RangeType(low, high)) if high - low >= ENUMERATION_LIMIT:
            integers = AllIntegers(low, high)
            return lambda _: integers
        case k.Interval(_, low_end, high_end):
            bottom, top = scope.meaning(low_end), scope.meaning(high_end)
            return lambda frame: _integers(bottom(frame), top(frame))
        case _:
            return listing(expr, scope)


def may_be_large(expr: k.Expr) -> bool:
    """Whether a domain may have too many elements to list."""
    match expr:
        case k.TypeDomain(_, of):
            return cardinality(of) > ENUMERATION_LIMIT
        case k.Interval(SetType(RangeType(low, high))):
            return high - low >= ENUMERATION_LIMIT
        case _:
            return isinstance(expr, k.Subsets)


def _integers(low: int, high: int) -> Searched:
    # A plain range is faster, but nobody could interrupt a walk through it.
    return range(low, high + 1) if high - low < EVERY else AllIntegers(low, high)


def interval(low: int, high: int, expr: k.Expr) -> range:
    """The integers from ``low`` to ``high``; raises ``SpecError`` if they are too many to list."""
    if high - low >= ENUMERATION_LIMIT:
        raise too_large(f"the interval {integer_text(low)} .. {integer_text(high)}", high - low + 1, expr.span)
    return range(low, high + 1)


def _values(expr: k.Expr, scope: EvaluationScope) -> Listing:
    value = scope.meaning(expr)
    match expr.type:
        # A sequence is gone through in its own order, and with all its repetitions.
        case SeqType():
            return value
        case SetType(item) | BagType(item):
            # A set of Python has no order of its own; by this one, every run and every engine takes the same.
            sort = sorter(item)
            return lambda frame: sort(value(frame))
        case other:
            raise AssertionError(f"a binder ranges over {other}")
