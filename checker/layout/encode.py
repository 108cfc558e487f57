"""Encoding: from a value to its code, a number of as many bits as its shape is wide."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, assert_never

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
from assay.grammar.values import Value


class UnfitError(ValueError):
    """A value is out of the range or over the capacity of its type. No reachable state has such a value."""


def encode(value: Value, shape: Shape) -> int:
    """The code of a value. Raises ``UnfitError`` if the type has no such value."""
    known: Any = value
    match shape:
        case FlagShape():
            return int(known)
        case NumberShape(_, low, high):
            return _within(known, low, high)
        case AtomShape(_, sort):
            return _within(known.index, 0, len(sort.elements) - 1)
        case EnumShape():
            return _enum(known, shape)
        case RecordShape(_, fields):
            return _side_by_side(known.fields, fields)
        case OptionShape(width, item):
            return 0 if known is None else 1 << (width - 1) | encode(known.value, item.shape)
        case MaskShape(_, item, capacity):
            _fits(len(known), capacity)
            return sum(1 << universe(item).rank(element) for element in known)
        case TableShape():
            return _table(known, shape)
        case CountsShape(_, item, capacity, stride):
            _fits(sum(known.values()), capacity)
            return sum(times << universe(item).rank(element) * stride for element, times in known.items())
        case SlotsShape():
            return _slots(known, shape)
        case _:
            assert_never(shape)


def _within(number: int, low: int, high: int) -> int:
    if not low <= number <= high:
        raise UnfitError(f"{number} is not in {low} .. {high}")
    return number - low


def _fits(size: int, capacity: int | None) -> None:
    if capacity is not None and size > capacity:
        raise UnfitError(f"{size} elements where {capacity} fit")


def _side_by_side(values: Iterable[Value], places: tuple[BitRange, ...]) -> int:
    return sum(encode(value, place.shape) << place.shift for value, place in zip(values, places, strict=True))


def _enum(value: Any, shape: EnumShape) -> int:
    tag = next(index for index, variant in enumerate(shape.variants) if variant.name == value.variant)
    return tag << shape.tag.shift | _side_by_side(value.payload, shape.payloads[tag])


def _table(value: Any, shape: TableShape) -> int:
    keys = universe(shape.key)
    if not shape.partial and len(value) != keys.size:
        raise UnfitError(f"a total map with {len(value)} of {keys.size} keys")
    _fits(len(value), shape.capacity)
    present = 1 << shape.value.width if shape.partial else 0
    return sum((present | encode(image, shape.value)) << keys.rank(key) * shape.stride for key, image in value.items())


def _slots(value: Any, shape: SlotsShape) -> int:
    codes = _slot_codes(value, shape)
    _fits(len(codes), shape.capacity)
    return len(codes) << shape.length.shift | sum(code << shape.shift(slot) for slot, code in enumerate(codes))


def _slot_codes(value: Any, shape: SlotsShape) -> list[int]:
    match shape.kind:
        case "seq":
            return [encode(item, shape.item) for item in value]
        case "set":
            return sorted(encode(item, shape.item) for item in value)
        case "bag":
            return sorted(code for item, n in value.items() for code in [encode(item, shape.item)] * n)
        case "map":
            assert shape.value is not None
            return sorted(
                encode(key, shape.item) << shape.value.width | encode(image, shape.value)
                for key, image in value.items()
            )
        case _:
            assert_never(shape.kind)
