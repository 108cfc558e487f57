"""The number of values of a type, as far as it matters whether they can be enumerated."""

from __future__ import annotations

from typing import assert_never

from assay.grammar.kernel.types import (
    AtomType,
    BagType,
    BoolType,
    EnumType,
    FieldType,
    MapType,
    OptionType,
    RangeType,
    RecordType,
    SeqType,
    SetType,
    Type,
)

LIMIT = 1_000_000
"""The largest set that may be enumerated."""

MANY = LIMIT + 1


def cardinality(type_: Type) -> int:
    """The number of values, or ``MANY`` where there are more than ``LIMIT`` (as of ``int``)."""
    match type_:
        case BoolType():
            return 2
        case RangeType(low, high):
            return min(MANY, high - low + 1)
        case AtomType(sort):
            return min(MANY, len(sort.elements))
        case EnumType(_, variants):
            return min(MANY, sum(_product(variant.fields) for variant in variants))
        case RecordType(_, fields):
            return _product(fields)
        case OptionType(item):
            return min(MANY, 1 + cardinality(item))
        case SetType() | MapType() | SeqType() | BagType():
            return _collections(type_)
        case _:
            return MANY


def _collections(type_: SetType | MapType | SeqType | BagType) -> int:
    match type_:
        case SetType(item, capacity):
            return power(2, cardinality(item)) if capacity is None else _selections(cardinality(item), capacity, 1)
        case MapType(key, value, capacity, partial):
            if not partial:
                return power(cardinality(value), cardinality(key))
            return MANY if capacity is None else _selections(cardinality(key), capacity, cardinality(value))
        case SeqType(item, capacity):
            return MANY if capacity is None else _sequences(cardinality(item), capacity)
        case BagType(item, capacity):
            return MANY if capacity is None else _bags(cardinality(item), capacity)
        case _:
            assert_never(type_)


def power(base: int, exponent: int) -> int:
    """``base`` to the ``exponent``, or ``MANY``."""
    # Of no values there is one empty set, map or sequence, and none of any other length.
    if base <= 1 or exponent <= 0:
        return base if exponent > 0 else 1
    # The base is 2 or more, so a larger exponent is beyond the limit; `2**(10**6)` need not be computed.
    return MANY if exponent > LIMIT.bit_length() else min(MANY, base**exponent)


def _product(fields: tuple[FieldType, ...]) -> int:
    product = 1
    for field in fields:
        product = min(MANY, product * cardinality(field.type))
    return product


def _sequences(items: int, capacity: int) -> int:
    """Sequences of at most ``capacity`` of the items."""
    total = 0
    for length in range(capacity + 1):
        total += power(items, length)
        if total > LIMIT:
            return MANY
    return total


def _selections(items: int, capacity: int, choices: int) -> int:
    """Ways to select at most ``capacity`` of the items, each with one of the choices."""
    total = combinations = 1
    for size in range(1, min(items, capacity) + 1):
        # A binomial coefficient, from the one before: the division leaves no rest.
        combinations = combinations * (items - size + 1) // size
        total += combinations * choices**size
        if total > LIMIT:
            return MANY
    return total


def _bags(items: int, capacity: int) -> int:
    """Multisets of at most ``capacity`` of the items: as many as sets of that size among items and capacity."""
    total = ways = 1
    for size in range(1, capacity + 1 if items else 1):
        ways = ways * (items + size - 1) // size
        total += ways
        if total > LIMIT:
            return MANY
    return total
