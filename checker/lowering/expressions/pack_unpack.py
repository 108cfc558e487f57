"""Reading symbols from the words of a row, and packing symbols into the words of a new row.

What a step leaves unchanged is recognised by identity (the very symbol that was read), and its bits are copied, not
packed again.
"""

from __future__ import annotations

from typing import assert_never

from assay.checker.layout.numbered_types import is_masked, is_small
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
from assay.checker.lowering.expressions.binder_elements import mask_like
from assay.checker.lowering.expressions.range_check import exceeds, fit
from assay.checker.lowering.llvm.function_builder import FALSE, TRUE, FunctionBuilder, Scalar, constant, word
from assay.checker.lowering.llvm.unsupported import SMALLER, UnsupportedError
from assay.checker.lowering.symbols.compact_slots import slot_codes
from assay.checker.lowering.symbols.intervals import bounded
from assay.checker.lowering.symbols.merge import aligned, bunch, holds, occurrences
from assay.checker.lowering.symbols.ranking import literal
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
    SlotCodes,
    Symbol,
    TableSymbol,
    VariantSymbol,
)
from assay.grammar.diagnostics.diagnostic import NOWHERE
from assay.grammar.kernel import types as t

LISTED = 512
"""The most possible elements of a set of collections."""


class RowWords:
    """The words of a row, as scalars."""

    def __init__(self, code: FunctionBuilder, words: list[Scalar]) -> None:
        self.code = code
        self.words = words

    def field(self, shift: int, width: int) -> Scalar:
        """The bits from ``shift`` on: a word if at most 64, else a mask of that width."""
        # A type with one value has no bits in the row.
        if width == 0:
            return word(0)
        # LLVM has integers of any width; a mask is one, however many words it takes.
        if width > WORD:
            return self._wide(shift, width)
        code, at, by = self.code, shift // WORD, shift % WORD
        value = code.right(self.words[at], word(by))
        # A field of at most 64 bits lies in two words at most.
        if by + width > WORD:
            value = code.either(value, code.left(self.words[at + 1], word(WORD - by)))
        # A field that ends with its word has nothing above it: the shift filled in zeros.
        return value if by + width == WORD else code.both(value, word((1 << width) - 1))

    def _wide(self, shift: int, width: int) -> Scalar:
        result = constant(width, 0)
        for offset in range(0, width, WORD):
            part = self.field(shift + offset, min(WORD, width - offset))
            result = self.code.either(result, self.code.left(self.code.resize(part, width), constant(width, offset)))
        return result

    def load(self, shape: Shape, shift: int) -> Symbol:
        """The symbol of a shape whose lowest bit is at ``shift``."""
        code = self.code
        match shape:
            case FlagShape():
                return Flag(code.resize(self.field(shift, 1), 1))
            case NumberShape(width, low, high):
                return bounded(code.number("add", self.field(shift, width), word(low)), low, high)
            case AtomShape(width, sort):
                return bounded(self.field(shift, width), 0, max(0, len(sort.elements) - 1))
            case EnumShape(_, tag, _, payloads):
                return self._variant(shift, tag, payloads)
            case RecordShape(_, fields):
                return RecordSymbol(tuple(self._at(shift, place) for place in fields))
            case OptionShape(width, item):
                # The presence is the highest bit, so that codes are ordered as values are: `none` first.
                return Maybe(code.resize(self.field(shift + width - 1, 1), 1), self._at(shift, item))
            case MaskShape(width, item, _):
                return self._mask(shift, width, item)
            case TableShape():
                return self._table(shift, shape)
            case CountsShape(_, item, capacity, stride):
                times = [
                    bounded(self.field(shift + at * stride, stride), 0, capacity) for at in range(universe(item).size)
                ]
                values = universe(item).values
                return Bag(tuple((n, literal(x, item)) for n, x in zip(times, values, strict=True)), ordered=True)
            case SlotsShape():
                return self._slots(shift, shape)
            case _:
                assert_never(shape)

    def _at(self, shift: int, place: BitRange) -> Symbol:
        return self.load(place.shape, shift + place.shift)

    def _variant(self, shift: int, tag: BitRange, payloads: tuple[tuple[BitRange, ...], ...]) -> VariantSymbol:
        which = self._at(shift, tag)
        assert isinstance(which, Number)
        # Payloads of variants lie in the same bits. If only one variant has any, its bits are its own.
        shared = sum(1 for payload in payloads if payload) > 1
        parts = []
        for position, payload in enumerate(payloads):
            here = self.code.compare("eq", which.value, word(position)) if shared else TRUE
            parts.append(tuple(self._guarded(here).load(place.shape, shift + place.shift) for place in payload))
        return VariantSymbol(which, tuple(parts))

    def _guarded(self, here: Scalar) -> RowWords:
        """This row, or zeros where the bits belong to another variant, whose numbers could be outside the interval."""
        return self if here is TRUE else _Masked(self, here)

    def _mask(self, shift: int, width: int, item: t.Type) -> Mask | Bunch:
        if not is_masked(item):
            return self._listed(shift, width, item)
        base = item.low if isinstance(item, t.RangeType) else 0
        bits = self.field(shift, width)
        return Mask(self.code.resize(bits, width) if width else constant(0, 0), item, base)

    def _listed(self, shift: int, width: int, item: t.Type) -> Bunch:
        """A set whose elements cannot be numbered by code: each possible element, with its bit."""
        if width > LISTED:
            many = f"a set of {width:,} possible elements that are collections, more than {LISTED}"
            raise UnsupportedError(many, NOWHERE, "give the set a capacity, `max n`: it has slots then", SMALLER)
        there = [self.code.resize(self.field(shift + at, 1), 1) for at in range(width)]
        return Bunch(
            tuple((p, literal(x, item)) for p, x in zip(there, universe(item).values, strict=True)), ordered=True
        )

    def _table(self, shift: int, shape: TableShape) -> TableSymbol:
        entries: list[tuple[Scalar, Symbol | None]] = []
        if not is_small(shape.key):
            size = universe(shape.key).size
            kind = "a total map" if not shape.partial else "a map without a capacity"
            what = f"{kind} whose {size:,} possible keys are collections"
            raise UnsupportedError(
                what, NOWHERE, "let the map be partial, with a capacity: `map[K, V, max n]`", SMALLER
            )
        for at in range(universe(shape.key).size):
            low = shift + at * shape.stride
            there = self.code.resize(self.field(low + shape.value.width, 1), 1) if shape.partial else TRUE
            entries.append((there, self.load(shape.value, low)))
        return TableSymbol(shape.key, tuple(entries))

    def _slots(self, shift: int, shape: SlotsShape) -> Symbol:
        length = self._at(shift, shape.length)
        assert isinstance(length, Number)
        lows = [shift + shape.shift(slot) for slot in range(shape.capacity)]
        there = [self.code.compare("slt", word(slot), length.value) for slot in range(shape.capacity)]
        match shape.kind:
            case "seq":
                return Sequence(length, tuple(self.load(shape.item, low) for low in lows))
            case "set":
                items = tuple((p, self.load(shape.item, low)) for p, low in zip(there, lows, strict=True))
                # Beside the symbols: these are the same bits, so common subexpressions make them free.
                codes = tuple(self.field(low, shape.item.width) for low in lows)
                return Bunch(
                    items, is_ordered(shape.item), SlotCodes(shape.item, shape.of, codes, tuple(there), _read, _code)
                )
            case "map":
                assert shape.value is not None
                width, value = shape.value.width, shape.value
                entries = (
                    (p, self.load(shape.item, low + width), self.load(value, low))
                    for p, low in zip(there, lows, strict=True)
                )
                return Pairs(tuple(entries), ordered=is_ordered(shape.item))
            case "bag":
                return self._bag(there, lows, shape)
            case _:
                assert_never(shape.kind)

    def _bag(self, there: list[Scalar], lows: list[int], shape: SlotsShape) -> Bag:
        """A bag: equal items are adjacent, and the first of a run counts for all of it."""
        code = self.code
        codes = [self.field(low, shape.item.width) for low in lows]
        items = []
        for at, low in enumerate(lows):
            equal = [code.both(there[other], code.compare("eq", codes[at], codes[other])) for other in range(len(lows))]
            # Later copies of an item count zero times, so the bag has each item once.
            first = code.both(there[at], code.invert(code.any_of(equal[:at])))
            total = word(0)
            for each in equal:
                total = code.number("add", total, code.resize(each, 64))
            items.append((bounded(code.choose(first, total, word(0)), 0, shape.capacity), self.load(shape.item, low)))
        return Bag(tuple(items), ordered=is_ordered(shape.item))


