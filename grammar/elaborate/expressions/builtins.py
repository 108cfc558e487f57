"""The built-in functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from assay.grammar import kernel, syntax
from assay.grammar.elaborate.scopes.context import Context
from assay.grammar.elaborate.scopes.erroneous import erroneous, failed
from assay.grammar.elaborate.scopes.type_relations import erased, is_integer, type_text
from assay.grammar.elaborate.types.coercion import convert
from assay.grammar.kernel.types import INT, BagType, MapType, OptionType, SeqType, SetType, Type

Args = tuple[syntax.Expr, ...]


def _wrong(place: syntax.Expr, wanted: str, found: kernel.Expr, cx: Context) -> kernel.Expr:
    if failed(found):
        return erroneous(place.span)
    advice = []
    if isinstance(found.type, OptionType):
        advice = [
            "the value may be none here: test it with `!= none`, or match it with `is some(v)`, in a condition before"
        ]
    return cx.error("E203", place.span, f"{wanted} is wanted here, found {type_text(found.type)}", *advice)


def _count(expr: syntax.Call, args: Args, cx: Context) -> kernel.Expr:
    operand = cx.infer(args[0])
    if not isinstance(operand.type, SetType | BagType | SeqType | MapType):
        return _wrong(args[0], "a set, bag, sequence or map", operand, cx)
    return kernel.Count(INT, operand, span=expr.span)


def _times(expr: syntax.Call, args: Args, cx: Context) -> kernel.Expr:
    bag = cx.infer(args[0])
    if not isinstance(bag.type, BagType):
        return _wrong(args[0], "a bag", bag, cx)
    item = _as_key(args[1], bag.type.item, cx)
    return item if failed(item) else kernel.Times(INT, bag, item, span=expr.span)


def _as_key(expr: syntax.Expr, wanted: Type, cx: Context) -> kernel.Expr:
    """A value that is looked up: outside the range it is merely absent, so no range check is inserted."""
    return convert(cx.attempt(expr, erased(wanted)), erased(wanted), cx.diagnostics)


def _keys(expr: syntax.Call, args: Args, cx: Context) -> kernel.Expr:
    operand = cx.infer(args[0])
    if not isinstance(operand.type, MapType):
        return _wrong(args[0], "a map", operand, cx)
    return kernel.Keys(SetType(operand.type.key), operand, span=expr.span)


def _values(expr: syntax.Call, args: Args, cx: Context) -> kernel.Expr:
    operand = cx.infer(args[0])
    if not isinstance(operand.type, MapType):
        return _wrong(args[0], "a map", operand, cx)
    return kernel.Values(SetType(operand.type.value), operand, span=expr.span)


def _without(expr: syntax.Call, args: Args, cx: Context) -> kernel.Expr:
    operand = cx.infer(args[0])
    # A total map has a value for every key, so none can be taken out.
    if not isinstance(operand.type, MapType) or not operand.type.partial:
        return _wrong(args[0], "a partial map", operand, cx)
    key = _as_key(args[1], operand.type.key, cx)
    return key if failed(key) else kernel.Without(operand.type, operand, key, span=expr.span)


def _aggregate(op: Literal["min", "max", "sum"]) -> Builtin:
    def elaborate(expr: syntax.Call, args: Args, cx: Context) -> kernel.Expr:
        operand = cx.infer(args[0])
        if not isinstance(operand.type, SetType | BagType | SeqType) or not is_integer(operand.type.item):
            return _wrong(args[0], "a set, bag or sequence of integers", operand, cx)
        # A sum may leave the range of the elements; their least and greatest cannot.
        result = INT if op == "sum" else operand.type.item
        return kernel.Aggregate(result, op, operand, span=expr.span)

    return elaborate


def _endpoint(op: Literal["first", "last"]) -> Builtin:
    def elaborate(expr: syntax.Call, args: Args, cx: Context) -> kernel.Expr:
        operand = cx.infer(args[0])
        if not isinstance(operand.type, SeqType):
            return _wrong(args[0], "a sequence", operand, cx)
        return kernel.Endpoint(operand.type.item, op, operand, span=expr.span)

    return elaborate


def _slice(op: Literal["take", "drop"]) -> Builtin:
    def elaborate(expr: syntax.Call, args: Args, cx: Context) -> kernel.Expr:
        operand = cx.infer(args[0])
        if not isinstance(operand.type, SeqType):
            return _wrong(args[0], "a sequence", operand, cx)
        length = convert(cx.infer(args[1], INT), INT, cx.diagnostics)
        return length if failed(length) else kernel.Slice(operand.type, op, operand, length, span=expr.span)

    return elaborate


def _elements(expr: syntax.Call, args: Args, cx: Context) -> kernel.Expr:
    operand = cx.infer(args[0])
    if not isinstance(operand.type, SeqType | BagType):
        return _wrong(args[0], "a sequence or bag", operand, cx)
    return kernel.Elements(SetType(operand.type.item), operand, span=expr.span)


def _subsets(expr: syntax.Call, args: Args, cx: Context) -> kernel.Expr:
    operand = cx.infer(args[0])
    if not isinstance(operand.type, SetType):
        return _wrong(args[0], "a set", operand, cx)
    return kernel.Subsets(SetType(operand.type), operand, span=expr.span)


Builtin = Callable[[syntax.Call, Args, Context], kernel.Expr]

TABLE: dict[str, tuple[tuple[str, ...], Builtin]] = {
    "count": (("S",), _count),
    "times": (("bag", "x"), _times),
    "keys": (("m",), _keys),
    "values": (("m",), _values),
    "without": (("m", "k"), _without),
    "min": (("S",), _aggregate("min")),
    "max": (("S",), _aggregate("max")),
    "sum": (("S",), _aggregate("sum")),
    "first": (("s",), _endpoint("first")),
    "last": (("s",), _endpoint("last")),
    "take": (("s", "n"), _slice("take")),
    "drop": (("s", "n"), _slice("drop")),
    "elements": (("s",), _elements),
    "subsets": (("S",), _subsets),
}
"""The built-in functions by name, each with the names of its parameters in messages."""


def built_in(name: str, expr: syntax.Call, cx: Context) -> kernel.Expr:
    """Elaborate a call of a function of ``TABLE``; its arguments have no names."""
    parameters, elaborate = TABLE[name]
    named = next((argument for argument in expr.arguments if argument.name is not None), None)
    if named is not None:
        return cx.error("E205", named.span, f"the arguments of {name} have no names")
    if len(expr.arguments) != len(parameters):
        return cx.error(
            "E205", expr.span, f"{name}({', '.join(parameters)}) takes {len(parameters)}, {len(expr.arguments)} given"
        )
    # Arguments are values of one moment, wherever in a formula the call stands.
    return elaborate(expr, tuple(argument.value for argument in expr.arguments), cx.timeless())
