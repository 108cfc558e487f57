"""Collections in few slots: their elements in the order of their codes, without gaps."""

from __future__ import annotations

from collections.abc import Callable

from assay.checker.layout.row import WORD
from assay.checker.layout.shape import Shape, SlotsShape
from assay.checker.lowering.llvm.function_builder import FunctionBuilder, Scalar, constant, word
from assay.checker.lowering.symbols.merge import bunch, pairs
from assay.checker.lowering.symbols.symbol import Bag, Bunch, Mask, Pairs, Sequence, SlotCodes, Symbol, TableSymbol

MOVED = 8
"""The most values between which gaps are closed in registers, not in memory."""
FEW = 8
"""The most new items that are put between slots one by one."""
Encode = Callable[[FunctionBuilder, Symbol, Shape], Scalar]


def slot_codes(code: FunctionBuilder, symbol: Symbol, shape: SlotsShape, encode: Encode) -> tuple[Scalar, list[Scalar]]:
    """The length of a collection and the codes of its slots; those behind the length are zero. It must not exceed the
    capacity."""
    match symbol:
        case Mask():
            return slot_codes(code, bunch(code, symbol), shape, encode)
        case TableSymbol():
            return slot_codes(code, pairs(code, symbol), shape, encode)
        case Sequence(length, items):
            return length.value, _in_place(
                code, length.value, [encode(code, x, shape.item) for x in items[: shape.capacity]], shape
            )
        case Bunch(items, _, codes) if codes is not None and codes.shape == shape.item:
            return _extended(code, symbol, codes, shape, encode)
        case Bunch(items):
            return _sorted(code, [(code.resize(p, 64), encode(code, x, shape.item)) for p, x in items], shape)
        case Bag(items):
            return _sorted(code, [(times.value, encode(code, x, shape.item)) for times, x in items], shape)
        case Pairs(entries):
            assert shape.value is not None
            joined = [
                (
                    code.resize(there, 64),
                    _side_by_side(code, encode(code, key, shape.item), encode(code, value, shape.value), shape),
                )
                for there, key, value in entries
            ]
            return _sorted(code, joined, shape)
        case _:
            raise AssertionError(f"{symbol} has no slots")


def _side_by_side(code: FunctionBuilder, key: Scalar, value: Scalar, shape: SlotsShape) -> Scalar:
    assert shape.value is not None
    # A key of a type with one value has no bits: the code is that of the value alone.
    if not shape.item.width:
        return value
    bits = max(WORD, shape.stride)
    shifted = code.left(code.resize(key, bits), constant(bits, shape.value.width))
    return code.either(shifted, code.resize(value, bits))


def _in_place(code: FunctionBuilder, length: Scalar, codes: list[Scalar], shape: SlotsShape) -> list[Scalar]:
    kept = [
        code.choose(code.compare("slt", word(at), length), each, constant(each.bits, 0))
        for at, each in enumerate(codes)
    ]
    return kept + [word(0)] * (shape.capacity - len(kept))


def _extended(
    code: FunctionBuilder, symbol: Bunch, known: SlotCodes, shape: SlotsShape, encode: Encode
) -> tuple[Scalar, list[Scalar]]:
    """Slots as they were, without gaps, with the other items put between them; many of these are all sorted anew."""
    begun = len(known.values)
    there, others = [p for p, _ in symbol.items[:begun]], symbol.items[begun:]
    # Each insertion goes over all slots; from some number on, one sort is less code.
    if len(others) > FEW:
        counted = [(code.resize(p, 64), each) for p, each in zip(there, known.values, strict=True)]
        counted += [(code.resize(p, 64), encode(code, x, shape.item)) for p, x in others]
        return _sorted(code, counted, shape)
    bits = max(WORD, shape.stride)
    slots = [code.resize(each, bits) for each in known.values]
    length = word(0)
    for each in there:
        length = code.number("add", length, code.resize(each, 64))
    # Otherwise nothing was taken out since the slots were read, so they have no gaps.
    if tuple(there) != known.there:
        slots = (_moved_up if code.has_memory and len(slots) > MOVED else _without_gaps)(code, there, slots)
    for present, item in others:
        slots = _put_between(code, slots, length, present, code.resize(encode(code, item, shape.item), bits))
        length = code.number("add", length, code.resize(present, 64))
    return length, _in_place(code, length, slots[: shape.capacity], shape)


