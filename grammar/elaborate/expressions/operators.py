"""Arithmetic, comparison, membership, and the operators of collections, distinguished by the types of their
operands."""

from __future__ import annotations

from typing import Literal

from assay.grammar import kernel, syntax
from assay.grammar.elaborate.scopes.context import Context
from assay.grammar.elaborate.scopes.erroneous import erroneous, failed
from assay.grammar.elaborate.scopes.type_relations import (
    ERROR,
    UnknownType,
    erased,
    is_integer,
    mentions,
    type_text,
    unbounded,
    without_option,
)
from assay.grammar.elaborate.types.coercion import convert
from assay.grammar.elaborate.types.domains import interval_type
from assay.grammar.elaborate.types.unify import depends_on_neighbours, together
from assay.grammar.kernel.types import BOOL, INT, AtomType, BagType, MapType, OptionType, SeqType, SetType, Type

COMBINATIONS: dict[tuple[str, type[Type]], Literal["union", "difference", "intersection", "concat"]] = {
    ("+", SetType): "union",
    ("-", SetType): "difference",
    ("&", SetType): "intersection",
    ("+", BagType): "union",
    ("-", BagType): "difference",
    ("&", BagType): "intersection",
    ("+", SeqType): "concat",
}

FLIPPED: dict[str, Literal["<", "<="]] = {">": "<", ">=": "<="}


def infix(expr: syntax.Binary, cx: Context, hint: Type | None) -> kernel.Expr:
    """Elaborate an infix operator that is neither logical nor temporal."""
    match expr.op:
        case "==" | "!=":
            return _equality(expr, cx)
        case "<" | "<=" | ">" | ">=":
            return _order(expr, expr.op, cx)
        case "in" | "not in":
            return _membership(expr, cx)
        case "..":
            return _interval(expr, cx)
        case "*" | "//" | "%":
            return _arithmetic(expr, expr.op, *_integers(expr, cx))
        case _:
            return _overloaded(expr, cx, hint)


def negative(expr: syntax.Unary, cx: Context) -> kernel.Expr:
    """Elaborate ``-a``; of a literal it is a constant."""
    operand = convert(cx.infer(expr.operand, INT), INT, cx.diagnostics)
    # A constant gets a range as its type without a check (`coercion`), and `-1` should as `1` does.
    if isinstance(expr.operand, syntax.IntLit):
        return kernel.Const(INT, -expr.operand.value, span=expr.span)
    return kernel.Negate(INT, operand, span=expr.span)


def _equality(expr: syntax.Binary, cx: Context) -> kernel.Expr:
    def mismatch(left: str, right: str) -> str:
        return f"`{expr.op}` compares {left} with {right}, which have no value in common"

    (left, right), common = together([(expr.left, cx), (expr.right, cx)], None, mismatch)
    if mentions(common, UnknownType):
        return cx.error("E204", expr.span, "the type of neither side can be known here")
    if failed(left, right) or common == ERROR:
        return erroneous(expr.span)
    return kernel.Equal(BOOL, left, right, expr.op == "!=", span=expr.span)


def _order(expr: syntax.Binary, op: Literal["<", "<=", ">", ">="], cx: Context) -> kernel.Expr:
    def mismatch(left: str, right: str) -> str:
        return f"`{op}` compares {left} with {right}"

    (left, right), common = together([(expr.left, cx), (expr.right, cx)], None, mismatch)
    if failed(left, right) or common == ERROR:
        return erroneous(expr.span)
    match common:
        case SetType() | BagType():
            if mentions(common, UnknownType):
                return cx.error("E204", expr.span, "the type of neither side can be known here")
            # The kernel has `<=` and `<` of sets only.
            first, second = (right, left) if op in FLIPPED else (left, right)
            return kernel.Subset(BOOL, first, second, op in ("<", ">"), span=expr.span)
        case AtomType(sort) if sort.symmetric:
            message = f"the elements of the symmetric set {sort.name} have no order"
            return cx.error(
                "E207", expr.span, message, f"declare {sort.name} without `symmetric` if their order matters"
            )
        case _ if is_integer(common) or isinstance(common, AtomType):
            return kernel.Compare(BOOL, op, left, right, span=expr.span)
        case _:
            return _inapplicable(expr, left, right, cx)


