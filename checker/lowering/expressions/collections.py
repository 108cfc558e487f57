"""Comprehensions, unions and other expressions that make collections of others."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, assert_never

from assay.checker.layout.numbered_types import is_small
from assay.checker.lowering.expressions.binder_elements import (
    choice,
    domain_of,
    elements,
    listed,
    looped_slots,
    position_symbol,
    set_of,
    two_masks,
)
from assay.checker.lowering.expressions.loops import gather, is_looped
from assay.checker.lowering.expressions.range_check import fit
from assay.checker.lowering.llvm.function_builder import FALSE, TRUE, FunctionBuilder, Scalar
from assay.checker.lowering.llvm.unsupported import UnsupportedError
from assay.checker.lowering.symbols import intervals as n
from assay.checker.lowering.symbols.maps import map_of
from assay.checker.lowering.symbols.merge import add_bags, bit, bunch, choose, equals, holds, joined, occurrences, pairs
from assay.checker.lowering.symbols.symbol import Bag, Bunch, Mask, Number, Sequence, Symbol, TableSymbol
from assay.grammar import kernel as k
from assay.grammar.kernel import types as t
from assay.grammar.kernel.node_unions import Collecting

if TYPE_CHECKING:
    from assay.checker.lowering.expressions.dispatch import Lowering

Item = tuple[Scalar, Symbol]


def collection(node: Collecting, lowering: Lowering) -> Symbol:
    """The collection that an expression makes."""
    code = lowering.code
    match node:
        case k.Filter():
            return _filter(node, lowering)
        case k.Image():
            return _image(node, lowering)
        case k.Tabulate(type_, binder, domain, value):
            return _tabulate(type_, binder, domain, value, lowering)
        case k.Interval():
            return set_of(code, list(listed(node, lowering).items), t.INT)
        case k.Subsets():
            return set_of(code, list(listed(node, lowering).items), node.operand.type)
        case k.Combine():
            return _combine(node, lowering)
        case k.Keys(_, operand):
            return _keys(code, lowering.lower(operand), operand.type)
        case k.Values(_, operand):
            entries = pairs(code, lowering.lower(operand)).items
            assert isinstance(operand.type, t.MapType)
            return set_of(code, [(there, value) for there, _, value in entries], operand.type.value)
        case k.Elements(_, operand):
            return _elements(operand, lowering)
        case k.Slice():
            return _slice(node, lowering)
        case _:
            assert_never(node)


def _filter(node: k.Filter, lowering: Lowering) -> Symbol:
    code = lowering.code
    if isinstance(node.type, t.BagType):
        return _filtered_bag(node, lowering)
    domain = domain_of(node.domain, lowering)
    if isinstance(domain, Mask) and is_looped(lowering.code, lowering.unrolling, "elements", elements(domain)):
        return Mask(
            _kept(node, domain.bits, partial(position_symbol, code, domain), lowering), domain.item, domain.base
        )
    slots = looped_slots(code, domain, lowering.unrolling, "elements")
    if slots is not None and isinstance(node.type, t.SetType):
        bits = _kept(node, slots.bits, partial(choice, code, slots), lowering)
        sifted = [(bit(code, bits, at), item) for at, (_, item) in enumerate(slots.of.items)]
        return slots.of.with_items(sifted, ordered=slots.of.ordered)
    items, kept = bunch(code, domain), []
    for there, item in items.items:
        lowering.bound[node.binder.name] = item
        # An element that is absent is not looked at, so its condition may be undefined.
        holds_ = lowering.under(there, lambda: lowering.flag(node.condition))
        kept.append((code.both(there, holds_), item))
    if isinstance(node.type, t.SeqType):
        return _in_a_row(code, kept)
    assert isinstance(node.type, t.SetType)
    # Constants make a mask at no cost; other items keep the codes that they have in their slots.
    constant_items = all(isinstance(x, Number) and x.value.known is not None for _, x in kept)
    if isinstance(node.domain, k.TypeDomain) or constant_items:
        return set_of(code, kept, node.type.item)
    return items.with_items(kept, ordered=items.ordered)


def _filtered_bag(node: k.Filter, lowering: Lowering) -> Bag:
    code, whole, kept = lowering.code, lowering.bag(node.domain), []
    for times, item in whole.items:
        lowering.bound[node.binder.name] = item
        there = n.less(code, n.number(0), times, equal=False)
        holds_ = lowering.under(there, lambda: lowering.flag(node.condition))
        kept.append((n.pick(code, holds_, times, n.number(0)), item))
    return Bag(tuple(kept), whole.ordered)


def _kept(node: k.Filter, bits: Scalar, item_at: Callable[[Scalar], Symbol], lowering: Lowering) -> Scalar:
    """The bits of the elements that a filter keeps, in a loop over their positions."""

    def look(position: Scalar) -> tuple[Scalar, Scalar]:
        lowering.bound[node.binder.name] = item_at(position)
        return lowering.apart(lambda: lowering.flag(node.condition))

    kept, undefined = gather(lowering.code, bits, look)
    lowering.fail_if(undefined)
    return kept


def _in_a_row(code: FunctionBuilder, kept: list[Item]) -> Sequence:
    """The sequence of the items that are present, without gaps."""
    before = n.number(0)
    placed: list[Symbol | None] = [None] * len(kept)
    for at, (there, item) in enumerate(kept):
        # An item goes to the slot whose number is how many present items precede it, so never to one beyond its own.
        for slot in range(at + 1):
            here = code.both(there, n.same(code, before, n.number(slot)))
            if here.known != 0:
                was = placed[slot]
                placed[slot] = item if was is None else choose(code, here, item, was)
        before = n.add(code, before, n.from_flag(code, there))
    return Sequence(before, tuple(item for item in placed if item is not None))


def _image(node: k.Image, lowering: Lowering) -> Symbol:
    items: list[Item] = []
    _bind(node, 0, TRUE, lowering, items)
    if isinstance(node.type, t.SeqType):
        # Without a condition each element keeps its place, so no slot has to be chosen at run time.
        if node.condition is None and isinstance(node.generators[0].domain.type, t.SeqType):
            # Lowered again for its length alone: common subexpressions make that free.
            length = lowering.sequence(node.generators[0].domain).length
            return Sequence(length, tuple(item for _, item in items))
        return _in_a_row(lowering.code, items)
    assert isinstance(node.type, t.SetType)
    return set_of(lowering.code, items, node.type.item)


def _bind(node: k.Image, at: int, reached: Scalar, lowering: Lowering, items: list[Item]) -> None:
    if at == len(node.generators):
        there = reached
        if node.condition is not None:
            condition = node.condition
            there = lowering.code.both(reached, lowering.under(reached, lambda: lowering.flag(condition)))
        if there.known != 0:
            items.append((there, lowering.under(there, lambda: lowering.lower(node.element))))
        return
    generator = node.generators[at]
    # The domain is lowered anew for each element of the outer generators, whose binders it may read.
    for present, item in lowering.under(reached, lambda: listed(generator.domain, lowering)).items:
        lowering.bound[generator.binder.name] = item
        _bind(node, at + 1, lowering.code.both(reached, present), lowering, items)


def _tabulate(type_: t.Type, binder: k.Local, domain: k.Expr, value: k.Expr, lowering: Lowering) -> Symbol:
    assert isinstance(type_, t.MapType)
    entries = []
    for there, key in listed(domain, lowering).items:
        lowering.bound[binder.name] = key
        entries.append((there, key, lowering.under(there, lambda: lowering.lower(value))))
    return map_of(lowering.code, entries, type_.key)


def _keys(code: FunctionBuilder, symbol: Symbol, type_: t.Type) -> Symbol:
    assert isinstance(type_, t.MapType)
    entries = pairs(code, symbol)
    items = [(there, key) for there, key, _ in entries.items]
    if isinstance(symbol, TableSymbol):
        return set_of(code, items, type_.key)
    return Bunch(tuple(items), entries.ordered)


def _elements(operand: k.Expr, lowering: Lowering) -> Symbol:
    code = lowering.code
    if isinstance(operand.type, t.BagType):
        counted = lowering.bag(operand)
        items = [(n.less(code, n.number(0), times, equal=False), item) for times, item in counted.items]
        return set_of(code, items, operand.type.item)
    assert isinstance(operand.type, t.SeqType)
    return set_of(code, list(listed(operand, lowering).items), operand.type.item)


def _combine(node: k.Combine, lowering: Lowering) -> Symbol:
    code, a, b = lowering.code, lowering.lower(node.left), lowering.lower(node.right)
    match a, b:
        case Sequence(), Sequence():
            return concatenated(code, a, b)
        case Bag(), Bag():
            return _combine_bags(code, node.op, a, b)
        case ((Mask() | Bunch()), (Mask() | Bunch())):
            return _combine_sets(code, node.op, a, b)
        case _:
            raise UnsupportedError("this combination", node.span)


def _combine_sets(code: FunctionBuilder, op: str, a: Mask | Bunch, b: Mask | Bunch) -> Symbol:
    masks = two_masks(code, a, b)
    if masks is not None:
        x, y = masks
        bits = {
            "union": lambda: code.either(x.bits, y.bits),
            "difference": lambda: code.both(x.bits, code.invert(y.bits)),
            "intersection": lambda: code.both(x.bits, y.bits),
        }[op]()
        return Mask(bits, x.item, x.base)
    left = bunch(code, a)
    # The other set may hold values without a number, which a mask would lose.
    if op == "union" and isinstance(a, Mask) and not is_small(a.item):
        return Bunch((*left.items, *_beside(code, a, bunch(code, b))), False)
    if op == "union":
        both = joined(code, list(left.items), list(bunch(code, b).items), left.codes)
        return Bunch(tuple(both), False, left.codes)
    kept = []
    for (there, item), also in zip(left.items, _also_in(code, left, b), strict=True):
        kept.append((code.both(there, also if op == "intersection" else code.invert(also)), item))
    return left.with_items(kept, ordered=left.ordered)


def _beside(code: FunctionBuilder, mask: Mask, more: Bunch) -> list[tuple[Scalar, Symbol]]:
    """The items that are not in the mask. A value that does not fit the type of its elements is not one of them. For
    the others a bit by their number answers, not a comparison with each.
    """
    found = []
    for there, item in more.items:
        fits, fitted = fit(code, item, mask.item)
        beside = code.both(there, code.invert(code.both(fits, holds(code, mask, fitted))))
        if beside.known != 0:
            found.append((beside, item))
    return found


def _also_in(code: FunctionBuilder, left: Bunch, other: Mask | Bunch) -> list[Scalar]:
    """For each item of a set whether another set has it."""
    # Without codes nothing is gained by asking from the other side.
    if left.codes is None or isinstance(other, Mask):
        return [holds(code, other, item) for _, item in left.items]
    found = [FALSE] * len(left.items)
    for there, item in other.items:
        here = equals(code, left, item)
        found = [code.either(was, code.both(there, each)) for was, each in zip(found, here, strict=True)]
    return found


def _combine_bags(code: FunctionBuilder, op: str, a: Bag, b: Bag) -> Bag:
    if op == "union":
        return add_bags(code, a, b)
    items = []
    for times, item in a.items:
        other = occurrences(code, b, item)
        if op == "intersection":
            items.append((n.smaller(code, times, other), item))
        else:
            items.append((n.larger(code, n.number(0), n.subtract(code, times, other)), item))
    return Bag(tuple(items), a.ordered)


def concatenated(code: FunctionBuilder, a: Sequence, b: Sequence) -> Sequence:
    """One sequence behind another."""
    placed: list[Symbol | None] = [*a.items, *[None] * len(b.items)]
    for at, item in enumerate(b.items):
        end = n.add(code, a.length, n.number(at))
        # Only the slots that the interval of the length allows.
        for slot in range(max(0, end.low), min(len(placed) - 1, end.high) + 1):
            here, was = n.same(code, end, n.number(slot)), placed[slot]
            placed[slot] = item if was is None else choose(code, here, item, was)
    return Sequence(n.add(code, a.length, b.length), tuple(item for item in placed if item is not None))


def _slice(node: k.Slice, lowering: Lowering) -> Sequence:
    code, whole, length = lowering.code, lowering.sequence(node.operand), lowering.number(node.length)
    lowering.fail_if(n.less(code, length, n.number(0), equal=False))
    asked = n.larger(code, length, n.number(0))
    if node.op == "take":
        return Sequence(n.smaller(code, whole.length, asked), whole.items)
    dropped = n.smaller(code, whole.length, asked)
    items: list[Symbol] = []
    for slot in range(len(whole.items) - dropped.low):
        item = whole.items[slot + dropped.low]
        for by in range(dropped.low + 1, min(dropped.high, len(whole.items) - 1 - slot) + 1):
            item = choose(code, n.same(code, dropped, n.number(by)), whole.items[slot + by], item)
        items.append(item)
    return Sequence(n.subtract(code, whole.length, dropped), tuple(items))
