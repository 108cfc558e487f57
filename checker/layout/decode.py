"""Decoding: from the code of a value (a number of as many bits as its shape is wide) to the value."""

from __future__ import annotations

from collections import Counter
from typing import assert_never

from assay.checker.layout.shape import (
    AtomShape,
    BitRange,
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
from assay.grammar.values import Atom, FrozenMap, RecordValue, Some, Value, VariantValue


def decode(code: int, shape: Shape) -> Value:
    """The value with this code."""
    match shape:
        case FlagShape():
            return bool(code)
        case NumberShape(_, low, _):
            return low + code
        case AtomShape(_, sort):
            return Atom(sort.name, code, sort.elements[code])
        case EnumShape():
            tag = _part(code, shape.tag)
            return VariantValue(shape.variants[tag].name, _values(code, shape.payloads[tag]))
        case RecordShape(_, fields):
            return RecordValue(_values(code, fields))
        case OptionShape(width, item):
            return Some(_value(code, item)) if code >> (width - 1) else None
        case MaskShape(_, item, _):
            possible = universe(item)
            return frozenset(possible.value(rank) for rank in range(possible.size) if code >> rank & 1)
        case TableShape():
            return _table(code, shape)
        case CountsShape(_, item, _, stride):
            times = ((value, code >> rank * stride & _ones(stride)) for rank, value in enumerate(universe(item).values))
            return FrozenMap((value, n) for value, n in times if n)
        case SlotsShape():
            return _slots(code, shape)
        case _:
            assert_never(shape)


def _ones(width: int) -> int:
    return (1 << width) - 1


def _part(code: int, place: BitRange) -> int:
    return code >> place.shift & _ones(place.shape.width)


def _value(code: int, place: BitRange) -> Value:
    return decode(_part(code, place), place.shape)


def _values(code: int, places: tuple[BitRange, ...]) -> tuple[Value, ...]:
    return tuple(_value(code, place) for place in places)


def _table(code: int, shape: TableShape) -> FrozenMap:
    entries = {}
    for rank, key in enumerate(universe(shape.key).values):
        entry = code >> rank * shape.stride & _ones(shape.stride)
        if not shape.partial:
            entries[key] = decode(entry, shape.value)
        elif entry >> shape.value.width:
            entries[key] = decode(entry & _ones(shape.value.width), shape.value)
    return FrozenMap(entries)


def _slots(code: int, shape: SlotsShape) -> Value:
    codes = [code >> shape.shift(slot) & _ones(shape.stride) for slot in range(_part(code, shape.length))]
    match shape.kind:
        case "seq":
            return tuple(decode(item, shape.item) for item in codes)
        case "set":
            return frozenset(decode(item, shape.item) for item in codes)
        case "bag":
            return FrozenMap(Counter(decode(item, shape.item) for item in codes))
        case "map":
            assert shape.value is not None
            width, value = shape.value.width, shape.value
            return FrozenMap((decode(c >> width, shape.item), decode(c & _ones(width), value)) for c in codes)
        case _:
            assert_never(shape.kind)
