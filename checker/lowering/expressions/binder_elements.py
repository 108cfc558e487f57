"""The domains of binders: the possible elements one by one, each with the condition that it is in the domain."""

from __future__ import annotations

from itertools import chain, combinations
from typing import TYPE_CHECKING, assert_never

from assay.checker.interpreter.values.domains import cardinality
from assay.checker.interpreter.values.undefined import ENUMERATION_LIMIT
from assay.checker.layout.numbered_types import MASK_LIMIT, has_ranks, is_masked, is_small
from assay.checker.layout.value_numbering import universe
from assay.checker.lowering.expressions.loops import (
    LEVELS,
    UNROLLED,
    Below,
    Kind,
    Over,
    Submasks,
    UnrollBudget,
    is_looped,
)
from assay.checker.lowering.llvm.function_builder import TRUE, FunctionBuilder, Scalar, constant
from assay.checker.lowering.llvm.unsupported import SMALLER, UnsupportedError
from assay.checker.lowering.symbols import intervals as n
from assay.checker.lowering.symbols.merge import aligned, alike, bunch, distinct, element, single
from assay.checker.lowering.symbols.ranking import from_rank, literal, rank, surely
from assay.checker.lowering.symbols.symbol import Bunch, Mask, Number, Sequence, Symbol
from assay.grammar import kernel as k
from assay.grammar.diagnostics.diagnostic import NOWHERE
from assay.grammar.elaborate.scopes.type_relations import type_text
from assay.grammar.kernel import types as t
from assay.grammar.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from assay.checker.lowering.expressions.dispatch import Lowering

LIST_LIMIT = 1024
"""The most elements for which code is written out."""
SUBSET_LIMIT = 9
"""The largest set whose subsets are listed."""


def whole_type(node: k.TypeDomain) -> Mask:
    """The set of all values of a type."""
    if not is_masked(node.of):
        what = f"the set of all {cardinality(node.of):,} values of {type_text(node.of)}"
        raise UnsupportedError(what, node.span, SMALLER)
    size = cardinality(node.of)
    base = node.of.low if isinstance(node.of, t.RangeType) else 0
    return Mask(constant(size, (1 << size) - 1), node.of, base)


def listed(domain: k.Expr, lowering: Lowering) -> Bunch:
    """The possible elements of a set or sequence; a sequence may repeat them."""
    try:
        return _listed(domain, lowering)
    except UnsupportedError as error:
        raise error.at(domain.span) from None


def _listed(domain: k.Expr, lowering: Lowering) -> Bunch:
    code = lowering.code
    match domain:
        case k.TypeDomain(_, of):
            # Before `universe` makes them all.
            if cardinality(of) > LIST_LIMIT:
                what = f"a range over all {cardinality(of):,} values of {type_text(of)}, more than {LIST_LIMIT:,}"
                raise UnsupportedError(what, domain.span, SMALLER)
            return Bunch(tuple((TRUE, literal(value, of)) for value in universe(of).values), ordered=True)
        case k.Interval(_, low, high):
            return interval(code, lowering.number(low), lowering.number(high))
        case k.Subsets(_, operand):
            return subsets(code, _small(operand, lowering))
        case _:
            return listed_symbol(code, lowering.lower(domain))


def listed_symbol(code: FunctionBuilder, symbol: Symbol) -> Bunch:
    """The possible elements of a set or sequence given as a symbol."""
    if isinstance(symbol, Sequence):
        there = [n.less(code, n.number(at), symbol.length, equal=False) for at in range(len(symbol.items))]
        return Bunch(tuple((p, x) for p, x in zip(there, symbol.items, strict=True) if p.known != 0), ordered=True)
    return bunch(code, symbol)


@dataclass(frozen=True, slots=True)
class RankedDomain:
    """All values of a type that has too many for a mask. Each is computed from its rank."""

    of: t.Type
    size: int


@dataclass(frozen=True, slots=True)
class Powerset:
    """All subsets of a set, enumerated at run time."""

    of: Mask


