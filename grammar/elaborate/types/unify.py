"""Unification: expressions that must have one type, such as both sides of ``==``, both branches of ``if``, the items of
a display."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

from assay.grammar import kernel, syntax
from assay.grammar.elaborate.scopes.context import Context
from assay.grammar.elaborate.scopes.erroneous import erroneous, failed
from assay.grammar.elaborate.scopes.scope import Scope, VariantEntity
from assay.grammar.elaborate.scopes.type_differences import difference, shared_variants
from assay.grammar.elaborate.scopes.type_relations import ERROR, UNKNOWN, UnknownType, erased, join, mentions, type_text
from assay.grammar.elaborate.types.coercion import convert, convertible
from assay.grammar.kernel.types import BagType, SeqType, SetType, Type


def is_empty(expr: syntax.Expr) -> bool:
    """Whether the expression is ``none`` or an empty display, whose type depends on its surroundings."""
    match expr:
        case syntax.NoneLit() | syntax.SetDisplay(()) | syntax.SeqDisplay(()) | syntax.BagDisplay(()):
            return True
        case _:
            return False


def depends_on_neighbours(expr: syntax.Expr, scope: Scope) -> bool:
    """Whether the type of the expression depends on that of its neighbours."""
    if is_empty(expr):
        return True
    match expr:
        case syntax.Tabulate(_, None) | syntax.Tuple():
            return True
        case syntax.Ref(name) | syntax.Call(syntax.Ref(name)):
            return _is_shared_variant(name.text, scope)
        case syntax.SetDisplay(items) | syntax.SeqDisplay(items) | syntax.BagDisplay(items):
            return all(depends_on_neighbours(item, scope) for item in items)
        case syntax.IfThenElse(_, then, otherwise):
            return depends_on_neighbours(then, scope) and depends_on_neighbours(otherwise, scope)
        case syntax.Match(_, cases, otherwise):
            values = [case.value for case in cases] + ([] if otherwise is None else [otherwise])
            return all(depends_on_neighbours(value, scope) for value in values)
        case _:
            return False


def _is_shared_variant(name: str, scope: Scope) -> bool:
    variants = [entity for entity in scope.find(name) if isinstance(entity, VariantEntity)]
    return len({enum for entity in variants for enum, _ in entity.candidates}) > 1


Mismatch = Callable[[str, str], str]


def together(
    items: Sequence[tuple[syntax.Expr, Context]], hint: Type | None, mismatch: Mismatch
) -> tuple[list[kernel.Expr], Type]:
    """Elaborate each expression in its context and convert all to their common type.

    The type contains ``UnknownType`` if all are open, and is ``ERROR`` after a clash. ``mismatch`` makes a message of
    two types that have nothing in common.
    """
    # They are elaborated in another order than that in which they stand.
    values = [erroneous(expr.span) for expr, _ in items]
    common: Type | None = None
    # Those come last whose type depends on the others: in `none == x` the right side is elaborated first.
    for index in sorted(range(len(items)), key=lambda i: (depends_on_neighbours(items[i][0], items[i][1].scope), i)):
        expr, cx = items[index]
        values[index] = cx.attempt(expr, hint if hint is not None else _suggestion(expr, common))
        common = _common(common, values[index], cx, mismatch)
    if not items or common is None or common == ERROR:
        return values, UNKNOWN if common is None else common
    return _converted(values, common, hint, items[0][1])


def _suggestion(expr: syntax.Expr, common: Type | None) -> Type | None:
    """The hint that the others give. Their ranges are not imposed on a value that is only compared or combined with
    them."""
    return common if common is None or is_empty(expr) else erased(common)


def _common(so_far: Type | None, value: kernel.Expr, cx: Context, mismatch: Mismatch) -> Type:
    """The common type with one more value; after a clash nothing more is reported."""
    if so_far is None or so_far == ERROR or failed(value):
        return value.type if so_far is None else so_far
    joined = join(so_far, value.type)
    if joined is None:
        advice = (
            difference(value.type, so_far)
            or shared_variants(value.type, so_far)
            or _single(so_far, value.type)
            or _single(value.type, so_far)
        )
        cx.error("E202", value.span, mismatch(type_text(so_far), type_text(value.type)), *advice)
    return ERROR if joined is None else joined


def _single(collection: Type, item: Type) -> list[str]:
    """The notation for a collection of one element, for advice where an element stands beside such a collection."""
    if not isinstance(collection, SetType | SeqType | BagType) or join(collection.item, item) is None:
        return []
    match collection:
        case SetType():
            return ["`{x}` is the set whose only element is x"]
        case SeqType():
            return ["`[x]` is the sequence whose only element is x"]
        case _:
            return ["`bag{x}` is the bag whose only element is x"]


def _converted(
    values: list[kernel.Expr], common: Type, hint: Type | None, cx: Context
) -> tuple[list[kernel.Expr], Type]:
    """Convert to the wanted type if all can be of it, to their common type otherwise."""
    if hint is not None and all(convertible(value, hint) for value in values):
        values = [convert(value, hint, cx.diagnostics) for value in values]
        # Not the hint itself: an integer that is not in its range keeps its wider type.
        types = [value.type for value in values if not failed(value)]
        return values, reduce(lambda a, b: join(a, b) or a, types) if types else hint
    if mentions(common, UnknownType):
        return values, common
    return [convert(value, common, cx.diagnostics) for value in values], common
