"""Symbols and the canonical numbering of small types: constants, the rank of a symbol, and the symbol of a rank."""

from __future__ import annotations

from math import prod
from typing import Any, assert_never

from assay.checker.interpreter.values.domains import cardinality
from assay.checker.interpreter.values.value_order import sorter
from assay.checker.layout.numbered_types import MASK_LIMIT, is_masked, is_small
from assay.checker.layout.value_numbering import universe
from assay.checker.lowering.llvm.function_builder import FALSE, TRUE, FunctionBuilder, Scalar, constant, word
from assay.checker.lowering.llvm.unsupported import UnsupportedError
from assay.checker.lowering.symbols.intervals import bounded, clamp, number
from assay.checker.lowering.symbols.symbol import (
    Bag,
    Bunch,
    Flag,
    Mask,
    Maybe,
    Number,
    Pairs,
    RecordSymbol,
    Sequence,
    Symbol,
    TableSymbol,
    VariantSymbol,
)
from assay.grammar.kernel import types as t
from assay.grammar.kernel.node_unions import kind
from assay.grammar.values import Value


def surely(symbol: Symbol, type_: t.Type) -> bool:
    """Whether a symbol can be nothing but a value of a type that ``is_masked``. Until they are stored, sequences may be
    too long, numbers out of range, and maps without some of their keys."""
    match kind(type_), symbol:
        case t.SeqType(item, capacity), Sequence(length, items):
            # A type without a capacity has no numbers, and is not masked.
            assert capacity is not None
            return length.high <= capacity and all(surely(x, item) for x in items)
        case t.RangeType(low, high), Number():
            return low <= symbol.low and symbol.high <= high
        case t.RecordType(_, fields), RecordSymbol(parts):
            return all(surely(x, field.type) for x, field in zip(parts, fields, strict=True))
        case t.EnumType(_, variants), VariantSymbol(_, payloads):
            return all(
                surely(x, field.type)
                for payload, variant in zip(payloads, variants, strict=True)
                for x, field in zip(payload, variant.fields, strict=True)
            )
        case t.OptionType(item), Maybe(_, inner):
            return inner is None or surely(inner, item)
        case t.MapType(key, value), TableSymbol(known, entries):
            return known == key and all(p.known == 1 and x is not None and surely(x, value) for p, x in entries)
        # Pairs may lack keys, or have others than the type allows.
        case t.MapType(), _:
            return False
        case t.SetType(t.RangeType(low, high)), symbol:
            return isinstance(symbol, Mask) and symbol.base == low and symbol.bits.bits == max(0, high - low + 1)
        case t.SetType(item), Bunch(items):
            return all(surely(x, item) for _, x in items)
        case t.SetType(item), Mask():
            return is_small(item) or symbol.item == item
        case _:
            return True


def literal(value: Value, type_: t.Type) -> Symbol:
    """The symbol of a constant."""
    known: Any = value
    match kind(type_):
        case t.BoolType():
            return Flag(TRUE if known else FALSE)
        case t.IntType() | t.RangeType():
            return number(known)
        case t.AtomType():
            return number(known.index)
        case t.EnumType(_, variants):
            return _variant(known, variants)
        case t.RecordType(_, fields):
            return RecordSymbol(tuple(literal(x, f.type) for x, f in zip(known.fields, fields, strict=True)))
        case t.OptionType(item):
            return Maybe(FALSE, None) if known is None else Maybe(TRUE, literal(known.value, item))
        case t.SetType(item):
            return _set(known, item)
        case t.MapType(key, image):
            return _map(known, key, image)
        case t.SeqType(item):
            return Sequence(number(len(known)), tuple(literal(x, item) for x in known))
        case t.BagType(item):
            return Bag(tuple((number(known[x]), literal(x, item)) for x in sorter(item)(known)), ordered=True)
        case other:
            assert_never(other)


def _variant(value: Any, variants: tuple[t.VariantType, ...]) -> VariantSymbol:
    payloads = []
    for variant in variants:
        if variant.name == value.variant:
            payloads.append(tuple(literal(x, f.type) for x, f in zip(value.payload, variant.fields, strict=True)))
        else:
            # Other variants get placeholders, so that all symbols of an enum have the same parts.
            payloads.append(tuple(nothing(f.type) for f in variant.fields))
    tag = next(i for i, variant in enumerate(variants) if variant.name == value.variant)
    return VariantSymbol(number(tag), tuple(payloads))


def nothing(type_: t.Type) -> Symbol:
    """Some symbol of the type, as a placeholder where there is no value."""
    match kind(type_):
        case t.IntType():
            return number(0)
        case t.SetType(item):
            return _set(frozenset(), item)
        case t.SeqType():
            return Sequence(number(0), ())
        case t.BagType():
            return Bag((), ordered=True)
        case t.MapType(key, image, _, partial):
            if partial:
                return _map({}, key, image)
            # A total map has all its keys, even where it stands for no value.
            return TableSymbol(key, tuple((TRUE, nothing(image)) for _ in universe(key).values))
        case t.EnumType(_, variants):
            return VariantSymbol(number(0), tuple(tuple(nothing(f.type) for f in v.fields) for v in variants))
        case t.RecordType(_, fields):
            return RecordSymbol(tuple(nothing(f.type) for f in fields))
        case t.OptionType():
            return Maybe(FALSE, None)
        case t.BoolType():
            return Flag(FALSE)
        case t.RangeType(low):
            return number(low)
        case t.AtomType():
            return number(0)
        case other:
            assert_never(other)


