"""Whether a value fits a type: out of range is undefined, over capacity is a cut.

A value of the kernel already has the right shape. What remains to check are ranges, the completeness of total maps, and
capacities.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, assert_never

from assay.checker.interpreter.values.domains import cardinality
from assay.checker.interpreter.values.show import show_value
from assay.checker.interpreter.values.show_types import show_type
from assay.checker.interpreter.values.undefined import Undefined, integer_text
from assay.grammar.kernel import types as t
from assay.grammar.kernel.node_unions import kind
from assay.grammar.values import Value

Fits = Callable[[Any], None]
Exceeds = Callable[[Any], bool]
ExceedsAt = Callable[[Any, Sequence[Any]], bool]
"""Whether a value has too many elements, itself or at some point of a path of keys, indices and field positions."""


class CapacityExceeded(Exception):  # noqa: N818 - an answer of the semantics, not a mistake
    """A value has more elements than its type allows."""


def conform(value: Value, type_: t.Type) -> Value:
    """The value. Raises ``Undefined`` if it is out of range, else ``CapacityExceeded`` if it has too many elements."""
    fits = range_check(type_)
    if fits is not None:
        fits(value)
    exceeds = capacity_check(type_)
    if exceeds is not None and exceeds(value):
        raise CapacityExceeded(show_type(type_))
    return value


def range_check(type_: t.Type) -> Fits | None:
    """A function that raises ``Undefined`` for a value out of range; None if there is nothing to check."""
    match kind(type_):
        case t.BoolType() | t.IntType() | t.AtomType():
            return None
        case t.RangeType(low, high):
            return _within(low, high)
        case t.EnumType(_, variants):
            checks = {v.name: _fields([range_check(f.type) for f in v.fields]) for v in variants}
            # None says that there is nothing to check, here and below: callers then skip the call for each value.
            if not any(checks.values()):
                return None
            return lambda value: _apply(checks[value.variant], value.payload)
        case t.RecordType(_, fields):
            check = _fields([range_check(f.type) for f in fields])
            return None if check is None else lambda value: check(value.fields)
        case t.OptionType(item):
            inner = range_check(item)
            return None if inner is None else lambda value: None if value is None else inner(value.value)
        case t.SetType(item) | t.SeqType(item) | t.BagType(item):
            return _each(range_check(item))
        case t.MapType(key, value, _, partial):
            entries = _entries(range_check(key), range_check(value))
            # Even a total map without ranges is checked: a comprehension `[k in S -> e]` may lack keys.
            return entries if partial else _complete(type_, cardinality(key), entries)
        case other:
            assert_never(other)


def _within(low: int, high: int) -> Fits:
    def fits(value: Any) -> None:
        if not low <= value <= high:
            raise Undefined(f"{integer_text(value)} is not in {low} .. {high}")

    return fits


def _apply(check: Fits | None, value: Any) -> None:
    if check is not None:
        check(value)


def _fields(checks: list[Fits | None]) -> Fits | None:
    places = [(index, check) for index, check in enumerate(checks) if check is not None]
    if not places:
        return None

    def fits(values: Any) -> None:
        for index, check in places:
            check(values[index])

    return fits


def _each(check: Fits | None) -> Fits | None:
    if check is None:
        return None

    def fits(values: Any) -> None:
        for value in values:
            check(value)

    return fits


def _entries(key: Fits | None, image: Fits | None) -> Fits | None:
    if key is None and image is None:
        return None

    def fits(table: Any) -> None:
        for k, v in table.items():
            _apply(key, k)
            _apply(image, v)

    return fits


def _complete(type_: t.Type, size: int, entries: Fits | None) -> Fits:
    def fits(table: Any) -> None:
        # First: with a key out of range, the number of entries would say nothing about completeness.
        if entries is not None:
            entries(table)
        # All keys are in range, so a map with as many keys as the type has lacks none.
        if len(table) != size:
            raise Undefined(f"{show_value(table, type_)} lacks keys of the total {show_type(type_)}")

    return fits


def capacity_check(type_: t.Type) -> Exceeds | None:
    """A function that says whether a value has more elements than the type allows; None if nothing limits it."""
    match kind(type_):
        case t.BoolType() | t.IntType() | t.AtomType() | t.RangeType():
            return None
        case t.EnumType(_, variants):
            checks = {v.name: _some_field([capacity_check(f.type) for f in v.fields]) for v in variants}
            if not any(checks.values()):
                return None
            return lambda value: _exceeded(checks[value.variant], value.payload)
        case t.RecordType(_, fields):
            check = _some_field([capacity_check(f.type) for f in fields])
            return None if check is None else lambda value: check(value.fields)
        case t.OptionType(item):
            inner = capacity_check(item)
            return None if inner is None else lambda value: value is not None and inner(value.value)
        case t.SetType(item, capacity) | t.SeqType(item, capacity):
            return _any_of([_longer(capacity), _some_element(capacity_check(item))])
        # The capacity of a bag counts elements with their multiplicity.
        case t.BagType(item, capacity):
            return _any_of([_heavier(capacity), _some_element(capacity_check(item))])
        case t.MapType(key, value, capacity):
            # `_some_element` goes through keys if it is given a map, so the values are passed by themselves.
            image = _some_element(capacity_check(value))
            images = None if image is None else lambda table: image(table.values())
            return _any_of([_longer(capacity), _some_element(capacity_check(key)), images])
        case other:
            assert_never(other)


def exceeds_along(type_: t.Type, path: Sequence[int | None]) -> ExceedsAt | None:
    """``capacity_check`` for a value that is new only at a path. A path element is the position of a field, or None for
    a key or an index."""
    if not path:
        whole = capacity_check(type_)
        return None if whole is None else lambda value, _: whole(value)
    field, rest = path[0], path[1:]
    match kind(type_):
        case t.RecordType(_, fields):
            assert field is not None
            inner = exceeds_along(fields[field].type, rest)
            return None if inner is None else lambda value, at: inner(value.fields[at[0]], at[1:])
        case t.MapType(key, value, capacity):
            return _exceeds_at(_longer(capacity), capacity_check(key), exceeds_along(value, rest))
        case t.SeqType(item, capacity):
            return _exceeds_at(_longer(capacity), None, exceeds_along(item, rest))
        case other:
            raise AssertionError(f"{other} has no parts to assign to")


def _exceeds_at(whole: Exceeds | None, key: Exceeds | None, inner: ExceedsAt | None) -> ExceedsAt | None:
    if whole is None and key is None and inner is None:
        return None

    def exceeds(value: Any, at: Sequence[Any]) -> bool:
        # The keys of the new path may themselves be collections with a capacity.
        if _exceeded(whole, value) or _exceeded(key, at[0]):
            return True
        return inner is not None and inner(value[at[0]], at[1:])

    return exceeds


def _exceeded(check: Exceeds | None, value: Any) -> bool:
    return check is not None and check(value)


def _some_field(checks: list[Exceeds | None]) -> Exceeds | None:
    places = [(index, check) for index, check in enumerate(checks) if check is not None]
    return (lambda values: any(check(values[index]) for index, check in places)) if places else None


def _some_element(check: Exceeds | None) -> Exceeds | None:
    return None if check is None else lambda values: any(map(check, values))


def _any_of(checks: list[Exceeds | None]) -> Exceeds | None:
    present = [check for check in checks if check is not None]
    return (lambda value: any(check(value) for check in present)) if present else None


def _longer(capacity: int | None) -> Exceeds | None:
    return None if capacity is None else lambda value: len(value) > capacity


def _heavier(capacity: int | None) -> Exceeds | None:
    return None if capacity is None else lambda value: sum(value.values()) > capacity
