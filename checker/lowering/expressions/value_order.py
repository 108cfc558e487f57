"""The canonical order of symbols (``interpreter.values.value_order``), where it matters which of two elements comes
first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import assert_never

from assay.checker.lowering.llvm.function_builder import FALSE, TRUE, FunctionBuilder, Scalar, constant, word
from assay.checker.lowering.symbols import intervals as n
from assay.checker.lowering.symbols.merge import aligned, alike, bunch, count, pairs
from assay.checker.lowering.symbols.symbol import (
    Bag,
    Bunch,
    Flag,
    Mask,
    Maybe,
    Number,
    Pairs,
    RecordSymbol,
    Symbol,
    TableSymbol,
    VariantSymbol,
)
from assay.checker.lowering.symbols.symbol import Sequence as Row

Compared = tuple[Scalar, Scalar]
"""Whether the first comes before the second, and whether they are equal."""
Comparison = Callable[[], Compared]
Entry = tuple[Scalar, tuple[Symbol, ...]]


def precedes(code: FunctionBuilder, a: Symbol, b: Symbol) -> Scalar:
    """Whether one value comes before another of its type."""
    return compared(code, a, b)[0]


def compared(code: FunctionBuilder, a: Symbol, b: Symbol) -> Compared:
    """How two symbols of one type compare."""
    match a, b:
        case Flag(x), Flag(y):
            return code.both(code.invert(x), y), code.compare("eq", x, y)
        case Number(), Number():
            return n.less(code, a, b, equal=False), n.same(code, a, b)
        case RecordSymbol(xs), RecordSymbol(ys):
            return _each(code, xs, ys)
        case VariantSymbol(), VariantSymbol():
            return _variants(code, a, b)
        case Maybe(), Maybe():
            return _options(code, a, b)
        case Row(), Row():
            return _sequences(code, a, b)
        case Mask(), Mask() if alike(a, b):
            return _masks(code, a, b)
        case (
            (Mask() | Bunch() | TableSymbol() | Pairs() | Bag()),
            (Mask() | Bunch() | TableSymbol() | Pairs() | Bag()),
        ):
            return _collections(code, _entries(code, a), _entries(code, b))
        case _:
            raise AssertionError(f"two symbols of different types: {a} and {b}")


def _entries(code: FunctionBuilder, symbol: Mask | Bunch | TableSymbol | Pairs | Bag) -> list[Entry]:
    match symbol:
        case Mask() | Bunch():
            return [(there, (x,)) for there, x in bunch(code, symbol).items]
        case TableSymbol() | Pairs():
            return [(there, (key, value)) for there, key, value in pairs(code, symbol).items]
        case Bag(items):
            # The multiplicity orders bags with the same element, as the value does for maps.
            return [(code.compare("ne", times.value, word(0)), (x, times)) for times, x in items]
        case _:
            assert_never(symbol)


def _lexicographic(code: FunctionBuilder, parts: Sequence[Comparison]) -> Compared:
    before, equal = FALSE, TRUE
    for part in parts:
        # Later parts are not translated where an earlier one certainly differs.
        if equal.known == 0:
            break
        less, same = part()
        before, equal = code.either(before, code.both(equal, less)), code.both(equal, same)
    return before, equal


def _each(code: FunctionBuilder, xs: Sequence[Symbol], ys: Sequence[Symbol]) -> Compared:
    return _lexicographic(code, [lambda x=x, y=y: compared(code, x, y) for x, y in zip(xs, ys, strict=True)])  # type: ignore[misc]


def _variants(code: FunctionBuilder, a: VariantSymbol, b: VariantSymbol) -> Compared:
    before, equal = compared(code, a.tag, b.tag)
    inside, same = FALSE, TRUE
    for at, (xs, ys) in enumerate(zip(a.payloads, b.payloads, strict=True)):
        here = n.same(code, a.tag, n.number(at))
        # Payloads of the variant of `a` alone decide; of two variants the tags have decided before.
        less, alike = _each(code, xs, ys)
        inside = code.either(inside, code.both(here, less))
        same = code.both(same, code.either(code.invert(here), alike))
    return code.either(before, code.both(equal, inside)), code.both(equal, same)


def _options(code: FunctionBuilder, a: Maybe, b: Maybe) -> Compared:
    before, equal = compared(code, Flag(a.present), Flag(b.present))
    if a.item is None or b.item is None:
        return before, equal
    less, same = compared(code, a.item, b.item)
    both = code.both(a.present, b.present)
    return code.either(before, code.both(both, less)), code.both(equal, code.either(code.invert(both), same))


def _sequences(code: FunctionBuilder, a: Row, b: Row) -> Compared:
    def at(position: int, x: Symbol, y: Symbol) -> Compared:
        less, same = compared(code, x, y)
        behind = n.less(code, a.length, n.number(position), equal=True)
        return code.both(code.invert(behind), less), code.either(behind, same)

    items = [lambda at_=at_, x=x, y=y: at(at_, x, y) for at_, (x, y) in enumerate(zip(a.items, b.items, strict=False))]
    return _lexicographic(code, [lambda: compared(code, a.length, b.length), *items])


def _masks(code: FunctionBuilder, a: Mask, b: Mask) -> Compared:
    """Of two sets of one size, the one with the lowest element that the other lacks comes first."""
    x, y = aligned(code, a, b)
    width = x.bits.bits
    zero = constant(width, 0)
    before, equal = compared(code, count(code, a), count(code, b))
    if width == 0:
        return before, equal
    differing = code.number("xor", x.bits, y.bits)
    # x & -x is the lowest bit in which they differ; bits are in canonical order.
    lowest = code.both(differing, code.number("sub", zero, differing))
    first = code.compare("ne", code.both(x.bits, lowest), zero)
    return code.either(before, code.both(equal, first)), code.compare("eq", differing, zero)


def _collections(code: FunctionBuilder, left: list[Entry], right: list[Entry]) -> Compared:
    """By size; of one size, the collection with the least entry that the other lacks comes first."""
    before, as_many = compared(code, _size(code, left), _size(code, right))
    mine, others = _lacking(code, left, right), _lacking(code, right, left)
    first = FALSE
    for there, x in mine:
        # An entry comes first if it precedes each one that only the other collection has.
        least = [code.either(code.invert(also), _each(code, x, y)[0]) for also, y in others]
        first = code.either(first, code.both(there, code.all_of(least)))
    same = code.both(as_many, code.invert(code.any_of([there for there, _ in mine])))
    return code.either(before, code.both(as_many, first)), same


def _size(code: FunctionBuilder, entries: list[Entry]) -> Number:
    total = n.number(0)
    for there, _ in entries:
        total = n.add(code, total, n.from_flag(code, there))
    return total


def _lacking(code: FunctionBuilder, entries: list[Entry], others: list[Entry]) -> list[Entry]:
    """The entries that are not among the others."""
    return [
        (code.both(there, code.invert(code.any_of([code.both(also, _each(code, x, y)[1]) for also, y in others]))), x)
        for there, x in entries
    ]
