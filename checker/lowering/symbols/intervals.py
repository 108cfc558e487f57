"""Integers with intervals: every operation computes the smallest and the largest result, so that no word can
overflow."""

from __future__ import annotations

from functools import lru_cache

from assay.checker.lowering.llvm.function_builder import FALSE, TRUE, FunctionBuilder, Scalar, word
from assay.checker.lowering.llvm.unsupported import UnsupportedError
from assay.checker.lowering.symbols.symbol import Number

LIMIT = 1 << 62
"""Intervals beyond this are refused: half of what a signed word holds, so that sums of two never wrap."""


def bounded(value: Scalar, low: int, high: int) -> Number:
    """A number with its interval, a constant if the interval has one value. Refuses an interval that a word cannot
    hold."""
    if low < -LIMIT or high > LIMIT:
        raise UnsupportedError("integers of more than 62 bits")
    return number(low) if low == high else Number(value, low, high)


@lru_cache(maxsize=4096)
def number(value: int) -> Number:
    """A constant."""
    if abs(value) > LIMIT:
        raise UnsupportedError("integers of more than 62 bits")
    return Number(word(value), value, value)


def add(code: FunctionBuilder, a: Number, b: Number) -> Number:
    """The sum."""
    return bounded(code.number("add", a.value, b.value), a.low + b.low, a.high + b.high)


def subtract(code: FunctionBuilder, a: Number, b: Number) -> Number:
    """The difference."""
    return bounded(code.number("sub", a.value, b.value), a.low - b.high, a.high - b.low)


def multiply(code: FunctionBuilder, a: Number, b: Number) -> Number:
    """The product."""
    corners = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    low, high = min(corners), max(corners)
    # Before the instruction is written: the product itself may not fit in a word.
    if low < -LIMIT or high > LIMIT:
        raise UnsupportedError("integers of more than 62 bits")
    return bounded(code.number("mul", a.value, b.value), low, high)


def divide(code: FunctionBuilder, a: Number, b: Number) -> tuple[Number, Number]:
    """Quotient and remainder, both rounded down; a zero divisor counts as one, so that no division traps."""
    # LLVM's division by zero is undefined behaviour, also where its result is not used.
    by = b.value if b.low > 0 or b.high < 0 else code.choose(code.compare("eq", b.value, word(0)), word(1), b.value)
    if a.value.known is not None and by.known is not None:
        return number(a.value.known // by.known), number(a.value.known % by.known)
    most = max(abs(a.low), abs(a.high)) + 1
    quotient, remainder = code.divided("sdiv", a.value, by), code.divided("srem", a.value, by)
    low, high = min(0, b.low + 1), max(0, b.high - 1)
    # LLVM rounds quotients towards zero; the language rounds down, as Python does.
    if a.low < 0 or b.low < 0:
        differ = code.compare("slt", code.number("xor", remainder, by), word(0))
        off = code.both(code.compare("ne", remainder, word(0)), differ)
        quotient = code.choose(off, code.number("sub", quotient, word(1)), quotient)
        remainder = code.choose(off, code.number("add", remainder, by), remainder)
        return bounded(quotient, -most, most), bounded(remainder, low, high)
    return bounded(quotient, 0, most), bounded(remainder, low, high)


def less(code: FunctionBuilder, a: Number, b: Number, *, equal: bool) -> Scalar:
    """Whether ``a < b``, or ``a <= b``; a constant if the intervals do not overlap."""
    if a.high < b.low or (equal and a.high <= b.low):
        return TRUE
    if a.low > b.high or (not equal and a.low >= b.high):
        return FALSE
    return code.compare("sle" if equal else "slt", a.value, b.value)


def same(code: FunctionBuilder, a: Number, b: Number) -> Scalar:
    """Whether ``a == b``."""
    if a.high < b.low or a.low > b.high:
        return FALSE
    return code.compare("eq", a.value, b.value)


def within(code: FunctionBuilder, a: Number, low: int, high: int) -> Scalar:
    """Whether ``low <= a <= high``."""
    if low <= a.low and a.high <= high:
        return TRUE
    return code.both(less(code, number(low), a, equal=True), less(code, a, number(high), equal=True))


def clamp(code: FunctionBuilder, a: Number, low: int, high: int) -> Number:
    """The number if it is in ``low .. high``, else ``low``; ``high`` must not be less than ``low``."""
    if low <= a.low and a.high <= high:
        return a
    return bounded(code.choose(within(code, a, low, high), a.value, word(low)), low, high)


def smaller(code: FunctionBuilder, a: Number, b: Number) -> Number:
    """The minimum."""
    chosen = code.choose(less(code, a, b, equal=True), a.value, b.value)
    return bounded(chosen, min(a.low, b.low), min(a.high, b.high))


def larger(code: FunctionBuilder, a: Number, b: Number) -> Number:
    """The maximum."""
    chosen = code.choose(less(code, a, b, equal=True), b.value, a.value)
    return bounded(chosen, max(a.low, b.low), max(a.high, b.high))


def pick(code: FunctionBuilder, condition: Scalar, yes: Number, no: Number) -> Number:
    """One of two numbers."""
    if condition.known is not None:
        return yes if condition.known else no
    return bounded(code.choose(condition, yes.value, no.value), min(yes.low, no.low), max(yes.high, no.high))


def from_flag(code: FunctionBuilder, condition: Scalar) -> Number:
    """One or zero."""
    return bounded(code.resize(condition, 64), 0, 1)
