"""The choice of a shape for each type. Small domains get a bit or an entry for each possible element, large ones sorted
slots."""

from __future__ import annotations

from typing import assert_never

from assay.checker.interpreter.values.domains import cardinality
from assay.checker.interpreter.values.show_types import show_type
from assay.checker.layout.numbered_types import MASK_LIMIT, is_small
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
    SlotKind,
    SlotsShape,
    TableShape,
)
from assay.grammar.diagnostics.diagnostic import NOWHERE, Diagnostic, Note, Span, SpecError
from assay.grammar.kernel import types as t
from assay.grammar.kernel.node_unions import kind

TOO_WIDE = "E806"
DENSE_LIMIT = 4096
"""The most possible elements of a set or a map without a capacity."""
SMALL = 64
"""A collection with a capacity is dense if it has at most this many possible elements, or if the dense form is
narrower."""
NUMBER_LIMIT = 63
"""The most bits of one integer: the engines compute with signed 64-bit words."""
WIDTH_LIMIT = 1 << 16
"""The most bits of one value."""


def shape_of(type_: t.Type, span: Span = NOWHERE) -> Shape:
    """The shape of a type. Raises ``SpecError`` at ``span`` if its values do not fit a row."""
    shape = _shape(type_, span)
    if shape.width > WIDTH_LIMIT:
        raise _too_wide(type_, f"its values take {shape.width:,} bits, more than {WIDTH_LIMIT:,}", span)
    return shape


def _shape(type_: t.Type, span: Span) -> Shape:
    match kind(type_):
        case t.BoolType():
            return FlagShape()
        case t.IntType():
            raise _too_wide(type_, "it has infinitely many values", span)
        case t.RangeType(low, high):
            return _number(type_, low, high, span)
        case t.AtomType(sort):
            return AtomShape(bits_for(len(sort.elements)), sort)
        case t.EnumType(_, variants):
            return _enum(variants, span)
        case t.RecordType(_, fields):
            places = _beside([shape_of(field.type, span) for field in fields], 0)
            return RecordShape(_total(places), places)
        case t.OptionType(item):
            inner = shape_of(item, span)
            return OptionShape(inner.width + 1, BitRange(0, inner))
        case t.SetType(item, capacity):
            return _set(type_, item, capacity, span)
        case t.MapType():
            return _map(type_, span)
        case t.SeqType(item, capacity):
            return _slots("seq", shape_of(item, span), None, _limited(type_, capacity, span), item)
        case t.BagType(item, capacity):
            return _bag(item, _limited(type_, capacity, span), span)
        case other:
            assert_never(other)


def bits_for(values: int) -> int:
    """How many bits distinguish that many values."""
    return max(0, values - 1).bit_length()


def _too_wide(type_: t.Type, why: str, span: Span) -> SpecError:
    note = Note("choose smaller parameters, or give the collection a capacity (`max n`)")
    return SpecError([Diagnostic(TOO_WIDE, span, f"`{show_type(type_)}` does not fit a packed row: {why}", (note,))])


def _number(type_: t.Type, low: int, high: int, span: Span) -> Shape:
    # One bit less than a word: the difference of two such integers must not overflow either.
    if max(abs(low), abs(high)).bit_length() >= NUMBER_LIMIT:
        raise _too_wide(type_, "its integers take more than 62 bits", span)
    return NumberShape(bits_for(high - low + 1), low, high)


def _beside(shapes: list[Shape], end: int) -> tuple[BitRange, ...]:
    # Downwards from the top bit: codes compare as values do only if the first field is the most significant.
    places = []
    top = end + sum(shape.width for shape in shapes)
    for shape in shapes:
        top -= shape.width
        places.append(BitRange(top, shape))
    return tuple(places)


def _total(places: tuple[BitRange, ...]) -> int:
    return sum(place.shape.width for place in places)


def _enum(variants: tuple[t.VariantType, ...], span: Span) -> Shape:
    shapes = [[shape_of(field.type, span) for field in variant.fields] for variant in variants]
    # Payloads are aligned to the top, and the rest stays zero: so two values of one variant compare field by field.
    payload = max((sum(shape.width for shape in fields) for fields in shapes), default=0)
    places = tuple(_beside(fields, payload - sum(shape.width for shape in fields)) for fields in shapes)
    tag = NumberShape(bits_for(len(variants)), 0, len(variants) - 1)
    return EnumShape(tag.width + payload, BitRange(payload, tag), variants, places)


def _set(type_: t.Type, item: t.Type, capacity: int | None, span: Span) -> Shape:
    size = cardinality(item)
    if capacity is None:
        _require_dense(type_, size, span)
        return MaskShape(size, item, None)
    # A set or a map never holds more entries than there are elements, whatever its capacity; a bag may.
    slots = _slots("set", shape_of(item, span), None, min(capacity, size), item)
    # A mask needs no sorting, and membership in it is one bit: it is taken even where slots would be a little narrower.
    dense = size <= max(SMALL, slots.width) and size <= MASK_LIMIT
    return MaskShape(size, item, capacity) if dense else slots


def _require_dense(type_: t.Type, size: int, span: Span) -> None:
    if size > DENSE_LIMIT:
        shown = f"{size:,}" if size < 10**15 else "far too many"
        raise _too_wide(type_, f"it has {shown} possible elements or keys, more than {DENSE_LIMIT:,}", span)


def _map(type_: t.Type, span: Span) -> Shape:
    assert isinstance(type_, t.MapType)
    size, value = cardinality(type_.key), shape_of(type_.value, span)
    stride = value.width + 1 if type_.partial else value.width
    if not type_.partial or type_.capacity is None:
        _require_dense(type_, size, span)
        return TableShape(size * stride, type_.key, value, type_.partial, type_.capacity, stride)
    slots = _slots("map", shape_of(type_.key, span), value, min(type_.capacity, size), type_.key)
    # A table is indexed by the number of a key, which only a small type has.
    if not is_small(type_.key):
        return slots
    dense = size <= SMALL or (size * stride <= slots.width and size <= DENSE_LIMIT)
    return TableShape(size * stride, type_.key, value, True, type_.capacity, stride) if dense else slots


def _limited(type_: t.Type, capacity: int | None, span: Span) -> int:
    if capacity is None:
        raise _too_wide(type_, "it has no capacity", span)
    return capacity


def _bag(item: t.Type, capacity: int, span: Span) -> Shape:
    size, stride = cardinality(item), bits_for(capacity + 1)
    slots = _slots("bag", shape_of(item, span), None, capacity, item)
    dense = size * stride <= max(SMALL, slots.width) and size <= DENSE_LIMIT
    return CountsShape(size * stride, item, capacity, stride) if dense else slots


def _slots(kind_: SlotKind, item: Shape, value: Shape | None, capacity: int, of: t.Type) -> SlotsShape:
    stride = item.width + (0 if value is None else value.width)
    length = BitRange(stride * capacity, NumberShape(bits_for(capacity + 1), 0, capacity))
    return SlotsShape(stride * capacity + length.shape.width, kind_, capacity, length, stride, item, value, of)
