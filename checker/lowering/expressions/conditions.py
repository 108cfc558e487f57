"""Conditions: logic from left to right, comparison, quantifiers, membership, pattern tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from assay.checker.interpreter.values.sort_occurrence import mentions
from assay.checker.lowering.expressions.binder_elements import (
    LongInterval,
    Looped,
    Powerset,
    RankedDomain,
    StoredSlots,
    choice,
    elements,
    looped_slots,
    positions,
    quantified_domain,
    two_masks,
)
from assay.checker.lowering.expressions.loops import is_looped, search
from assay.checker.lowering.expressions.value_order import precedes
from assay.checker.lowering.llvm.function_builder import FALSE, TRUE, FunctionBuilder, Scalar
from assay.checker.lowering.symbols import intervals as n
from assay.checker.lowering.symbols.merge import bag_within, bunch, holds, occurrences, pairs, same, within
from assay.checker.lowering.symbols.symbol import (
    Bag,
    Bunch,
    Mask,
    Maybe,
    Number,
    Pairs,
    Sequence,
    Symbol,
    TableSymbol,
    VariantSymbol,
)
from assay.grammar import kernel as k
from assay.grammar.kernel import types as t
from assay.grammar.kernel.node_unions import Condition

if TYPE_CHECKING:
    from assay.checker.lowering.expressions.dispatch import Lowering


def condition(node: Condition, lowering: Lowering) -> Scalar:
    """The truth of a condition."""
    code = lowering.code
    match node:
        case k.Not(_, operand):
            return code.invert(lowering.flag(operand))
        case k.Logic():
            return _logic(node, lowering)
        case k.Equal(_, left, right, negated):
            result = equal(code, lowering.lower(left), lowering.lower(right))
            return code.invert(result) if negated else result
        case k.Compare(_, op, left, right):
            return _compare(code, op, lowering.number(left), lowering.number(right))
        case k.Quantified():
            return _quantified(node, lowering)
        case k.Member(_, item, collection, negated):
            symbol = lowering.lower(item)
            result = _member(symbol, collection, lowering)
            return code.invert(result) if negated else result
        case k.Subset():
            return _subset(node, lowering)
        case k.IsVariant(_, operand, variant):
            return is_variant(code, lowering.lower(operand), operand.type, variant)
        case k.IsSome(_, operand):
            option = lowering.lower(operand)
            assert isinstance(option, Maybe)
            return option.present
        case _:
            assert_never(node)


def equal(code: FunctionBuilder, a: Symbol, b: Symbol) -> Scalar:
    """Equality. Sets may be in different forms."""
    if isinstance(a, Mask | Bunch) and isinstance(b, Mask | Bunch):
        masks = two_masks(code, a, b)
        if masks is not None:
            return code.compare("eq", masks[0].bits, masks[1].bits)
    return same(code, a, b)


def is_variant(code: FunctionBuilder, symbol: Symbol, type_: t.Type, variant: str) -> Scalar:
    """Whether a symbol of an enum is of the variant."""
    assert isinstance(symbol, VariantSymbol)
    return n.same(code, symbol.tag, n.number(position_of(type_, variant)))


def position_of(type_: t.Type, variant: str) -> int:
    """The position of a variant in its enum."""
    assert isinstance(type_, t.EnumType)
    return next(at for at, each in enumerate(type_.variants) if each.name == variant)


def _logic(node: k.Logic, lowering: Lowering) -> Scalar:
    match node.op:
        case "and":
            return _until(node.parts, lowering, stop=False)
        case "or":
            return _until(node.parts, lowering, stop=True)
        case "implies":
            code, (premise, conclusion) = lowering.code, node.parts
            holds_ = lowering.flag(premise)
            # The conclusion is not even translated: a switch that is off may make it too large to compile.
            if holds_.known == 0:
                return TRUE
            follows = lowering.under(holds_, lambda: lowering.flag(conclusion))
            return code.either(code.invert(holds_), follows)
        case _:
            assert_never(node.op)


def _until(parts: tuple[k.Expr, ...], lowering: Lowering, *, stop: bool) -> Scalar:
    code, reached = lowering.code, TRUE
    for part in parts:
        value = lowering.under(reached, lambda part=part: lowering.flag(part))  # type: ignore[misc]
        # What was reached is also the result: all parts were true (or, of `or`, false).
        reached = code.both(reached, code.invert(value) if stop else value)
        if reached.known == 0:
            break
    return code.invert(reached) if stop else reached


def _compare(code: FunctionBuilder, op: str, a: Number, b: Number) -> Scalar:
    match op:
        case "<":
            return n.less(code, a, b, equal=False)
        case "<=":
            return n.less(code, a, b, equal=True)
        case ">":
            return n.less(code, b, a, equal=False)
        case _:
            return n.less(code, b, a, equal=True)


def _quantified(node: k.Quantified, lowering: Lowering) -> Scalar:
    """A quantifier looks at elements in canonical order until one decides; an undefined one before that makes it
    undefined."""
    code, stop = lowering.code, node.kind == "exists"
    domain = quantified_domain(node.domain, lowering)
    if not isinstance(domain, LongInterval):
        domain = looped_slots(code, domain, lowering.unrolling, "elements") or domain
    if isinstance(domain, RankedDomain | Powerset | StoredSlots | LongInterval) or (
        isinstance(domain, Mask) and is_looped(code, lowering.unrolling, "elements", elements(domain))
    ):
        # Strict first: then no order of elements counts, neither that of slots nor that of masks.
        if mentions(node.binder.type, lowering.strict):
            return _looped_strict(node, domain, lowering, stop=stop)
        # Masks come by number, not in canonical order.
        if isinstance(domain, Powerset) or (isinstance(domain, StoredSlots) and not domain.of.ordered):
            return _looped_unordered(node, domain, lowering, stop=stop)
        return _looped(node, domain, lowering, stop=stop)
    items = bunch(code, domain)
    if mentions(node.binder.type, lowering.strict):
        return _strict(node, items, lowering, stop=stop)
    if not items.ordered and len(items.items) > 1:
        return _unordered(node, items, lowering, stop=stop)
    going = TRUE
    for there, item in items.items:
        lowering.bound[node.binder.name] = item
        value, undefined = lowering.apart(lambda: lowering.flag(node.body))
        # The reference evaluator stops at the deciding element, so an undefined one after it does not count.
        lowering.fail_if(code.all_of([going, there, undefined]))
        decides = code.both(there, value if stop else code.invert(value))
        going = code.both(going, code.invert(decides))
        if going.known == 0:
            break
    return code.invert(going) if stop else going


def _unordered(node: k.Quantified, items: Bunch, lowering: Lowering, *, stop: bool) -> Scalar:
    """The same over items in no fixed order: an undefined item counts unless a deciding one precedes it in canonical
    order."""
    code = lowering.code
    decided: list[tuple[Scalar, Symbol]] = []
    undefined: list[tuple[Scalar, Symbol]] = []
    for there, item in items.items:
        lowering.bound[node.binder.name] = item
        value, fails = lowering.apart(lambda: lowering.flag(node.body))
        # An undefined item does not decide, whatever value its code happens to compute.
        decides = code.all_of([there, value if stop else code.invert(value), code.invert(fails)])
        decided.append((decides, item))
        undefined.append((code.both(there, fails), item))
    for fails, item in undefined:
        if fails.known != 0:
            earlier = [code.both(d, precedes(code, x, item)) for d, x in decided if x is not item and d.known != 0]
            lowering.fail_if(code.both(fails, code.invert(code.any_of(earlier))))
    found = code.any_of([decides for decides, _ in decided])
    return found if stop else code.invert(found)


def _strict(node: k.Quantified, items: Bunch, lowering: Lowering, *, stop: bool) -> Scalar:
    """A strict quantifier: undefined if its body is undefined for any element (docs/design/symmetry-reduction.md)."""
    code, found = lowering.code, FALSE
    for there, item in items.items:
        lowering.bound[node.binder.name] = item
        value = lowering.under(there, lambda: lowering.flag(node.body))
        found = code.either(found, code.both(there, value if stop else code.invert(value)))
    return found if stop else code.invert(found)


def _looped_strict(node: k.Quantified, domain: Looped, lowering: Lowering, *, stop: bool) -> Scalar:
    """A strict quantifier as two loops: one looks for an element without a value, the other for one that decides."""
    code = lowering.code

    def body(position: Scalar) -> tuple[Scalar, Scalar]:
        lowering.bound[node.binder.name] = choice(code, domain, position)
        return lowering.apart(lambda: lowering.flag(node.body))

    def decides(position: Scalar) -> tuple[Scalar, Scalar]:
        value = body(position)[0]
        return (value if stop else code.invert(value)), FALSE

    lowering.fail_if(search(code, positions(domain), lambda position: (body(position)[1], FALSE))[0])
    decided, _ = search(code, positions(domain), decides)
    return decided if stop else code.invert(decided)


def _looped(node: k.Quantified, domain: Looped, lowering: Lowering, *, stop: bool) -> Scalar:
    """A quantifier as a loop, which ends at the element that decides."""
    code = lowering.code

    def look(position: Scalar) -> tuple[Scalar, Scalar]:
        lowering.bound[node.binder.name] = choice(code, domain, position)
        value, undefined = lowering.apart(lambda: lowering.flag(node.body))
        return (value if stop else code.invert(value)), undefined

    decided, undefined = search(code, positions(domain), look)
    lowering.fail_if(undefined)
    return decided if stop else code.invert(decided)


def _looped_unordered(node: k.Quantified, domain: StoredSlots | Powerset, lowering: Lowering, *, stop: bool) -> Scalar:
    """As ``_unordered``, by loops: whether an undefined element counts is asked only where there is one."""
    code, over = lowering.code, positions(domain)
    always_defined = True

    def look(position: Scalar) -> tuple[Symbol, Scalar, Scalar]:
        nonlocal always_defined
        item = choice(code, domain, position)
        lowering.bound[node.binder.name] = item
        value, undefined = lowering.apart(lambda: lowering.flag(node.body))
        always_defined = always_defined and undefined.known == 0
        decides = code.both(value if stop else code.invert(value), code.invert(undefined))
        return item, decides, undefined

    decided, _ = search(code, over, lambda at: (look(at)[1], FALSE))
    if always_defined:
        return decided if stop else code.invert(decided)
    troubled, _ = search(code, over, lambda at: (look(at)[2], FALSE))
    # Two nested loops over all items, so they stand behind a branch that is seldom taken.
    ask, done, before = code.name("ask"), code.name("asked"), code.block
    code.branch(troubled, ask, done)
    code.label(ask)
    with code.scope():

        def counts(at: Scalar) -> tuple[Scalar, Scalar]:
            item, _, undefined = look(at)

            def hides(other: Scalar) -> tuple[Scalar, Scalar]:
                earlier, decides, _ = look(other)
                return code.both(decides, precedes(code, earlier, item)), FALSE

            return code.both(undefined, code.invert(search(code, over, hides)[0])), FALSE

        counted, _ = search(code, over, counts)
        # The loop opened blocks of its own; the phi below wants the one from which the jump comes.
        end = code.block
    code.jump(done)
    code.label(done)
    lowering.fail_if(code.fresh(1, f"phi i1 [ false, %{before} ], [ {counted.text}, %{end} ]"))
    return decided if stop else code.invert(decided)


def _member(item: Symbol, collection: k.Expr, lowering: Lowering) -> Scalar:
    code = lowering.code
    match collection:
        case k.Interval(_, low, high):
            assert isinstance(item, Number)
            bottom = lowering.number(low)
            above = n.less(code, bottom, item, equal=True)
            # The upper end is evaluated only if the lower one is not above the item.
            top = lowering.under(above, lambda: lowering.number(high))
            return code.both(above, n.less(code, item, top, equal=True))
        case k.Subsets(_, operand):
            assert isinstance(item, Mask | Bunch)
            return _within(code, item, lowering.set(operand))
        # The type may have too many values for a mask; a comparison needs none.
        case k.TypeDomain(_, t.RangeType(low_, high_)):
            assert isinstance(item, Number)
            return n.within(code, item, low_, high_)
        case k.TypeDomain(_, t.AtomType() | t.BoolType()):
            return TRUE
        case _:
            return contains(code, lowering.lower(collection), item)


def contains(code: FunctionBuilder, collection: Symbol, item: Symbol) -> Scalar:
    """Whether a collection has the item, or a map the key."""
    match collection:
        case Mask() | Bunch():
            return holds(code, collection, item)
        case Bag():
            return n.less(code, n.number(0), occurrences(code, collection, item), equal=False)
        case Sequence(length, items):
            found = [
                code.both(n.less(code, n.number(at), length, equal=False), same(code, x, item))
                for at, x in enumerate(items)
            ]
            return code.any_of(found)
        case TableSymbol() | Pairs():
            return code.any_of(
                [code.both(there, same(code, key, item)) for there, key, _ in pairs(code, collection).items]
            )
        case _:
            raise AssertionError(f"{collection} has no members")


def _within(code: FunctionBuilder, a: Mask | Bunch, b: Mask | Bunch) -> Scalar:
    masks = two_masks(code, a, b)
    return within(code, *masks) if masks is not None else within(code, a, b)


def _subset(node: k.Subset, lowering: Lowering) -> Scalar:
    code, left, right = lowering.code, lowering.lower(node.left), lowering.lower(node.right)
    if isinstance(left, Bag) and isinstance(right, Bag):
        inside, back = bag_within(code, left, right), bag_within(code, right, left) if node.strict else FALSE
    else:
        assert isinstance(left, Mask | Bunch)
        assert isinstance(right, Mask | Bunch)
        inside, back = _within(code, left, right), _within(code, right, left) if node.strict else FALSE
    return code.both(inside, code.invert(back))