def _inapplicable(expr: syntax.Binary, left: kernel.Expr, right: kernel.Expr, cx: Context) -> kernel.Expr:
    if failed(left, right):
        return erroneous(expr.span)
    advice = [
        "a value may be none here: test it with `!= none`, or match it with `is some(v)`, in a condition before"
        for side in (left, right)
        if isinstance(side.type, OptionType)
    ]
    message = f"`{expr.op}` does not apply to {type_text(left.type)} and {type_text(right.type)}"
    return cx.error("E203", expr.span, message, *advice[:1])


def _membership(expr: syntax.Binary, cx: Context) -> kernel.Expr:
    # `none in S` and `{} in S`: only the right side tells the type of the left one.
    if depends_on_neighbours(expr.left, cx.scope):
        collection = cx.infer(expr.right)
        item = cx.attempt(expr.left, _erased_element(collection.type))
    else:
        item = cx.infer(expr.left)
        collection = cx.infer(expr.right, SetType(erased(item.type)))
    if failed(item, collection):
        return erroneous(expr.span)
    element = _erased_element(collection.type)
    if element is None:
        message = f"`{expr.op}` asks for a collection, found {type_text(collection.type)}"
        return cx.error("E203", expr.right.span, message)
    converted = convert(item, element, cx.diagnostics)
    if failed(converted):
        return converted
    return kernel.Member(BOOL, converted, collection, expr.op == "not in", span=expr.span)


def _erased_element(type_: Type) -> Type | None:
    """The type of a collection's elements (of a map: its keys), without ranges; None if it is no collection."""
    match type_:
        case SetType(item) | SeqType(item) | BagType(item) | MapType(item):
            return erased(item)
        case _:
            return None


def _interval(expr: syntax.Binary, cx: Context) -> kernel.Expr:
    # More than before means that a size parameter was read in one of the ends.
    sizes = len(cx.sizes)
    low, high = _integers(expr, cx)
    if failed(low, high):
        return erroneous(expr.span)
    return kernel.Interval(interval_type(low, high, sized=len(cx.sizes) > sizes), low, high, span=expr.span)


def _integers(expr: syntax.Binary, cx: Context) -> tuple[kernel.Expr, kernel.Expr]:
    left = convert(cx.infer(expr.left, INT), INT, cx.diagnostics)
    right = convert(cx.infer(expr.right, INT), INT, cx.diagnostics)
    return left, right


def _arithmetic(
    expr: syntax.Binary, op: Literal["+", "-", "*", "//", "%"], left: kernel.Expr, right: kernel.Expr
) -> kernel.Expr:
    if failed(left, right):
        return erroneous(expr.span)
    return kernel.Arithmetic(INT, op, left, right, span=expr.span)


def _overloaded(expr: syntax.Binary, cx: Context, hint: Type | None) -> kernel.Expr:
    """``+``, ``-`` and ``&``: of integers, sets, bags and sequences."""
    wanted = without_option(hint)
    collection = wanted if isinstance(wanted, SetType | SeqType | BagType) else None

    def mismatch(left: str, right: str) -> str:
        told = f"`{expr.op}` does not apply to {left} and {right}"
        # A set beside a bag: the usual slip, since both are written in braces.
        kinds = {left.partition("[")[0], right.partition("[")[0]}
        return f"{told}: a bag of such elements is written `bag{{…}}`" if kinds == {"bag", "set"} else told

    (left, right), common = together([(expr.left, cx), (expr.right, cx)], collection, mismatch)
    if failed(left, right) or common == ERROR:
        return erroneous(expr.span)
    if mentions(common, UnknownType):
        return cx.error("E204", expr.span, "the type of neither side can be known here")
    combination = COMBINATIONS.get((expr.op, type(common)))
    if combination is not None:
        # What is taken from the left side is no larger than it, and keeps its capacity. A union may outgrow both.
        result = left.type if combination in ("difference", "intersection") else unbounded(common)
        return kernel.Combine(result, combination, left, right, span=expr.span)
    if is_integer(common) and expr.op in ("+", "-"):
        return _arithmetic(expr, "+" if expr.op == "+" else "-", left, right)
    return _inapplicable(expr, left, right, cx)