def _moved_up(code: FunctionBuilder, there: list[Scalar], values: list[Scalar]) -> list[Scalar]:
    """As ``_without_gaps``, through the stack: each value is stored behind the present ones before it."""
    words = values[0].bits // WORD + (values[0].bits % WORD > 0)
    # One place for each value: even if all are present, the last one has its own.
    address, zero = code.reserve(len(values) * words), constant(WORD, 0)

    def place(slot: Scalar) -> Scalar:
        return code.fresh(WORD, f"getelementptr [{words} x i64], ptr {address}, {slot.typed}")

    for at in range(len(values)):
        _store(code, place(word(at)), [zero] * words)
    before = word(0)
    for present, value in zip(there, values, strict=True):
        _store(code, place(before), _parts(code, value, words))
        before = code.number("add", before, code.resize(present, WORD))
    # What is stored last may be absent: it lies behind the present ones, where nothing counts.
    return [_loaded(code, place(word(at)), values[0].bits, words) for at in range(len(values))]


def _parts(code: FunctionBuilder, value: Scalar, words: int) -> list[Scalar]:
    return [
        code.resize(code.right(value, constant(value.bits, WORD * at)) if at else value, WORD) for at in range(words)
    ]


def _store(code: FunctionBuilder, place: Scalar, parts: list[Scalar]) -> None:
    for at, part in enumerate(parts):
        there = code.fresh(WORD, f"getelementptr i64, ptr {place.text}, i64 {at}")
        code.do(f"store {part.typed}, ptr {there.text}")


def _loaded(code: FunctionBuilder, place: Scalar, bits: int, words: int) -> Scalar:
    result = constant(bits, 0)
    for at in range(words):
        there = code.fresh(WORD, f"getelementptr i64, ptr {place.text}, i64 {at}")
        part = code.fresh(WORD, f"load i64, ptr {there.text}")
        result = code.either(result, code.left(code.resize(part, bits), constant(bits, WORD * at)))
    return result


def _without_gaps(code: FunctionBuilder, there: list[Scalar], values: list[Scalar]) -> list[Scalar]:
    """The values that are there moved to the front, in their order. Each moves by as many places as there are gaps
    before it, in steps of one, two, four … (Warren, Hacker's Delight, 2012, section 7-4)."""
    gaps, before = [], word(0)
    for each in there:
        gaps.append(before)
        before = code.number("add", before, code.resize(code.invert(each), 64))
    by = 1
    while by < len(values):
        moved = [
            code.both(p, code.compare("ne", code.both(gap, word(by)), word(0)))
            for p, gap in zip(there, gaps, strict=True)
        ]
        for at in range(len(values)):
            stays = code.both(there[at], code.invert(moved[at]))
            if at + by < len(values):
                comes = moved[at + by]
                values[at] = code.choose(comes, values[at + by], values[at])
                gaps[at] = code.choose(comes, gaps[at + by], gaps[at])
                stays = code.either(stays, comes)
            there[at] = stays
        by *= 2
    return values


def _put_between(
    code: FunctionBuilder, slots: list[Scalar], length: Scalar, present: Scalar, new: Scalar
) -> list[Scalar]:
    """The slots, of which the first ``length`` count, with a new value at its place, if it is present."""
    before = [
        code.both(code.compare("slt", word(at), length), code.compare("ugt", new, each))
        for at, each in enumerate(slots)
    ]
    # At and behind its place: the new value, or the slot before, which moves up by one.
    moved = [new if at == 0 else code.choose(before[at - 1], new, slots[at - 1]) for at in range(len(slots) + 1)]
    result = [
        code.choose(code.either(before[at], code.invert(present)), each, moved[at]) for at, each in enumerate(slots)
    ]
    return [*result, moved[-1]]


def _sorted(
    code: FunctionBuilder, counted: list[tuple[Scalar, Scalar]], shape: SlotsShape
) -> tuple[Scalar, list[Scalar]]:
    """Rank sort without branches: each element goes behind all smaller ones, into as many slots as it occurs
    times."""
    total = word(0)
    slots = [constant(max(WORD, shape.stride), 0)] * shape.capacity
    for times, each in counted:
        total = code.number("add", total, times)
        before = word(0)
        for also, other in counted:
            # Present items are distinct, so their codes differ; an absent one occurs zero times and moves nothing.
            if other is not each:
                smaller = code.compare("ugt", each, other)
                before = code.number("add", before, code.choose(smaller, also, word(0)))
        end = code.number("add", before, times)
        for slot in range(shape.capacity):
            here = code.both(code.compare("sle", before, word(slot)), code.compare("slt", word(slot), end))
            slots[slot] = code.choose(here, each, slots[slot])
    return total, slots