def _set(values: frozenset[Any], item: t.Type) -> Symbol:
    if isinstance(item, t.IntType):
        base = min(values, default=0)
        # Integers without a range: a mask from the least to the greatest, if they lie close together.
        if max(values, default=0) - base < MASK_LIMIT:
            width = max(values, default=base - 1) - base + 1
            return Mask(constant(width, sum(1 << x - base for x in values)), item, base)
    elif is_masked(item):
        ranks = universe(item)
        base = item.low if isinstance(item, t.RangeType) else 0
        if all(x in ranks.values for x in values):
            return Mask(constant(ranks.size, sum(1 << ranks.rank(x) for x in values)), item, base)
    return Bunch(tuple((TRUE, literal(x, item)) for x in sorter(item)(values)), ordered=True)


def _map(value: Any, key: t.Type, image: t.Type) -> Symbol:
    if is_small(key) and all(x in universe(key).values for x in value):
        return TableSymbol(
            key, tuple((TRUE, literal(value[x], image)) if x in value else (FALSE, None) for x in universe(key).values)
        )
    return Pairs(tuple((TRUE, literal(x, key), literal(value[x], image)) for x in sorter(key)(value)), ordered=True)


def rank(code: FunctionBuilder, symbol: Symbol, type_: t.Type) -> Scalar:
    """The rank of a symbol among the values of a small type. It is in range whatever the symbol is."""
    match kind(type_), symbol:
        case t.BoolType(), Flag(value):
            return code.resize(value, 64)
        case t.RangeType(low, high), Number():
            return code.number("sub", clamp(code, symbol, low, high).value, word(low))
        case t.AtomType(), Number(value):
            return value
        case t.RecordType(_, fields), RecordSymbol(parts):
            return _mixed(code, parts, [field.type for field in fields])
        case t.OptionType(item), Maybe(present, inner):
            if inner is None:
                return word(0)
            # `none` comes first in the canonical order.
            return code.choose(present, code.number("add", rank(code, inner, item), word(1)), word(0))
        case t.EnumType(_, variants), VariantSymbol():
            return _rank_variant(code, symbol, variants)
        case t.SeqType(item, capacity), Sequence():
            return _rank_sequence(code, symbol, item, capacity or 0)
        case t.MapType(key, value), TableSymbol(_, entries):
            return _mixed(code, [x for _, x in entries if x is not None], [value] * cardinality(key))
        case t.SetType(item), Mask(bits):
            return _rank_of_mask(code, bits, item)
        case t.SetType(item), Bunch(items):
            return _rank_of_mask(code, _mask_of(code, items, item), item)
        case _:
            raise UnsupportedError("sets of collections that are themselves not small")


def _mixed(code: FunctionBuilder, parts: tuple[Symbol, ...] | list[Symbol], types: list[t.Type]) -> Scalar:
    result = word(0)
    for part, type_ in zip(parts, types, strict=True):
        scaled = code.number("mul", result, word(cardinality(type_)))
        result = code.number("add", scaled, rank(code, part, type_))
    return result


def _rank_sequence(code: FunctionBuilder, symbol: Sequence, item: t.Type, capacity: int) -> Scalar:
    """Shorter ones first, then element by element; behind ``capacity`` nothing counts."""
    size, result, offset, local = cardinality(item), word(0), 0, word(0)
    for length, element in enumerate(symbol.items[:capacity], 1):
        # All shorter sequences come first: so many of each length.
        offset += size ** (length - 1)
        local = code.number("add", code.number("mul", local, word(size)), rank(code, element, item))
        # The last length that is reached wins, so no item behind the end takes part.
        reached = code.compare("sle", word(length), symbol.length.value)
        result = code.choose(reached, code.number("add", local, word(offset)), result)
    return result


def _rank_variant(code: FunctionBuilder, symbol: VariantSymbol, variants: tuple[t.VariantType, ...]) -> Scalar:
    result, offset = word(0), 0
    for position, (variant, payload) in enumerate(zip(variants, symbol.payloads, strict=True)):
        here = code.number("add", word(offset), _mixed(code, payload, [f.type for f in variant.fields]))
        result = code.choose(code.compare("eq", symbol.tag.value, word(position)), here, result)
        offset += prod(cardinality(f.type) for f in variant.fields)
    return result


