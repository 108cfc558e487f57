"""The bits of a row as parts of the state. Each group of bits has its place, and the values of that place that agree
with some of the bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, assert_never

from assay.checker.interpreter.values.domains import cardinality
from assay.checker.layout.encode import encode
from assay.checker.layout.row import RowLayout
from assay.checker.layout.shape import (
    AtomShape,
    CountsShape,
    EnumShape,
    FlagShape,
    MaskShape,
    NumberShape,
    OptionShape,
    RecordShape,
    Shape,
    SlotsShape,
    TableShape,
)
from assay.checker.layout.value_numbering import universe
from assay.checker.symbolic.certificate.terms import Rename, equals, value_term
from assay.grammar import kernel as k
from assay.grammar.kernel import types as t
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Value

LISTED = 1024
"""The most values of one place that are enumerated."""

Term = Callable[[Rename], k.Expr]


class InexpressibleError(Exception):
    """Bits that the language cannot express in a short statement, such as a slot of a sorted collection."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """The bits from ``shift`` on, with their possible codes, and the statement that they have one of some codes."""

    shift: int
    width: int
    options: tuple[tuple[int, Value], ...]
    """Each code with the value that it stands for."""
    says: Callable[[list[Value], list[Value]], Term]
    """The condition that the value is one of the first rather than one of the second."""


def leaves(layout: RowLayout, variables: tuple[k.Variable, ...]) -> Iterator[Leaf]:
    """The leaves of all variables. Raises ``InexpressibleError`` at one that cannot be enumerated."""
    for variable, place in zip(variables, layout.places, strict=True):
        yield from _leaves(place.shape, variable.type, _variable(variable), place.shift)


def _variable(variable: k.Variable) -> Term:
    return lambda _: k.StateVar(variable.type, variable.name)


def _leaves(shape: Shape, of: t.Type, path: Term, shift: int) -> Iterator[Leaf]:
    match shape:
        case FlagShape() | NumberShape() | AtomShape() | EnumShape() | OptionShape():
            yield _whole(shape, of, path, shift)
        case RecordShape(_, places):
            assert isinstance(of, t.RecordType)
            for index, (place, field) in enumerate(zip(places, of.fields, strict=True)):
                yield from _leaves(place.shape, field.type, _field(path, field.type, index), shift + place.shift)
        case MaskShape(_, item, _):
            for rank, value in enumerate(universe(item).values):
                yield Leaf(shift + rank, 1, ((0, False), (1, True)), _membership(path, item, value))
        case TableShape():
            yield from _table(shape, of, path, shift)
        case CountsShape(_, item, capacity, stride):
            for rank, value in enumerate(universe(item).values):
                numbers = tuple((n, n) for n in range(capacity + 1))
                yield Leaf(shift + rank * stride, stride, numbers, _among(_times(path, item, value), t.INT))
        case SlotsShape(kind="seq"):
            yield from _sequence(shape, of, path, shift)
        case SlotsShape():
            # Which element is in which slot depends on all others, so that a slot has no meaning of its own.
            raise InexpressibleError("a collection kept in sorted slots")
        case _:
            assert_never(shape)


def _whole(shape: Shape, of: t.Type, path: Term, shift: int) -> Leaf:
    return Leaf(shift, shape.width, _codes(shape, of), _among(path, of))


def _codes(shape: Shape, of: t.Type) -> tuple[tuple[int, Value], ...]:
    # A statement that lists more values says nothing to a reader, and would not be kept in a spec.
    if cardinality(of) > LISTED:
        raise InexpressibleError("a place with so many values")
    return tuple((encode(value, shape), value) for value in universe(of).values)


def _field(path: Term, of: t.Type, index: int) -> Term:
    return lambda rename: k.ReadField(of, path(rename), index)


def _lookup(path: Term, of: t.Type, key: t.Type, at: Value) -> Term:
    return lambda rename: k.Lookup(of, path(rename), value_term(at, key, rename))


def _times(path: Term, item: t.Type, value: Value) -> Term:
    return lambda rename: k.Times(t.INT, path(rename), value_term(value, item, rename))


def _membership(path: Term, item: t.Type, value: Value) -> Callable[[list[Value], list[Value]], Term]:
    def says(wanted: list[Value], _: list[Value]) -> Term:
        return lambda rename: k.Member(t.BOOL, value_term(value, item, rename), path(rename), wanted == [False])

    return says


def _among(path: Term, of: t.Type) -> Callable[[list[Value], list[Value]], Term]:
    return lambda wanted, others: lambda rename: equals(path(rename), of, wanted, others, rename)


def _table(shape: TableShape, of: t.Type, path: Term, shift: int) -> Iterator[Leaf]:
    assert isinstance(of, t.MapType)
    for rank, key in enumerate(universe(shape.key).values):
        at = shift + rank * shape.stride
        entry = _lookup(path, of.value, of.key, key)
        if not shape.partial:
            yield from _leaves(shape.value, of.value, entry, at)
            continue
        # The bit above the value says whether the key is there. Without the key all bits are 0.
        there = 1 << shape.value.width
        options = ((0, ABSENT), *((there | code, value) for code, value in _codes(shape.value, of.value)))
        known = _key_in(path, of.key, key)
        yield Leaf(at, shape.stride, options, _perhaps(known, _among(entry, of.value)))


def _key_in(path: Term, of: t.Type, key: Value) -> Term:
    return lambda rename: k.Member(t.BOOL, value_term(key, of, rename), path(rename), negated=False)


def _sequence(shape: SlotsShape, of: t.Type, path: Term, shift: int) -> Iterator[Leaf]:
    assert isinstance(of, t.SeqType)
    lengths = tuple((n, n) for n in range(shape.capacity + 1))

    def count(rename: Rename) -> k.Expr:
        return k.Count(t.INT, path(rename))

    yield Leaf(shift + shape.length.shift, shape.length.shape.width, lengths, _among(count, t.INT))
    # The order of the bits is that of the row: the first slot has the highest.
    for slot in range(shape.capacity):
        options: dict[int, Value] = dict(_codes(shape.item, of.item))
        # Slots behind the length are 0. Where a value has code 0 too, bits alone do not tell an empty slot from it.
        shared = options.get(0)
        codes = tuple((code, value) for code, value in options.items() if code or shared is None)
        empty: tuple[tuple[int, Value], ...] = ((0, ABSENT),) if shared is None else ((0, Either(shared)),)
        item = _item(path, of.item, slot)
        says = _perhaps(_longer(count, slot), _among(item, of.item))
        yield Leaf(shift + shape.shift(slot), shape.stride, (*empty, *codes), says)


def _item(path: Term, of: t.Type, slot: int) -> Term:
    return lambda rename: k.Lookup(of, path(rename), k.Const(t.INT, slot))


def _longer(count: Term, slot: int) -> Term:
    return lambda rename: k.Compare(t.BOOL, ">", count(rename), k.Const(t.INT, slot))


@dataclass(frozen=True, slots=True)
class Absent:
    """There is no such entry or element."""


@dataclass(frozen=True, slots=True)
class Either:
    """There is no such element, or it is this one: both have one code."""

    value: Value


ABSENT = Absent()


def _perhaps(
    there: Term, among: Callable[[list[Value], list[Value]], Term]
) -> Callable[[list[Value], list[Value]], Term]:
    """Conditions on an entry that may be missing: its value is read only where it is present."""

    def says(wanted: list[Value], others: list[Value]) -> Term:
        missing = any(isinstance(each, Absent | Either) for each in wanted)
        present, rest = _present(wanted), _present(others)

        def term(rename: Rename) -> k.Expr:
            known = there(rename)
            if not present:
                return k.Not(t.BOOL, known)
            # All present values are allowed, so that only presence itself is left to say.
            if not rest:
                return k.Const(t.BOOL, True) if missing else known
            holds = among(present, rest)(rename)
            return k.Logic(t.BOOL, "implies" if missing else "and", (known, holds))

        return term

    return says


def _present(values: list[Value]) -> list[Value]:
    found: list[Any] = values
    return [each.value if isinstance(each, Either) else each for each in found if not isinstance(each, Absent)]
