"""Two symbols of one type: chosen between, compared, and collections brought to a common form first."""

from __future__ import annotations

from assay.checker.layout.numbered_types import is_small
from assay.checker.layout.value_numbering import universe
from assay.checker.lowering.llvm.function_builder import FALSE, TRUE, FunctionBuilder, Scalar, constant, word
from assay.checker.lowering.llvm.unsupported import UnsupportedError
from assay.checker.lowering.symbols import intervals as n
from assay.checker.lowering.symbols.ranking import from_rank, rank, surely
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
from assay.grammar.kernel import types as t

Item = tuple[Scalar, Symbol]


def choose(code: FunctionBuilder, condition: Scalar, yes: Symbol, no: Symbol) -> Symbol:
    """``yes`` or ``no``."""
    if condition.known is not None:
        return yes if condition.known else no
    # The very same object comes back, so who packs the row sees that nothing was changed here.
    if yes is no:
        return yes
    match yes, no:
        case Flag(a), Flag(b):
            return Flag(code.choose(condition, a, b))
        case Number(), Number():
            return n.pick(code, condition, yes, no)
        case RecordSymbol(a), RecordSymbol(b):
            return RecordSymbol(_choose_each(code, condition, a, b))
        case VariantSymbol(), VariantSymbol():
            payloads = [_choose_each(code, condition, a, b) for a, b in zip(yes.payloads, no.payloads, strict=True)]
            return VariantSymbol(n.pick(code, condition, yes.tag, no.tag), tuple(payloads))
        case Maybe(), Maybe():
            return Maybe(
                code.choose(condition, yes.present, no.present), _choose_item(code, condition, yes.item, no.item)
            )
        # Tables over other keys, such as two ranges, have other positions; they are compared as pairs below.
        case TableSymbol(key, a), TableSymbol(other, b) if key == other:
            entries = [
                (code.choose(condition, p, q), _choose_item(code, condition, x, y))
                for (p, x), (q, y) in zip(a, b, strict=True)
            ]
            return TableSymbol(key, tuple(entries))
        case Sequence(), Sequence():
            return _choose_sequence(code, condition, yes, no)
        case Bag(), Bag():
            there, otherwise = condition, code.invert(condition)
            zero = n.number(0)
            left = [(n.pick(code, there, times, zero), item) for times, item in yes.items]
            right = [(n.pick(code, otherwise, times, zero), item) for times, item in no.items]
            return _joined_bag(code, left, right)
        case ((Mask() | Bunch()), (Mask() | Bunch())):
            return _choose_set(code, condition, yes, no)
        case ((TableSymbol() | Pairs()), (TableSymbol() | Pairs())):
            return _choose_pairs(code, condition, pairs(code, yes), pairs(code, no))
        case _:
            raise AssertionError(f"two symbols of different types: {yes} and {no}")


def _choose_each(
    code: FunctionBuilder, condition: Scalar, a: tuple[Symbol, ...], b: tuple[Symbol, ...]
) -> tuple[Symbol, ...]:
    return tuple(choose(code, condition, x, y) for x, y in zip(a, b, strict=True))


def _choose_item(code: FunctionBuilder, condition: Scalar, a: Symbol | None, b: Symbol | None) -> Symbol | None:
    if a is None or b is None:
        # Without an item a side is absent whenever it is chosen, so the other side's item serves both.
        return a if b is None else b
    return choose(code, condition, a, b)


def _choose_sequence(code: FunctionBuilder, condition: Scalar, a: Sequence, b: Sequence) -> Sequence:
    longest = max(len(a.items), len(b.items))
    items = []
    for at in range(longest):
        if at < len(a.items) and at < len(b.items):
            items.append(choose(code, condition, a.items[at], b.items[at]))
        else:
            items.append(a.items[at] if at < len(a.items) else b.items[at])
    return Sequence(n.pick(code, condition, a.length, b.length), tuple(items))


def _choose_set(code: FunctionBuilder, condition: Scalar, yes: Mask | Bunch, no: Mask | Bunch) -> Symbol:
    if isinstance(yes, Mask) and isinstance(no, Mask) and alike(yes, no):
        a, b = aligned(code, yes, no)
        return Mask(code.choose(condition, a.bits, b.bits), a.item, a.base)
    otherwise = code.invert(condition)
    # By identity: both come from one set in the state, so their first items are the same slots.
    if isinstance(yes, Bunch) and isinstance(no, Bunch) and yes.codes is not None and yes.codes is no.codes:
        return _choose_extended(code, condition, yes, no)
    left = [(code.both(condition, there), item) for there, item in bunch(code, yes).items]
    right = [(code.both(otherwise, there), item) for there, item in bunch(code, no).items]
    return Bunch(tuple(joined(code, left, right)), ordered=False)


