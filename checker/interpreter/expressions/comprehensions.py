"""Comprehensions, unions and other expressions that make collections of others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, combinations
from typing import Any, assert_never

from assay.checker.interpreter.expressions.enumerate_set import few_enough, gone_through, listing
from assay.checker.interpreter.expressions.frame import EvaluationScope, Frame, Meaning
from assay.checker.interpreter.values.undefined import Undefined, integer_text
from assay.grammar import kernel as k
from assay.grammar.kernel.node_unions import Collecting
from assay.grammar.kernel.types import BagType, SeqType
from assay.grammar.values import FrozenMap, Value


def collecting(node: Collecting, scope: EvaluationScope) -> Meaning:
    """The function that evaluates the collection."""
    match node:
        case k.Filter():
            return _filter(node, scope)
        case k.Image():
            return _image(node, scope)
        case k.Tabulate():
            return _tabulate(node, scope)
        case k.Interval():
            elements = listing(node, scope)
            return lambda frame: frozenset(elements(frame))
        case k.Combine():
            return _combine(node, scope)
        case k.Subsets():
            whole = scope.meaning(node.operand)
            return lambda frame: _subsets(whole(frame), node)
        case k.Keys(_, operand) | k.Elements(_, operand):
            value = scope.meaning(operand)
            return lambda frame: frozenset(value(frame))
        case k.Values(_, operand):
            value = scope.meaning(operand)
            return lambda frame: frozenset(value(frame).values())
        case k.Slice():
            return _slice(node, scope)
        case _:
            assert_never(node)


def _filter(node: k.Filter, scope: EvaluationScope) -> Meaning:
    elements, test, name = gone_through(node.domain, scope), scope.meaning(node.condition), node.binder.name

    def kept(frame: Frame) -> list[Any]:
        result = []
        for value in elements(frame):
            frame.locals[name] = value
            if test(frame):
                result.append(value)
        return result

    if isinstance(node.type, BagType):
        of = scope.meaning(node.domain)
        return lambda frame: _bag_of(kept(frame), of(frame))
    make = _maker(node)
    return lambda frame: make(kept(frame))


def _bag_of(items: list[Any], bag: FrozenMap) -> FrozenMap:
    return FrozenMap({item: bag[item] for item in items})


def _maker(node: k.Filter | k.Image) -> Callable[[list[Any]], Any]:
    return tuple if isinstance(node.type, SeqType) else frozenset


def _image(node: k.Image, scope: EvaluationScope) -> Meaning:
    ranges = [(generator.binder.name, gone_through(generator.domain, scope)) for generator in node.generators]
    element = scope.meaning(node.element)
    test = None if node.condition is None else scope.meaning(node.condition)

    def images(frame: Frame) -> list[Any]:
        return [element(frame) for _ in _bindings(frame, ranges) if test is None or test(frame)]

    make = _maker(node)
    return lambda frame: make(images(frame))


def _bindings(frame: Frame, ranges: list[tuple[str, Callable[[Frame], Iterable[Any]]]]) -> Iterator[None]:
    if not ranges:
        yield
        return
    (name, elements), rest = ranges[0], ranges[1:]
    for value in elements(frame):
        frame.locals[name] = value
        yield from _bindings(frame, rest)


def _tabulate(node: k.Tabulate, scope: EvaluationScope) -> Meaning:
    keys, value, name = gone_through(node.domain, scope), scope.meaning(node.value), node.binder.name

    def tabulate(frame: Frame) -> FrozenMap:
        table = {}
        for key in keys(frame):
            frame.locals[name] = key
            # A sequence may hold a key twice; the value is the same, since it depends on the key alone.
            table[key] = value(frame)
        return FrozenMap(table)

    return tabulate


def _subsets(whole: frozenset[Value], node: k.Subsets) -> frozenset[frozenset[Value]]:
    sizes = range(len(few_enough(whole, node)) + 1)
    return frozenset(map(frozenset, chain.from_iterable(combinations(whole, size) for size in sizes)))


def _combine(node: k.Combine, scope: EvaluationScope) -> Meaning:
    a, b = scope.meaning(node.left), scope.meaning(node.right)
    bags = isinstance(node.type, BagType)
    match node.op:
        case "union":
            return (lambda frame: _bag_sum(a(frame), b(frame))) if bags else (lambda frame: a(frame) | b(frame))
        case "difference":
            return (lambda frame: _bag_minus(a(frame), b(frame))) if bags else (lambda frame: a(frame) - b(frame))
        case "intersection":
            return (lambda frame: _bag_meet(a(frame), b(frame))) if bags else (lambda frame: a(frame) & b(frame))
        case "concat":
            return lambda frame: a(frame) + b(frame)
        case _:
            assert_never(node.op)


def _bag_sum(left: FrozenMap, right: FrozenMap) -> FrozenMap:
    return FrozenMap({item: left.get(item, 0) + right.get(item, 0) for item in [*left, *right]})


def _bag_minus(left: FrozenMap, right: FrozenMap) -> FrozenMap:
    # No entry with multiplicity 0 may stay: equal bags would differ.
    return FrozenMap({item: n - right.get(item, 0) for item, n in left.items() if n > right.get(item, 0)})


def _bag_meet(left: FrozenMap, right: FrozenMap) -> FrozenMap:
    return FrozenMap({item: min(n, right[item]) for item, n in left.items() if item in right})


def _slice(node: k.Slice, scope: EvaluationScope) -> Meaning:
    whole, length, take = scope.meaning(node.operand), scope.meaning(node.length), node.op == "take"

    def part(frame: Frame) -> Any:
        elements, n = whole(frame), length(frame)
        if n < 0:
            raise Undefined(f"`{node.op}` of {integer_text(n)} elements", node.span)
        # Beyond the end Python's slices are what the language says: a shorter sequence is no error.
        return elements[:n] if take else elements[n:]

    return part