def _read(code: FunctionBuilder, words: list[Scalar], shape: Shape) -> Symbol:
    """The symbol of a shape whose code is in words."""
    return RowWords(code, words).load(shape, 0)


def _code(code: FunctionBuilder, symbol: Symbol, type_: t.Type, shape: Shape) -> tuple[Scalar, Scalar]:
    """Whether a symbol fits a type, and its code in the type's shape if it does."""
    fits, fitted = fit(code, symbol, type_)
    # A collection over its capacity has no code either; encoded, it would lose elements.
    fits = code.both(fits, code.invert(exceeds(code, fitted, type_, None)))
    return fits, (encode(code, fitted, shape) if fits.known != 0 else constant(_bits(shape.width), 0))


class _Masked(RowWords):
    """A row whose fields read as zero under a condition."""

    def __init__(self, row: RowWords, condition: Scalar) -> None:
        super().__init__(row.code, row.words)
        self._condition = condition

    def field(self, shift: int, width: int) -> Scalar:
        value = super().field(shift, width)
        return self.code.choose(self._condition, value, constant(value.bits, 0))


def is_ordered(shape: Shape) -> bool:
    """Whether codes of the shape are ordered as the values are."""
    match shape:
        case FlagShape() | NumberShape() | AtomShape():
            return True
        case EnumShape(_, _, _, payloads):
            return all(is_ordered(place.shape) for payload in payloads for place in payload)
        case RecordShape(_, fields):
            return all(is_ordered(place.shape) for place in fields)
        case OptionShape(_, item):
            return is_ordered(item.shape)
        # Collections are ordered by size before their elements, and their codes are not.
        case MaskShape() | TableShape() | CountsShape() | SlotsShape():
            return False
        case _:
            assert_never(shape)