def _choose_extended(code: FunctionBuilder, condition: Scalar, yes: Bunch, no: Bunch) -> Bunch:
    """Of two sets that begin with the same slots: these stay where they are."""
    assert yes.codes is not None
    begun, otherwise = len(yes.codes.values), code.invert(condition)
    both = zip(yes.items[:begun], no.items[:begun], strict=True)
    items = [(code.choose(condition, p, q), item) for (p, item), (q, _) in both]
    left = [(code.both(condition, there), item) for there, item in yes.items[begun:]]
    right = [(code.both(otherwise, there), item) for there, item in no.items[begun:]]
    return Bunch((*items, *joined(code, left, right)), False, yes.codes)


def _choose_pairs(code: FunctionBuilder, condition: Scalar, yes: Pairs, no: Pairs) -> Symbol:
    otherwise = code.invert(condition)
    left = [(code.both(condition, there), k, v) for there, k, v in yes.items]
    right = [(code.both(otherwise, there), k, v) for there, k, v in no.items]
    # A key may occur on both sides. No two of these are ever present together.
    return Pairs((*left, *right), ordered=False)


def equals(code: FunctionBuilder, symbol: Bunch, item: Symbol) -> list[Scalar]:
    """For each item of a set whether it equals another. Items from slots are compared by their codes."""
    known = 0 if symbol.codes is None else len(symbol.codes.values)
    result = []
    if symbol.codes is not None and known:
        fits, written = symbol.codes.write(code, item, symbol.codes.of, symbol.codes.shape)
        # One comparison of codes for each slot; comparing values would compare every part.
        result = [code.both(fits, code.compare("eq", each, written)) for each in symbol.codes.values]
    return [*result, *(same(code, item, other) for _, other in symbol.items[known:])]


def joined(code: FunctionBuilder, left: list[Item], right: list[Item], codes: SlotCodes | None = None) -> list[Item]:
    """The union of two lists of distinct items, distinct again: an item on the left hides its equal on the right. The
    first items on the left may have codes."""
    result, whole = list(left), Bunch(tuple(left), False, codes)
    for there, item in right:
        hidden = [code.both(also, here) for (also, _), here in zip(left, equals(code, whole, item), strict=True)]
        remains = code.both(there, code.invert(code.any_of(hidden)))
        if remains.known != 0:
            result.append((remains, item))
    return result


def distinct(code: FunctionBuilder, items: list[Item]) -> list[Item]:
    """The items without repetitions: the first of equal ones stays."""
    result: list[Item] = []
    for each in items:
        result = joined(code, result, [each])
    return result


def _joined_bag(code: FunctionBuilder, left: list[tuple[Number, Symbol]], right: list[tuple[Number, Symbol]]) -> Bag:
    result = list(left)
    for times, item in right:
        equals = [(at, same(code, item, other)) for at, (_, other) in enumerate(left)]
        remaining = times
        # Entries that are surely equal come last: such a one takes whatever remains.
        for at, equal in sorted(equals, key=lambda each: each[1].known is not None):
            if equal.known == 0:
                continue
            count, other = result[at]
            # An entry with count zero may equal another with a positive count. Only one that is surely the item may
            # therefore grow from zero, or the item would be counted twice.
            here = TRUE if equal.known else code.both(equal, code.compare("ne", count.value, word(0)))
            result[at] = (n.add(code, count, n.pick(code, here, remaining, n.number(0))), other)
            remaining = n.pick(code, here, n.number(0), remaining)
        if remaining.high > 0:
            result.append((remaining, item))
    return Bag(tuple(result), ordered=False)


def add_bags(code: FunctionBuilder, left: Bag, right: Bag) -> Bag:
    """The sum of two bags."""
    return _joined_bag(code, list(left.items), list(right.items))


def alike(a: Mask, b: Mask) -> bool:
    """Whether the bits of both masks stand for the same elements, but for a shift: sequences in them must have the same
    capacity."""
    return is_small(a.item) or a.item == b.item


def aligned(code: FunctionBuilder, a: Mask, b: Mask) -> tuple[Mask, Mask]:
    """The same sets over the same possible elements: masks of integers may differ in base and width."""
    low, high = min(a.base, b.base), max(a.base + a.bits.bits, b.base + b.bits.bits)
    return _moved(code, a, low, high), _moved(code, b, low, high)


def _moved(code: FunctionBuilder, mask: Mask, low: int, high: int) -> Mask:
    # The very same mask, so that equal sets are the same text.
    if mask.base == low and mask.bits.bits == high - low:
        return mask
    # As `MASK_LIMIT`: LLVM takes long for wider integers.
    if high - low > 512:
        raise UnsupportedError("sets of integers that lie more than 512 apart")
    if mask.bits.bits == 0:
        return Mask(constant(high - low, 0), mask.item, low)
    wide = code.resize(mask.bits, high - low)
    return Mask(code.left(wide, constant(high - low, mask.base - low)), mask.item, low)