@dataclass(frozen=True, slots=True)
class StoredSlots:
    """The items of a set on the stack, each in ``words`` words; ``bits`` says which of them are in the set."""

    of: Bunch
    bits: Scalar
    address: str
    words: int


@dataclass(frozen=True, slots=True)
class LongInterval:
    """The integers from one to another, of which there may be too many to write code for each."""

    low: Number
    high: Number
    size: Number


Choices = Mask | Bunch | RankedDomain | Powerset | StoredSlots
Looped = Mask | RankedDomain | Powerset | StoredSlots | LongInterval


def looped_slots(code: FunctionBuilder, domain: Choices, unrolling: UnrollBudget, kind: Kind) -> StoredSlots | None:
    """A set that was read from slots, for a loop over its items; None where they are few, or not all have codes."""
    # Items that a union put beside those of the slots have no codes, so they cannot be stored as words.
    if not isinstance(domain, Bunch) or domain.codes is None or len(domain.codes.values) < len(domain.items):
        return None
    if not is_looped(code, unrolling, kind, len(domain.items)):
        return None
    size, words = len(domain.items), max(1, -(-domain.codes.shape.width // 64))
    address, bits = code.reserve(size * words), constant(size, 0)
    for at, ((there, _), value) in enumerate(zip(domain.items, domain.codes.values, strict=True)):
        bits = code.either(bits, code.left(code.resize(there, size), constant(size, at)))
        for part in range(words):
            place = code.fresh(64, f"getelementptr i64, ptr {address}, i64 {at * words + part}")
            piece = code.resize(code.right(value, constant(value.bits, 64 * part)) if part else value, 64)
            code.do(f"store {piece.typed}, ptr {place.text}")
    return StoredSlots(domain, bits, address, words)


def _stored(code: FunctionBuilder, domain: StoredSlots, at: Scalar) -> Symbol:
    assert domain.of.codes is not None
    first = code.fresh(64, f"mul i64 {at.text}, {domain.words}")
    row = code.fresh(64, f"getelementptr i64, ptr {domain.address}, {first.typed}")
    words = []
    for part in range(domain.words):
        place = code.fresh(64, f"getelementptr i64, ptr {row.text}, i64 {part}")
        words.append(code.fresh(64, f"load i64, ptr {place.text}"))
    return domain.of.codes.read(code, words, domain.of.codes.shape)


def choices_of(domain: k.Expr, lowering: Lowering, unrolling: UnrollBudget = LEVELS[0]) -> Choices:
    """The domain of a parameter, a pick or a quantifier, which may be larger than what is ever written out.

    Subsets of sets that are too large for ``unrolling`` are enumerated at run time, in another order than the canonical
    one.
    """
    # Gates have no loops, so their domains are always written out.
    if lowering.unrolling is UNROLLED:
        return domain_of(domain, lowering)
    if isinstance(domain, k.Subsets):
        whole = _small(domain.operand, lowering)
        if isinstance(whole, Mask) and is_looped(lowering.code, unrolling, "subsets", whole.bits.bits):
            return Powerset(whole)
        return subsets(lowering.code, whole)
    if isinstance(domain, k.TypeDomain) and not is_masked(domain.of) and has_ranks(domain.of, stored=True):
        size = cardinality(domain.of)
        if size <= ENUMERATION_LIMIT:
            return RankedDomain(domain.of, size)
    return domain_of(domain, lowering)


def quantified_domain(domain: k.Expr, lowering: Lowering) -> Choices | LongInterval:
    """The domain of a quantifier. It stops where one element decides, so integers may be any number."""
    if lowering.unrolling is UNROLLED:
        return choices_of(domain, lowering)
    if isinstance(domain, k.Interval):
        low, high = lowering.number(domain.low), lowering.number(domain.high)
    elif isinstance(domain, k.TypeDomain) and isinstance(domain.of, t.RangeType):
        low, high = n.number(domain.of.low), n.number(domain.of.high)
    else:
        return choices_of(domain, lowering)
    if high.high - low.low < LIST_LIMIT:
        # A mask, or values by rank, where it is one of these.
        return choices_of(domain, lowering)
    code = lowering.code
    return LongInterval(low, high, n.add(code, n.subtract(code, high, low), n.number(1)))


def domain_of(domain: k.Expr, lowering: Lowering) -> Mask | Bunch:
    """The domain of a binder: as a mask if it is one, else element by element."""
    if isinstance(domain, k.TypeDomain) and is_masked(domain.of):
        return whole_type(domain)
    # These are listed from their parts: as sets they might have no form that can be compiled.
    if isinstance(domain, k.TypeDomain | k.Interval | k.Subsets):
        return listed(domain, lowering)
    symbol = lowering.lower(domain)
    return symbol if isinstance(symbol, Mask) else listed_symbol(lowering.code, symbol)


def elements(mask: Mask) -> int:
    """The most elements that a mask can have."""
    return mask.bits.bits if mask.bits.known is None else mask.bits.known.bit_count()


def interval(code: FunctionBuilder, low: Number, high: Number) -> Bunch:
    """The integers between two numbers."""
    if high.high - low.low >= LIST_LIMIT:
        raise UnsupportedError(f"an interval of up to {high.high - low.low + 1:,} integers")
    items = []
    for value in map(n.number, range(low.low, high.high + 1)):
        there = code.both(n.less(code, low, value, equal=True), n.less(code, value, high, equal=True))
        # A bound that is constant excludes some of the integers at once.
        if there.known != 0:
            items.append((there, value))
    return Bunch(tuple(items), ordered=True)


def _small(operand: k.Expr, lowering: Lowering) -> Mask | Bunch:
    """A set, as a mask if it has few possible elements."""
    symbol = lowering.set(operand)
    if isinstance(symbol, Mask) or not isinstance(operand.type, t.SetType):
        return symbol
    # As a mask if that can be: subsets are told apart by the bits of one.
    return set_of(lowering.code, list(symbol.items), operand.type.item)


def subsets(code: FunctionBuilder, whole: Mask | Bunch) -> Bunch:
    """All subsets of a small set, in canonical order: by size, then by their elements."""
    if not isinstance(whole, Mask) or whole.bits.bits > SUBSET_LIMIT:
        what = f"subsets of a set that may have more than {SUBSET_LIMIT} elements"
        raise UnsupportedError(what, NOWHERE, "`exists s in subsets(S)` and `forall` go through any number", SMALLER)
    width = whole.bits.bits
    chosen = chain.from_iterable(combinations(range(width), size) for size in range(width + 1))
    # A subset is there if it has none of the elements that the set lacks.
    missing = code.invert(whole.bits) if width else whole.bits
    items = []
    for positions in chosen:
        mask = constant(width, sum(1 << at for at in positions))
        there = code.compare("eq", code.both(mask, missing), constant(width, 0))
        if there.known != 0:
            items.append((there, Mask(mask, whole.item, whole.base)))
    return Bunch(tuple(items), ordered=True)


def set_of(code: FunctionBuilder, items: list[tuple[Scalar, Symbol]], item: t.Type) -> Mask | Bunch:
    """The set of items that may repeat: a mask if there are few possible items."""
    numbers = [x for _, x in items if isinstance(x, Number)]
    # By the intervals of the numbers, not by the type: until it is stored a set may hold others.
    if isinstance(item, t.IntType | t.RangeType) and numbers:
        low, high = min(x.low for x in numbers), max(x.high for x in numbers)
        # A mask of that width holds every value that the intervals allow, so no element is lost.
        if high - low < MASK_LIMIT:
            return _number_mask(code, [(p, x) for p, x in items if isinstance(x, Number)], item, low, high - low + 1)
    elif not isinstance(item, t.IntType | t.RangeType) and is_masked(item) and all(surely(x, item) for _, x in items):
        width = cardinality(item)
        return Mask(_union(code, [(p, rank(code, x, item)) for p, x in items], width), item)
    return Bunch(tuple(distinct(code, items)), ordered=False)


def _number_mask(code: FunctionBuilder, items: list[tuple[Scalar, Number]], item: t.Type, low: int, width: int) -> Mask:
    positions = [(p, n.subtract(code, x, n.number(low)).value) for p, x in items]
    return Mask(_union(code, positions, width), item, low)


def _union(code: FunctionBuilder, positions: list[tuple[Scalar, Scalar]], width: int) -> Scalar:
    """The mask of these positions. Bits of another mask that keep their places are not moved one by one."""
    result, kept = constant(width, 0), dict[Scalar, int]()
    for there, at in positions:
        mask, place = code.bits_of_masks.get(there.text, (result, -1))
        # The bit stays where it was; `kept` collects such places for one operation on the whole mask.
        if place == at.known and mask.bits == width:
            kept[mask] = kept.get(mask, 0) | 1 << place
            continue
        result = code.either(result, code.choose(there, single(code, at, width), constant(width, 0)))
    for mask, places in kept.items():
        result = code.either(result, code.both(mask, constant(width, places)))
    return result


def mask_like(code: FunctionBuilder, symbol: Mask | Bunch, like: Mask) -> Mask:
    """A set as a mask over the possible elements of another."""
    if isinstance(symbol, Mask):
        return symbol
    if isinstance(like.item, t.IntType | t.RangeType):
        result = set_of(code, list(symbol.items), like.item)
        if isinstance(result, Mask):
            return result
        if not symbol.items:
            return Mask(constant(0, 0), like.item, like.base)
        raise UnsupportedError("sets of integers that lie far apart")
    width = like.bits.bits
    return Mask(_union(code, [(p, rank(code, x, like.item)) for p, x in symbol.items], width), like.item)


def two_masks(code: FunctionBuilder, a: Mask | Bunch, b: Mask | Bunch) -> tuple[Mask, Mask] | None:
    """Two sets as masks over the same elements, if one of them is a mask already and has a bit for each of the
    other's."""
    if isinstance(a, Mask) and isinstance(b, Mask):
        return aligned(code, a, b) if alike(a, b) else None
    masks = [x for x in (a, b) if isinstance(x, Mask)]
    others = [x for x in (a, b) if isinstance(x, Bunch)]
    # An item that the mask has no bit for would be lost, and two different sets would be equal.
    if masks and not is_small(masks[0].item) and not all(surely(x, masks[0].item) for _, x in others[0].items):
        return None
    if isinstance(a, Mask):
        return aligned(code, a, mask_like(code, b, a))
    if isinstance(b, Mask):
        return aligned(code, mask_like(code, a, b), b)
    return None


def positions(choices: Looped) -> Over:
    """What a loop over choices iterates over."""
    match choices:
        case Mask(bits) | StoredSlots(_, bits):
            return bits
        case RankedDomain(_, size):
            return size
        case Powerset(of):
            return Submasks(of.bits)
        case LongInterval(size=size):
            return Below(size.value)
        case _:
            assert_never(choices)


def choice(code: FunctionBuilder, choices: Looped, at: Scalar) -> Symbol:
    """The element at a position of such a loop."""
    match choices:
        case Mask():
            return position_symbol(code, choices, at)
        case RankedDomain(of):
            return from_rank(code, at, of)
        case Powerset(of):
            return Mask(at, of.item, of.base)
        case LongInterval(low, high):
            return n.bounded(code.number("add", at, low.value), low.low, high.high)
        case StoredSlots():
            return _stored(code, choices, at)
        case _:
            assert_never(choices)


def position_symbol(code: FunctionBuilder, mask: Mask, at: Scalar) -> Symbol:
    """The possible element of a bit whose position is known only at run time."""
    if at.known is not None:
        return element(code, mask, at.known)
    if isinstance(mask.item, t.IntType | t.RangeType):
        where = Number(at, 0, max(0, mask.bits.bits - 1))
        return n.add(code, where, n.number(mask.base))
    return from_rank(code, at, mask.item)


def listed_items(code: FunctionBuilder, domain: Choices) -> tuple[tuple[Scalar, Symbol], ...]:
    """The possible elements of a set, without those that are certainly absent."""
    assert not isinstance(domain, RankedDomain | Powerset | StoredSlots)
    if isinstance(domain, Bunch):
        return tuple(item for item in domain.items if item[0].known != 0)
    return bunch(code, domain).items
