"""Which rows are packed states. Induction asks about arbitrary rows, and the lowering relies on numbers
being in range."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from assay.checker.aig.bit_blaster import BitCode
from assay.checker.layout.row import WORD, RowLayout
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
from assay.checker.lowering.expressions.pack_unpack import RowWords, encode
from assay.checker.lowering.llvm.function_builder import TRUE, Scalar, constant, word


def is_state(code: BitCode, layout: RowLayout, row: RowWords) -> Scalar:
    """Whether a row is canonical: every number in range, and equal to the packing of its own value.

    Every packed row satisfies it. A few others may too, such as a sparse set that holds its smallest element twice. A
    proof then covers more rows than there are states, which is sound.
    """
    parts: list[Scalar] = []
    for place in layout.places:
        ranges = code.all_of(list(_in_range(row, place.shape, place.shift)))
        parts.append(ranges)
        if ranges.known != 0 and _may_be_loose(place.shape):
            parts.append(_packs_to_itself(code, row, place))
    return code.all_of(parts)


def _packs_to_itself(code: BitCode, row: RowWords, place: BitRange) -> Scalar:
    width = place.shape.width
    again = code.resize(encode(code, row.load(place.shape, place.shift), place.shape), max(width, WORD))
    return code.compare("eq", again, code.resize(row.field(place.shift, width), max(width, WORD)))


def _may_be_loose(shape: Shape) -> bool:
    """Whether a value of the shape has bits that it does not always use."""
    match shape:
        # All bits of these are used in every value, so that numbers in range are enough.
        case FlagShape() | NumberShape() | AtomShape() | MaskShape() | CountsShape():
            return False
        case RecordShape(_, fields):
            return any(_may_be_loose(place.shape) for place in fields)
        case TableShape(partial=False, value=value):
            return _may_be_loose(value)
        case EnumShape() | OptionShape() | TableShape() | SlotsShape():
            return shape.width > 0
        case _:
            assert_never(shape)


def _in_range(row: RowWords, shape: Shape, shift: int) -> Iterator[Scalar]:
    match shape:
        case FlagShape() | MaskShape():
            return
        case NumberShape(width, low, high):
            yield _at_most(row, shift, width, high - low)
        case AtomShape(width, sort):
            yield _at_most(row, shift, width, len(sort.elements) - 1)
        case EnumShape():
            yield from _enum_in_range(row, shape, shift)
        case RecordShape(_, fields):
            for place in fields:
                yield from _in_range(row, place.shape, shift + place.shift)
        case OptionShape(width, item):
            # The highest bit of an option says whether there is a value.
            there = row.code.resize(row.field(shift + width - 1, 1), 1)
            yield _unless(row, there, _in_range(row, item.shape, shift + item.shift))
        case TableShape():
            for at in range(universe(shape.key).size):
                yield from _in_range(row, shape.value, shift + at * shape.stride)
        case CountsShape(_, item, capacity, stride):
            for at in range(universe(item).size):
                yield _at_most(row, shift + at * stride, stride, capacity)
        case SlotsShape():
            yield _at_most(row, shift + shape.length.shift, shape.length.shape.width, shape.capacity)
            # Slots that are not used are zero, which is in every range.
            for slot in range(shape.capacity):
                yield from _slot_in_range(row, shape, shift + shape.shift(slot))
        case _:
            assert_never(shape)


def _slot_in_range(row: RowWords, shape: SlotsShape, shift: int) -> Iterator[Scalar]:
    above = 0 if shape.value is None else shape.value.width
    yield from _in_range(row, shape.item, shift + above)
    if shape.value is not None:
        yield from _in_range(row, shape.value, shift)


def _enum_in_range(row: RowWords, shape: EnumShape, shift: int) -> Iterator[Scalar]:
    code, tag = row.code, row.field(shift + shape.tag.shift, shape.tag.shape.width)
    yield _at_most(row, shift + shape.tag.shift, shape.tag.shape.width, len(shape.variants) - 1)
    for position, payload in enumerate(shape.payloads):
        here = code.compare("eq", tag, word(position))
        for place in payload:
            yield _unless(row, here, _in_range(row, place.shape, shift + place.shift))


def _unless(row: RowWords, condition: Scalar, ranges: Iterator[Scalar]) -> Scalar:
    code = row.code
    return code.either(code.invert(condition), code.all_of(list(ranges)))


def _at_most(row: RowWords, shift: int, width: int, most: int) -> Scalar:
    if width == 0 or most + 1 >= 1 << width:
        return TRUE
    code = row.code
    return code.invert(code.compare("ugt", row.field(shift, width), constant(64, most)))