class Packer:
    """Packs symbols into the words of a new row; what is never put is copied from the old row."""

    def __init__(self, old: RowWords, layout: RowLayout) -> None:
        self._old = old
        self._code = old.code
        self._parts: list[list[Scalar]] = [[] for _ in range(layout.words)]
        self._written = [0] * layout.words

    def words(self) -> list[Scalar]:
        """The words of the new row."""
        result = []
        for old, parts, written in zip(self._old.words, self._parts, self._written, strict=True):
            # All old bits of a word are cleared at once, however many fields of it are written.
            value = self._code.both(old, word(((1 << WORD) - 1) ^ written)) if written else old
            for part in parts:
                value = self._code.either(value, part)
            result.append(value)
        return result

    def put(self, symbol: Symbol, old: Symbol | None, shape: Shape, shift: int) -> None:
        """Pack a symbol where ``old`` (None: unknown) was read from; nothing is done if they are the same object."""
        if symbol is old:
            return
        match shape, symbol:
            case RecordShape(_, fields), RecordSymbol(parts):
                before = old.fields if isinstance(old, RecordSymbol) else (None,) * len(parts)
                for place, part, was in zip(fields, parts, before, strict=True):
                    self.put(part, was, place.shape, shift + place.shift)
            case TableShape(partial=False), TableSymbol(_, entries):
                was_entries = old.entries if isinstance(old, TableSymbol) else ((FALSE, None),) * len(entries)
                for at, ((_, value), (_, was)) in enumerate(zip(entries, was_entries, strict=True)):
                    assert value is not None
                    self.put(value, was, shape.value, shift + at * shape.stride)
            case SlotsShape(), _:
                # Slot by slot: LLVM takes long for operations on numbers of thousands of bits.
                length, codes = slot_codes(self._code, symbol, shape, encode)
                self._write(length, shape.length.shape.width, shift + shape.length.shift)
                for slot, each in enumerate(codes):
                    self._write(each, shape.stride, shift + shape.shift(slot))
            case _:
                self._write(encode(self._code, symbol, shape), shape.width, shift)

    def _write(self, bits: Scalar, width: int, shift: int) -> None:
        # The same scalar, not an equal value: it was read from these very bits.
        if width == 0 or bits == self._old.field(shift, width):
            return
        for offset in range(0, width, WORD):
            part = bits
            if width > WORD:
                part = self._code.resize(self._code.right(bits, constant(width, offset)), WORD)
            self._write_word(part, min(WORD, width - offset), shift + offset)

    def _write_word(self, bits: Scalar, width: int, shift: int) -> None:
        at, by = shift // WORD, shift % WORD
        ones = (1 << width) - 1
        self._parts[at].append(self._code.left(bits, word(by)))
        self._written[at] |= (ones << by) & ((1 << WORD) - 1)
        if by + width > WORD:
            self._parts[at + 1].append(self._code.right(bits, word(WORD - by)))
            self._written[at + 1] |= ones >> (WORD - by)