def _mask_of(code: FunctionBuilder, items: tuple[tuple[Scalar, Symbol], ...], item: t.Type) -> Scalar:
    size = cardinality(item)
    result = constant(size, 0)
    for there, element in items:
        here = rank(code, element, item)
        for at in range(size):
            is_it = code.both(there, code.compare("eq", here, word(at)))
            result = code.either(result, code.choose(is_it, constant(size, 1 << at), constant(size, 0)))
    return result


def _rank_of_mask(code: FunctionBuilder, bits: Scalar, item: t.Type) -> Scalar:
    # The canonical order is by size first, so a mask is not its own rank.
    masks = _subset_masks(item)
    if bits.known is not None:
        return word(masks.index(bits.known))
    result = word(0)
    for position, mask in enumerate(masks):
        result = code.choose(code.compare("eq", bits, constant(bits.bits, mask)), word(position), result)
    return result


def from_rank(code: FunctionBuilder, position: Scalar, type_: t.Type) -> Symbol:
    """The symbol of the value at a position, which must be in range."""
    if position.known is not None:
        return literal(universe(type_).value(position.known), type_)
    match kind(type_):
        case t.BoolType():
            return Flag(code.compare("ne", position, word(0)))
        case t.RangeType(low, high):
            return bounded(code.number("add", position, word(low)), low, high)
        case t.AtomType(sort):
            return bounded(position, 0, max(0, len(sort.elements) - 1))
        case t.RecordType(_, fields):
            return RecordSymbol(_unmixed(code, position, [field.type for field in fields]))
        case t.OptionType(item):
            some = code.compare("ne", position, word(0))
            before = code.choose(some, code.number("sub", position, word(1)), word(0))
            return Maybe(some, from_rank(code, before, item) if cardinality(item) else None)
        case t.EnumType(_, variants):
            return _variant_at(code, position, variants)
        case t.SeqType(item, capacity):
            return _sequence_at(code, position, item, capacity or 0)
        case t.MapType(key, value):
            images = _unmixed(code, position, [value] * cardinality(key))
            return TableSymbol(key, tuple((TRUE, image) for image in images))
        case t.SetType(item):
            return _mask_at(code, position, item)
        case _:
            raise UnsupportedError("sets of collections that are themselves not small")


def _unmixed(code: FunctionBuilder, position: Scalar, types: list[t.Type]) -> tuple[Symbol, ...]:
    parts: list[Symbol] = []
    for type_ in reversed(types):
        size = cardinality(type_)
        parts.append(from_rank(code, code.quotient(position, size, "urem"), type_))
        position = code.quotient(position, size)
    return tuple(reversed(parts))


def _variant_at(code: FunctionBuilder, position: Scalar, variants: tuple[t.VariantType, ...]) -> VariantSymbol:
    tag, offset, payloads = number(0), 0, []
    for index, variant in enumerate(variants):
        size = prod(cardinality(f.type) for f in variant.fields)
        reached = code.compare("sle", word(offset), position)
        # Variants are numbered one after the other; the last one that begins at or before the position is meant.
        tag = Number(code.choose(reached, word(index), tag.value), 0, index)
        inside = code.both(reached, code.compare("slt", position, word(offset + size)))
        local = code.choose(inside, code.number("sub", position, word(offset)), word(0))
        payloads.append(
            _unmixed(code, local, [f.type for f in variant.fields])
            # A variant with a field of an empty type has no values, and division by its size no meaning.
            if size
            else tuple(nothing(f.type) for f in variant.fields)
        )
        offset += size
    return VariantSymbol(tag, tuple(payloads))


def _sequence_at(code: FunctionBuilder, position: Scalar, item: t.Type, capacity: int) -> Sequence:
    size, length, local, offset = cardinality(item), number(0), word(0), 0
    for longer in range(1, capacity + 1):
        offset += size ** (longer - 1)
        reached = code.compare("sle", word(offset), position)
        length = Number(code.choose(reached, word(longer), length.value), 0, longer)
        local = code.choose(reached, code.number("sub", position, word(offset)), local)
    items = []
    for at in range(capacity if size else 0):
        digit = word(0)
        # The item is a digit of the rank among sequences of one length, which is known at run time.
        for longer in range(at + 1, capacity + 1):
            of_this = code.quotient(code.quotient(local, size ** (longer - 1 - at)), size, "urem")
            digit = code.choose(code.compare("eq", length.value, word(longer)), of_this, digit)
        items.append(from_rank(code, digit, item))
    return Sequence(length, tuple(items))


def _subset_masks(item: t.Type) -> list[int]:
    """The masks of all sets of a small type, in canonical order."""
    sets: list[Any] = list(universe(t.SetType(item)).values)
    return [sum(1 << universe(item).rank(x) for x in chosen) for chosen in sets]


def _mask_at(code: FunctionBuilder, position: Scalar, item: t.Type) -> Mask:
    size = cardinality(item)
    result = constant(size, 0)
    for index, mask in enumerate(_subset_masks(item)):
        result = code.choose(code.compare("eq", position, word(index)), constant(size, mask), result)
    return Mask(result, item, item.low if isinstance(item, t.RangeType) else 0)
