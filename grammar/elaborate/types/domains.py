"""Domains of quantifiers, comprehensions, picks and loops: sets that can be enumerated, whatever sizes a log gives to
parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from assay.grammar import kernel, syntax
from assay.grammar.diagnostics.diagnostic import Diagnostics
from assay.grammar.elaborate.scopes.context import Context
from assay.grammar.elaborate.scopes.erroneous import erroneous, failed
from assay.grammar.elaborate.scopes.type_relations import ERROR, is_sized, type_text
from assay.grammar.elaborate.types.cardinality import LIMIT, cardinality
from assay.grammar.elaborate.types.constant_folding import constant
from assay.grammar.kernel.types import INT, BagType, MapType, OptionType, RangeType, SeqType, SetType, Type


def set_domain(expr: syntax.Expr, cx: Context, *, searched: bool = False) -> tuple[kernel.Expr, Type]:
    """A set to enumerate, with the type of its elements. One that is ``searched`` is enumerated only as far as is
    needed, so it may have any size that no log decides."""
    domain = cx.timeless().infer(expr)
    match domain.type:
        case SetType(item):
            return (
                (domain, item)
                if check_enumerable(domain, cx.diagnostics, searched=searched)
                else (erroneous(expr.span), item)
            )
        case _:
            return _not_wanted("a set", domain, expr, cx, *_advice(domain.type))


def sequence_domain(expr: syntax.Expr, cx: Context) -> tuple[kernel.Expr, Type]:
    """A sequence to enumerate, with the type of its elements."""
    domain = cx.timeless().infer(expr)
    match domain.type:
        case SeqType(item):
            return domain, item
        case _:
            advice = (
                ["a set has no order: write the comprehension in braces, which makes one of equal values"]
                if isinstance(domain.type, SetType)
                else []
            )
            return _not_wanted("a sequence", domain, expr, cx, *advice)


def bag_domain(expr: syntax.Expr, cx: Context) -> tuple[kernel.Expr, Type]:
    """A bag of which some elements are kept, with their type."""
    domain = cx.timeless().infer(expr)
    match domain.type:
        case BagType(item):
            return domain, item
        case _:
            advice = "`bag{x for x in s if P}` makes one of a sequence, or of ordered values"
            return _not_wanted("a bag", domain, expr, cx, advice)


def _not_wanted(
    wanted: str, domain: kernel.Expr, expr: syntax.Expr, cx: Context, *advice: str
) -> tuple[kernel.Expr, Type]:
    """The domain in place of one of another type, with an error if it has none yet."""
    if failed(domain):
        return domain, ERROR
    cx.error("E212", expr.span, f"{wanted} is wanted here, found {type_text(domain.type)}", *advice)
    return erroneous(expr.span), ERROR


_ALL_OF_A_SEQUENCE = "`sum([e for x in s])`, `min(s)` and `max(s)` take all of them"
_ALL_OF_A_BAG = "`sum(b)`, `min(b)` and `max(b)` take all of them, and `bag{x in b if P}` keeps some"


def _advice(type_: Type) -> list[str]:
    match type_:
        case SeqType() | BagType():
            of_all = _ALL_OF_A_SEQUENCE if isinstance(type_, SeqType) else _ALL_OF_A_BAG
            return [f"`elements(…)` is the set of its elements, each once; {of_all}"]
        case MapType():
            return ["`keys(…)` is the set of its keys"]
        case OptionType(SetType()):
            return [
                "the value may be none here: test it with `!= none`, or match it with `is some(v)`, in a condition before"
            ]
        case _:
            return []


def check_enumerable(domain: kernel.Expr, diagnostics: Diagnostics, *, searched: bool = False) -> bool:
    """Whether a set may be enumerated. Reports one that a log may make large (E211) or that is too large as it is
    (E210)."""
    match domain:
        case kernel.TypeDomain(_, of):
            return check_enumerable_type(of, domain, diagnostics, searched=searched)
        case kernel.Interval(SetType(RangeType() as range_)):
            return check_enumerable_type(range_, domain, diagnostics, searched=searched)
        case kernel.Subsets(_, kernel.TypeDomain(_, of)):
            return check_enumerable_type(SetType(of), domain, diagnostics, searched=searched)
        case kernel.Filter(_, _, inner, _):
            # A filter is made as a whole, however little of it is looked at. So its domain is not merely searched.
            return check_enumerable(inner, diagnostics)
        case kernel.Combine(_, _, left, right):
            # Of a difference or an intersection the right side is made as well.
            return check_enumerable(left, diagnostics) and check_enumerable(right, diagnostics)
        case _:
            return True


def check_enumerable_type(of: Type, place: kernel.Node, diagnostics: Diagnostics, *, searched: bool = False) -> bool:
    """Whether all values of a type may be enumerated. Reports it at ``place`` if not."""
    # Before its size is looked at: whatever that is now, a log may make it larger.
    if is_sized(of):
        message = "this goes through a range whose size a log decides"
        diagnostics.error(
            "E211",
            place.span,
            message,
            "go through what is in the state instead, or bound the range by an ordinary `param` in place of a `size param`",
        )
        return False
    return (searched and _is_searchable(of)) or _small_enough(cardinality(of), place, diagnostics)


def _is_searchable(of: Type) -> bool:
    """Whether the values can be made one after the other: integers, and sets of what is small enough to list."""
    return isinstance(of, RangeType) or (isinstance(of, SetType) and cardinality(of.item) <= LIMIT)


def _small_enough(count: int, place: kernel.Node, diagnostics: Diagnostics) -> bool:
    if count <= LIMIT:
        return True
    diagnostics.error(
        "E210",
        place.span,
        f"this set has more than {LIMIT:,} elements, too many to go through",
        "`exists x in S: P` and `forall x in S: P` go through as many as it takes, where S is a range or `subsets(…)`",
    )
    return False


def interval_type(low: kernel.Expr, high: kernel.Expr, *, sized: bool) -> SetType:
    """The type of ``low .. high``, as narrow as is statically known; ``sized`` says whether a size parameter
    was read."""
    # Ends that read the state have no constant. The set is then one of any integers, and only the state tells which.
    least, most = constant(low), constant(high)
    # An empty interval has no narrowest type.
    if isinstance(least, int) and isinstance(most, int) and least <= most:
        return SetType(RangeType(least, most, sized))
    return SetType(INT)


def longest(expr: kernel.Expr) -> int | None:
    """The most elements that a sequence can have, if its form or its type tells."""
    if isinstance(expr.type, SeqType) and expr.type.capacity is not None:
        return expr.type.capacity
    match expr:
        case kernel.MakeSeq(_, items):
            return len(items)
        case kernel.Combine(_, _, left, right):
            return _total(map(longest, (left, right)), sum)
        case kernel.IfThenElse(_, _, left, right):
            return _total(map(longest, (left, right)), max)
        case kernel.Filter(_, _, inner, _) | kernel.Slice(_, _, inner) | kernel.LetIn(_, _, _, inner):
            return longest(inner)
        case kernel.Image(_, _, (only,)):
            return longest(only.domain)
        case _:
            return None


def _total(sizes: Iterator[int | None], combine: Callable[[list[int]], int]) -> int | None:
    found = [*sizes]
    known = [size for size in found if size is not None]
    return combine(known) if len(known) == len(found) else None


def keeps_capacity(expr: kernel.Expr) -> bool:
    """Whether a sequence is certainly no longer than ``longest`` says: it is as written, or a part of the state.

    Capacities are enforced where a value is stored. So one that was just put into a record or an option may be longer.
    """
    match expr:
        case kernel.StateVar() | kernel.MakeSeq():
            return True
        case kernel.Old(_, inner) | kernel.Unwrap(_, inner) | kernel.Lookup(_, inner) | kernel.ReadField(_, inner):
            return keeps_capacity(inner)
        case kernel.Payload(_, inner) | kernel.Slice(_, _, inner) | kernel.Filter(_, _, inner):
            return keeps_capacity(inner)
        case kernel.Combine(_, _, left, right) | kernel.IfThenElse(_, _, left, right):
            return keeps_capacity(left) and keeps_capacity(right)
        case _:
            return False