def element(code: FunctionBuilder, mask: Mask, position: int) -> Symbol:
    """The possible element of a bit of a mask."""
    if isinstance(mask.item, t.IntType | t.RangeType):
        return n.number(mask.base + position)
    return from_rank(code, word(position), mask.item)


def bit(code: FunctionBuilder, bits: Scalar, position: int) -> Scalar:
    """One bit of a mask as a condition."""
    if bits.bits == 1:
        return bits
    result = code.resize(code.right(bits, constant(bits.bits, position)), 1)
    if result.known is None:
        # `binder_elements._union` puts bits that kept their places back by one operation on the whole mask.
        code.bits_of_masks[result.text] = bits, position
    return result


def bunch(code: FunctionBuilder, symbol: Symbol) -> Bunch:
    """A set as a list of items."""
    if isinstance(symbol, Mask):
        width = symbol.bits.bits
        items = [(bit(code, symbol.bits, at), element(code, symbol, at)) for at in range(width)]
        return Bunch(tuple(item for item in items if item[0].known != 0), ordered=True)
    assert isinstance(symbol, Bunch)
    return symbol


def pairs(code: FunctionBuilder, symbol: Symbol) -> Pairs:
    """A map as a list of keys and values."""
    if isinstance(symbol, TableSymbol):
        keys = [from_rank(code, word(at), symbol.key) for at in range(universe(symbol.key).size)]
        items = [
            (there, key, value) for key, (there, value) in zip(keys, symbol.entries, strict=True) if value is not None
        ]
        return Pairs(tuple(items), ordered=True)
    assert isinstance(symbol, Pairs)
    return symbol


def holds(code: FunctionBuilder, symbol: Symbol, item: Symbol) -> Scalar:
    """Whether a set has the item."""
    if isinstance(symbol, Bunch):
        found = zip(symbol.items, equals(code, symbol, item), strict=True)
        return code.any_of([code.both(there, here) for (there, _), here in found])
    assert isinstance(symbol, Mask)
    # A sequence that is too long has no number; its rank would be that of another value.
    if not is_small(symbol.item) and not surely(item, symbol.item):
        return holds(code, bunch(code, symbol), item)
    width = symbol.bits.bits
    if isinstance(item, Number) and isinstance(symbol.item, t.IntType | t.RangeType):
        if width == 0:
            return FALSE
        inside = n.within(code, item, symbol.base, symbol.base + width - 1)
        # Clamped, because a shift by the width or more is poison; `inside` decides whether the bit counts.
        at = code.number("sub", n.clamp(code, item, symbol.base, symbol.base + width - 1).value, word(symbol.base))
        return code.both(inside, _bit_at(code, symbol.bits, at))
    if width == 0:
        return FALSE
    return _bit_at(code, symbol.bits, rank(code, item, symbol.item))


def _bit_at(code: FunctionBuilder, bits: Scalar, at: Scalar) -> Scalar:
    if at.known is not None:
        return bit(code, bits, at.known)
    # The set of all values has every element: the position is in range (`rank`).
    if bits.known is not None and bits.bits <= 64 and bits.known == (1 << bits.bits) - 1:
        return TRUE
    wide = bits if bits.bits >= 64 else code.resize(bits, 64)
    return code.resize(code.right(wide, code.resize(at, wide.bits)), 1)


def single(code: FunctionBuilder, at: Scalar, width: int) -> Scalar:
    """The mask of that width with one bit set, which must be in range."""
    if at.known is not None:
        return constant(width, 1 << at.known)
    wide = max(width, 64)
    shifted = code.left(constant(wide, 1), code.resize(at, wide))
    if width < wide and width > 1:
        return code.resize(shifted, width)
    return constant(1, 1) if width == 1 else shifted


def same(code: FunctionBuilder, a: Symbol, b: Symbol) -> Scalar:
    """Whether two symbols are the same value."""
    if a is b:
        return TRUE
    match a, b:
        case Flag(x), Flag(y):
            return code.compare("eq", x, y)
        case Number(), Number():
            return n.same(code, a, b)
        case RecordSymbol(xs), RecordSymbol(ys):
            return code.all_of([same(code, x, y) for x, y in zip(xs, ys, strict=True)])
        case VariantSymbol(), VariantSymbol():
            return _same_variant(code, a, b)
        case Maybe(), Maybe():
            return code.both(code.compare("eq", a.present, b.present), _same_item(code, a.present, a.item, b.item))
        case TableSymbol(key, xs), TableSymbol(other, ys) if key == other:
            return code.all_of(
                [
                    code.both(code.compare("eq", p, q), _same_item(code, p, x, y))
                    for (p, x), (q, y) in zip(xs, ys, strict=True)
                ]
            )
        case Sequence(), Sequence():
            return _same_sequence(code, a, b)
        case Bag(), Bag():
            return code.both(bag_within(code, a, b), bag_within(code, b, a))
        case ((Mask() | Bunch()), (Mask() | Bunch())):
            return _same_set(code, a, b)
        case ((TableSymbol() | Pairs()), (TableSymbol() | Pairs())):
            left, right = pairs(code, a), pairs(code, b)
            return code.both(_pairs_within(code, left, right), _pairs_within(code, right, left))
        case _:
            raise AssertionError(f"two symbols of different types: {a} and {b}")


