"""The values of a type: how many there are, and all of them in canonical order."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import chain, combinations, product
from math import comb, prod
from typing import assert_never

from assay.checker.interpreter.values.show_types import show_type
from assay.checker.interpreter.values.undefined import ENUMERATION_LIMIT, too_large
from assay.checker.interpreter.values.value_order import sorter
from assay.grammar.diagnostics.diagnostic import NOWHERE, Span
from assay.grammar.kernel import types as t
from assay.grammar.kernel.node_unions import kind
from assay.grammar.values import Atom, FrozenMap, RecordValue, Some, Value, VariantValue

UNLIMITED = 1 << 4096
"""The size of a type with infinitely many values, or more than anyone could list."""


def cardinality(type_: t.Type) -> int:
    """How many values the type has; ``UNLIMITED`` if they are too many to matter."""
    match kind(type_):
        case t.BoolType():
            return 2
        case t.IntType():
            return UNLIMITED
        case t.RangeType(low, high):
            # Parameters may make a range empty.
            return max(0, high - low + 1)
        case t.AtomType(sort):
            return len(sort.elements)
        case t.EnumType(_, variants):
            return sum(prod(cardinality(field.type) for field in variant.fields) for variant in variants)
        case t.RecordType(_, fields):
            return prod(cardinality(field.type) for field in fields)
        case t.OptionType(item):
            return 1 + cardinality(item)
        case t.SetType(item, capacity):
            return number_of_choices(cardinality(item), capacity)
        case t.MapType(key, value, capacity, partial):
            return _maps(cardinality(key), cardinality(value), capacity, partial)
        case t.SeqType(item, capacity):
            return UNLIMITED if capacity is None else _sequences(cardinality(item), capacity)
        case t.BagType(item, capacity):
            return UNLIMITED if capacity is None else _multisets(cardinality(item), capacity)
        case other:
            assert_never(other)


def domain(type_: t.Type, span: Span = NOWHERE) -> tuple[Value, ...]:
    """All values of the type in canonical order. Raises ``SpecError`` at ``span`` if they are too many to list."""
    size = cardinality(type_)
    if size > ENUMERATION_LIMIT:
        raise too_large(f"`{show_type(type_)}`", size, span)
    return _domain(type_)


# By equality, not identity: kernels that are made anew have equal types, not the same ones.
@lru_cache(maxsize=4096)
def _domain(type_: t.Type) -> tuple[Value, ...]:
    match kind(type_):
        case t.BoolType():
            return (False, True)
        case t.IntType():
            raise AssertionError("the integers are refused before")
        case t.RangeType(low, high):
            return tuple(range(low, high + 1))
        case t.AtomType(sort):
            return tuple(Atom(sort.name, index, name) for index, name in enumerate(sort.elements))
        case t.EnumType(_, variants):
            # These come out in canonical order without sorting, as in all cases below that do not call `sorter`.
            return tuple(VariantValue(v.name, values) for v in variants for values in _tuples(v.fields))
        case t.RecordType(_, fields):
            return tuple(RecordValue(values) for values in _tuples(fields))
        case t.OptionType(item):
            return (None, *(Some(value) for value in _domain(item)))
        case t.SetType(item, capacity):
            return tuple(frozenset(chosen) for chosen in _subsequences(_domain(item), capacity))
        case t.MapType(key, value, capacity, partial):
            # Keys by number, then values, is not the canonical order, which compares entries one by one.
            keys = _subsequences(_domain(key), capacity) if partial else [_domain(key)]
            return tuple(sorter(type_)(_tables(keys, _domain(value))))
        case t.SeqType(item, capacity):
            values = _domain(item)
            return tuple(chain.from_iterable(product(values, repeat=n) for n in range((capacity or 0) + 1)))
        case t.BagType(item, capacity):
            return tuple(sorter(type_)(_bags(_domain(item), capacity or 0)))
        case other:
            assert_never(other)


def _tuples(fields: tuple[t.FieldType, ...]) -> Iterable[tuple[Value, ...]]:
    return product(*(_domain(field.type) for field in fields))


def _subsequences(values: tuple[Value, ...], capacity: int | None) -> Iterable[tuple[Value, ...]]:
    most = len(values) if capacity is None else min(capacity, len(values))
    return chain.from_iterable(combinations(values, n) for n in range(most + 1))


def _tables(keys: Iterable[tuple[Value, ...]], values: tuple[Value, ...]) -> Iterable[FrozenMap]:
    for chosen in keys:
        for images in product(values, repeat=len(chosen)):
            yield FrozenMap(zip(chosen, images, strict=True))


def _bags(values: tuple[Value, ...], capacity: int) -> Iterable[FrozenMap]:
    counts: list[dict[Value, int]] = [{}]
    for value in values:
        # A bag has no entry with multiplicity 0: equal bags would differ.
        counts = [{**bag, value: n} if n else bag for bag in counts for n in range(capacity - sum(bag.values()) + 1)]
    return (FrozenMap(bag) for bag in counts)


def _power(base: int, exponent: int) -> int:
    # The bits are counted first: an exponent may be a number of subsets, and the power would not fit in memory.
    return UNLIMITED if base > 1 and exponent * (base.bit_length() - 1) > UNLIMITED.bit_length() else base**exponent


def _choose(items: int, chosen: int) -> int:
    few = min(chosen, items - chosen)
    # Of at least 2k items, k can be chosen in at least 2 ** k ways.
    return UNLIMITED if few > UNLIMITED.bit_length() else comb(items, chosen)


def _total(terms: Iterable[int]) -> int:
    total = 0
    for term in terms:
        total += term
        if total >= UNLIMITED:
            return UNLIMITED
    return total


def _sequences(items: int, capacity: int) -> int:
    # One sequence of each length; `_total` below would go through every length of a large capacity.
    if items <= 1:
        return 1 + capacity * items
    return _total(_power(items, n) for n in range(capacity + 1))


def number_of_choices(items: int, capacity: int | None) -> int:
    """How many subsets a set of so many items has, with at most ``capacity`` elements if that is given."""
    if capacity is None or capacity >= items:
        return _power(2, items)
    return _total(_choose(items, n) for n in range(capacity + 1))


def _maps(keys: int, values: int, capacity: int | None, partial: bool) -> int:
    if not partial:
        return _power(values, keys)
    # Each key is absent or has one of the values.
    if capacity is None or capacity >= keys:
        return _power(values + 1, keys)
    return _total(_choose(keys, n) * _power(values, n) for n in range(capacity + 1))


def _multisets(items: int, capacity: int) -> int:
    # Stars and bars, with one more bar: a bag may hold fewer elements than its capacity.
    return _choose(items + capacity, capacity)
