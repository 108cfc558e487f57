"""Types as written become kernel types: names resolved, ranges and capacities computed."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from assay.grammar import syntax
from assay.grammar.diagnostics.diagnostic import Diagnostics, Note, Span
from assay.grammar.elaborate.expressions.name_resolution import describe, qualified, resolve
from assay.grammar.elaborate.scopes.context import Context
from assay.grammar.elaborate.scopes.erroneous import failed
from assay.grammar.elaborate.scopes.scope import SortEntity, TypeEntity, span_of
from assay.grammar.elaborate.scopes.type_relations import ERROR, ErrorType, is_sized, mentions, parts, type_text
from assay.grammar.elaborate.types.cardinality import LIMIT, cardinality
from assay.grammar.elaborate.types.coercion import convert
from assay.grammar.elaborate.types.constant_folding import constant
from assay.grammar.kernel.types import (
    BOOL,
    INT,
    AtomType,
    BagType,
    IntType,
    MapType,
    OptionType,
    RangeType,
    SeqType,
    SetType,
    Type,
    tuple_type,
)

BUILT_IN = {"bool": BOOL, "int": INT}


def type_in(written: syntax.TypeExpr, cx: Context) -> Type:
    """The kernel type; ``ERROR`` after an error was reported."""
    match written:
        case syntax.NamedType(path):
            return _named(path, cx)
        case syntax.RangeType():
            return _range(written, cx)
        case syntax.OptionType(item):
            return OptionType(type_in(item, cx))
        case syntax.TupleType(items):
            return tuple_type(type_in(item, cx) for item in items)
        case syntax.CollectionType():
            return _collection(written, cx)
        case _:
            raise AssertionError(written)


def _named(path: syntax.DottedName, cx: Context) -> Type:
    # Before all names of the spec: a declaration cannot give these two another meaning as types.
    if len(path.parts) == 1 and path.parts[0].text in BUILT_IN:
        return BUILT_IN[path.parts[0].text]
    entity = resolve(qualified(path), cx)
    match entity:
        case None:
            return ERROR
        case SortEntity(sort):
            return AtomType(sort)
        case TypeEntity(type_):
            return type_
        case _:
            cx.error(
                "E103",
                path.span,
                f"`{path}` is {describe(entity)}, not a type",
                Note("it is declared here", span_of(entity)),
            )
            return ERROR


def _constants(cx: Context) -> Context:
    """The context in which only parameters may be read, including size parameters, whose reads are counted
    separately."""
    return replace(
        cx,
        scope=cx.scope.allowing(
            state=False, ghost=False, size=True, old=False, new=None, enabled=False, temporal=False
        ),
        sizes=[],
        # A wrong type is wrong whoever calls the function that it stands in: it is reported at its own place.
        site=None,
    )


def _range(written: syntax.RangeType, cx: Context) -> Type:
    inner = _constants(cx)
    low = _integer(written.low, inner)
    # Asked between the two ends, for `sizes` collects what both of them read.
    sized_below = bool(inner.sizes)
    high = _integer(written.high, inner)
    if low is None or high is None:
        return ERROR
    if low > high:
        cx.error("E208", written.span, f"the range {low} .. {high} is empty")
        return ERROR
    # For whoever asks whether the whole depends on a size, such as a set of its values.
    cx.sizes.extend(inner.sizes)
    return RangeType(low, high, bool(inner.sizes), sized_below)


def _integer(expr: syntax.Expr, cx: Context) -> int | None:
    """The value of a constant expression; None after an error."""
    value = convert(cx.infer(expr, INT), INT, cx.diagnostics)
    if failed(value):
        return None
    result = constant(value)
    if isinstance(result, int):
        return result
    cx.error("E209", expr.span, "this must be known before anything runs: a number made of numbers and parameters")
    return None


def _collection(written: syntax.CollectionType, cx: Context) -> Type:
    items = [type_in(item, cx) for item in written.items]
    capacity = None
    if written.capacity is not None:
        capacity = _capacity(written.capacity, cx)
        if capacity is None:
            return ERROR
    match written.kind:
        case "set":
            return SetType(items[0], capacity)
        case "seq":
            return SeqType(items[0], capacity)
        case "bag":
            return BagType(items[0], capacity)
        case "map":
            return _map(written, items[0], items[1], capacity, cx)
        case _:
            assert_never(written.kind)


def _capacity(expr: syntax.Expr, cx: Context) -> int | None:
    """The number after ``max``; None after an error."""
    capacity = _integer(expr, replace(_constants(cx), sizes=cx.sizes))
    if capacity is not None and capacity < 0:
        cx.error("E213", expr.span, f"a capacity cannot be {capacity}")
        return None
    return capacity


def _map(written: syntax.CollectionType, key: Type, value: Type, capacity: int | None, cx: Context) -> Type:
    if mentions(key, ErrorType):
        return ERROR
    if capacity is None and is_sized(key):
        message = "this map has an entry for every element of a range whose size a log decides"
        cx.error(
            "E211",
            written.items[0].span,
            message,
            "give it a capacity: `map[K, V, max n]` holds only the keys that were put in",
        )
        return ERROR
    if capacity is None and cardinality(key) > LIMIT:
        message = f"this map has an entry for each of more than {LIMIT:,} keys"
        cx.error(
            "E210",
            written.items[0].span,
            message,
            "give it a capacity: `map[K, V, max n]` holds only the keys that were put in",
        )
        return ERROR
    return MapType(key, value, capacity, capacity is not None)


def check_storable(type_: Type, span: Span, diagnostics: Diagnostics) -> bool:
    """Whether variables may have the type. Reports an ``int``, or a sequence or bag without a capacity, inside it
    (E214)."""
    match type_:
        case IntType():
            diagnostics.error(
                "E214", span, "state cannot hold an `int`, which has no bounds", "write a range such as `0 .. 10`"
            )
            return False
        case SeqType(capacity=None) | BagType(capacity=None):
            message = f"state cannot hold a {type_text(type_)} of any length"
            diagnostics.error("E214", span, message, "give it a capacity: `max n`")
            return False
        case _:
            return all(check_storable(part, span, diagnostics) for part in parts(type_))