def _same_item(code: FunctionBuilder, present: Scalar, a: Symbol | None, b: Symbol | None) -> Scalar:
    if a is None or b is None:
        return TRUE
    return code.either(code.invert(present), same(code, a, b))


def _same_variant(code: FunctionBuilder, a: VariantSymbol, b: VariantSymbol) -> Scalar:
    parts = [n.same(code, a.tag, b.tag)]
    for at, (xs, ys) in enumerate(zip(a.payloads, b.payloads, strict=True)):
        other = code.invert(n.same(code, a.tag, n.number(at)))
        # Payloads of variants that one side cannot have are not compared.
        if other.known != 1:
            parts.extend(code.either(other, same(code, x, y)) for x, y in zip(xs, ys, strict=True))
    return code.all_of(parts)


def _same_sequence(code: FunctionBuilder, a: Sequence, b: Sequence) -> Scalar:
    parts = [n.same(code, a.length, b.length)]
    for at, (x, y) in enumerate(zip(a.items, b.items, strict=False)):
        # Items behind the end have no meaning, and must not decide.
        behind = n.less(code, a.length, n.number(at), equal=True)
        parts.append(code.either(behind, same(code, x, y)))
    return code.all_of(parts)


def _same_set(code: FunctionBuilder, a: Symbol, b: Symbol) -> Scalar:
    if isinstance(a, Mask) and isinstance(b, Mask) and alike(a, b):
        x, y = aligned(code, a, b)
        return code.compare("eq", x.bits, y.bits)
    return code.both(within(code, a, b), within(code, b, a))


def within(code: FunctionBuilder, a: Symbol, b: Symbol) -> Scalar:
    """Whether every element of one set is in another."""
    if isinstance(a, Mask) and isinstance(b, Mask) and alike(a, b):
        x, y = aligned(code, a, b)
        return code.compare("eq", code.both(x.bits, code.invert(y.bits)), constant(x.bits.bits, 0))
    return code.all_of([code.either(code.invert(there), holds(code, b, item)) for there, item in bunch(code, a).items])


def bag_within(code: FunctionBuilder, a: Bag, b: Bag) -> Scalar:
    """Whether every element of one bag occurs at least as often in another."""
    return code.all_of([n.less(code, times, occurrences(code, b, item), equal=True) for times, item in a.items])


def occurrences(code: FunctionBuilder, bag: Bag, item: Symbol) -> Number:
    """How often an item occurs in a bag."""
    # Summed, not looked up: which of the entries equals the item is known at run time.
    total = n.number(0)
    most = max((times.high for times, _ in bag.items), default=0)
    for times, other in bag.items:
        equal = same(code, item, other)
        if equal.known != 0:
            total = n.add(code, total, n.pick(code, equal, times, n.number(0)))
    # At most one entry with a positive count equals the item, so the sum is no larger than the largest count.
    return Number(total.value, 0, min(total.high, most)) if total.value.known is None else total


def count(code: FunctionBuilder, symbol: Symbol) -> Number:
    """How many elements a collection has; of a bag with multiplicity."""
    match symbol:
        case Mask(bits):
            return n.bounded(code.ones(bits) if bits.bits else word(0), 0, bits.bits)
        case Bunch(items):
            return _how_many(code, [there for there, _ in items])
        case Sequence(length):
            return length
        case Bag(counted):
            total = n.number(0)
            for times, _ in counted:
                total = n.add(code, total, times)
            return total
        case TableSymbol() | Pairs():
            return _how_many(code, [there for there, _, _ in pairs(code, symbol).items])
        case _:
            raise AssertionError(f"{symbol} has no elements")


def _how_many(code: FunctionBuilder, conditions: list[Scalar]) -> Number:
    total = n.number(0)
    for there in conditions:
        total = n.add(code, total, n.from_flag(code, there))
    return total


def _pairs_within(code: FunctionBuilder, a: Pairs, b: Pairs) -> Scalar:
    parts = []
    for there, key, value in a.items:
        # Both ways together mean equality, because keys are distinct among the pairs that are present.
        found = [code.all_of([also, same(code, key, k), same(code, value, v)]) for also, k, v in b.items]
        parts.append(code.either(code.invert(there), code.any_of(found)))
    return code.all_of(parts)
