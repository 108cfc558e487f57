"""Collections in few slots: their elements in the order of their codes, without gaps."""

from __future__ import annotations

from collections.abc import Callable

from assay.checker.layout.row import WORD
from assay.checker.layout.shape import Shape, SlotsShape
from assay.checker.native.llvm.function_builder import FunctionBuilder, Scalar, constant, word
from assay.checker.native.symbols.merge import bunch, pairs
from assay.checker.native.symbols.symbol import Bag, Bunch, Mask, Pairs, Sequence, Symbol, TableSymbol

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
            if other is not each:
                smaller = code.compare("ugt", each, other)
                before = code.number("add", before, code.choose(smaller, also, word(0)))
        end = code.number("add", before, times)
        for slot in range(shape.capacity):
            here = code.both(code.compare("sle", before, word(slot)), code.compare("slt", word(slot), end))
            slots[slot] = code.choose(here, each, slots[slot])
    return total, slots