def encode(code: FunctionBuilder, symbol: Symbol, shape: Shape) -> Scalar:
    """The code of a symbol: a word if it has at most 64 bits, else a mask of its width. The symbol must fit
    the shape."""
    match shape, symbol:
        case FlagShape(), Flag(value):
            return code.resize(value, WORD)
        case NumberShape(_, low, _), Number(value):
            return code.number("sub", value, word(low))
        case AtomShape(), Number(value):
            return value
        case RecordShape(width, fields), RecordSymbol(parts):
            return _side_by_side(code, parts, fields, width)
        case EnumShape(), VariantSymbol():
            return _variant(code, symbol, shape)
        case OptionShape(width, item), Maybe(present, inner):
            # Above the item, as `load` reads it.
            there = _shifted(code, code.resize(present, WORD), width - 1, width)
            if inner is None:
                return there
            value = _shifted(code, encode(code, inner, item.shape), 0, width)
            # Bits of an absent value are zero: rows are compared and hashed as words, so one value must have one code.
            return code.either(there, code.choose(present, value, constant(value.bits, 0)))
        case MaskShape(width, item, _), (Mask() | Bunch()):
            return code.resize(_mask_of(code, symbol, item, width), _bits(width))
        case TableShape(), TableSymbol(_, entries):
            return _table(code, entries, shape)
        case TableShape(), Pairs():
            # Its keys are collections, which have no numbers by which a table could be made.
            raise UnsupportedError("a map whose keys are collections")
        case CountsShape(), Bag():
            return _counts(code, symbol, shape)
        case SlotsShape(), _:
            return _slots(code, symbol, shape)
        case _:
            raise AssertionError(f"a symbol that does not have the shape {shape}")


def _mask_of(code: FunctionBuilder, symbol: Mask | Bunch, item: t.Type, width: int) -> Scalar:
    base = item.low if isinstance(item, t.RangeType) else 0
    if not is_masked(item):
        result = constant(width, 0)
        for at, value in enumerate(universe(item).values):
            there = holds(code, symbol, literal(value, item))
            result = code.either(result, code.choose(there, constant(width, 1 << at), constant(width, 0)))
        return result
    if (
        isinstance(symbol, Mask)
        and symbol.base == base
        and symbol.bits.bits == width
        and (is_small(item) or symbol.item == item)
    ):
        return symbol.bits
    if not is_small(item):  # nothing is stored that does not fit, so every element has its number
        return mask_like(
            code, bunch(code, symbol) if isinstance(symbol, Mask) else symbol, Mask(constant(width, 0), item)
        ).bits
    empty = Mask(constant(width, 0), item, base)
    return aligned(code, mask_like(code, symbol, empty), empty)[0].bits


def _counts(code: FunctionBuilder, symbol: Bag, shape: CountsShape) -> Scalar:
    result = constant(_bits(shape.width), 0)
    for at, value in enumerate(universe(shape.item).values):
        times = occurrences(code, symbol, literal(value, shape.item))
        result = code.either(result, _shifted(code, times.value, at * shape.stride, shape.width))
    return result


def _bits(width: int) -> int:
    return max(WORD, width)


def _shifted(code: FunctionBuilder, bits: Scalar, by: int, width: int) -> Scalar:
    return code.left(code.resize(bits, _bits(width)), constant(_bits(width), by))


def _side_by_side(code: FunctionBuilder, parts: tuple[Symbol, ...], places: tuple[BitRange, ...], width: int) -> Scalar:
    result = constant(_bits(width), 0)
    for part, place in zip(parts, places, strict=True):
        if place.shape.width:
            result = code.either(result, _shifted(code, encode(code, part, place.shape), place.shift, width))
    return result


def _variant(code: FunctionBuilder, symbol: VariantSymbol, shape: EnumShape) -> Scalar:
    payload = constant(_bits(shape.width), 0)
    for position, (parts, places) in enumerate(zip(symbol.payloads, shape.payloads, strict=True)):
        here = code.compare("eq", symbol.tag.value, word(position))
        # Payloads lie in the same bits, so the one of the variant is chosen, not all of them combined.
        if places and here.known != 0:
            payload = code.choose(here, _side_by_side(code, parts, places, shape.width), payload)
            continue
    # A variant without payload leaves zeros, as an absent option does.
    known = [at for at, places in enumerate(shape.payloads) if places]
    has = code.any_of([code.compare("eq", symbol.tag.value, word(at)) for at in known])
    payload = code.choose(has, payload, constant(payload.bits, 0))
    return code.either(payload, _shifted(code, symbol.tag.value, shape.tag.shift, shape.width))


def _table(code: FunctionBuilder, entries: tuple[tuple[Scalar, Symbol | None], ...], shape: TableShape) -> Scalar:
    result = constant(_bits(shape.width), 0)
    for at, (there, value) in enumerate(entries):
        if value is None:
            continue
        entry = _shifted(code, encode(code, value, shape.value), at * shape.stride, shape.width)
        if shape.partial:
            present = _shifted(code, code.resize(there, WORD), at * shape.stride + shape.value.width, shape.width)
            entry = code.either(code.choose(there, entry, constant(entry.bits, 0)), present)
        result = code.either(result, entry)
    return result


def _slots(code: FunctionBuilder, symbol: Symbol, shape: SlotsShape) -> Scalar:
    length, codes = slot_codes(code, symbol, shape, encode)
    result = _shifted(code, length, shape.length.shift, shape.width)
    for slot, each in enumerate(codes):
        result = code.either(result, _shifted(code, each, shape.shift(slot), shape.width))
    return result
