"""The tree builder for expressions and types."""

# ruff: noqa: D102, ARG002 - a method is described by the grammar rule of its name, and all have one signature

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from lark import Token

from assay.grammar.diagnostics.diagnostic import Span
from assay.grammar.parsing.builder import Builder, nodes
from assay.grammar.syntax import (
    Arg,
    Attr,
    BagDisplay,
    Binary,
    Binder,
    BoolLit,
    Bound,
    Call,
    Choose,
    CollectionType,
    DottedName,
    Expr,
    Field,
    FieldUpdate,
    Filter,
    Fold,
    Folding,
    FunctionType,
    IfThenElse,
    Image,
    Index,
    IntLit,
    Is,
    Junction,
    LetIn,
    MapDisplay,
    MapEntry,
    Name,
    NamedType,
    NoneLit,
    OptionType,
    Quantified,
    RangeType,
    Ref,
    SeqDisplay,
    SetDisplay,
    Tabulate,
    Tuple,
    TuplePattern,
    TupleType,
    TypeExpr,
    Unary,
    Wildcard,
    With,
)


class ExpressionBuilder(Builder):
    """One method for each rule of the expression and type grammar."""

    # ------------------------------------------------------------------------------------------ operators

    def binary(self, span: Span, children: list[Any]) -> Expr:
        left, op, right = children
        if op in ("and", "or"):
            # Only the left operand can be such a list, since the grammar nests `and` and `or` to the left.
            first = left.parts if isinstance(left, Junction) and left.op == op else (left,)
            return Junction(str(op), (*first, right), span=span)  # type: ignore[arg-type]  # one of the two
        return Binary(str(op), left, right, span=span)  # type: ignore[arg-type]  # the grammar yields exactly BinaryOp

    def grouped(self, span: Span, children: list[Any]) -> Expr:
        (inside,) = children
        return replace(inside, grouped=True) if isinstance(inside, Junction) else inside

    def not_in(self, span: Span, children: list[Any]) -> Expr:
        return Binary("not in", children[0], children[-1], span=span)

    def unary(self, span: Span, children: list[Any]) -> Expr:
        op, operand = children
        return Unary(str(op), operand, span=span)  # type: ignore[arg-type]  # the grammar yields exactly UnaryOp

    def is_(self, span: Span, children: list[Any]) -> Expr:
        subject, negation, pattern = children
        return Is(subject, pattern, negation is not None, span=span)

    # -------------------------------------------------------------------------------- binding expressions

    def quantified(self, span: Span, children: list[Any]) -> Expr:
        kind: Literal["forall", "exists"] = "forall" if children[0] == "forall" else "exists"
        return Quantified(kind, children[1], children[2], span=span)

    def binder(self, span: Span, children: list[Any]) -> Binder:
        *names, domain = nodes(children)
        return Binder(tuple(names), domain, span=span)

    def binders(self, span: Span, children: list[Any]) -> tuple[Binder, ...]:
        return tuple(children)

    def let_in(self, span: Span, children: list[Any]) -> Expr:
        name, value, body = children
        return LetIn(name, value, body, span=span)

    def choose(self, span: Span, children: list[Any]) -> Expr:
        name, _, domain, condition = children
        return Choose(name, domain, condition, span=span)

    def fold(self, span: Span, children: list[Any]) -> Expr:
        name, start, item, _, domain, body = children
        return Fold(name, start, item, domain, body, span=span)

    def folding(self, span: Span, children: list[Any]) -> Expr:
        function, element, binders, condition = children
        return Folding(function, element, binders, condition, span=span)

    def folding_of(self, span: Span, children: list[Any]) -> Expr:
        word, element, binder = children
        place = self.origin.span(word)
        return Folding(Ref(Name(str(word), span=place), span=place), element, (binder,), None, span=span)

    def if_then_else(self, span: Span, children: list[Any]) -> Expr:
        condition, then, otherwise = children
        return IfThenElse(condition, then, otherwise, span=span)

    # -------------------------------------------------------------------------------------- postfix forms

    def attr(self, span: Span, children: list[Any]) -> Expr:
        return Attr(children[0], children[1], span=span)

    def index(self, span: Span, children: list[Any]) -> Expr:
        return Index(children[0], children[1], span=span)

    def call(self, span: Span, children: list[Any]) -> Expr:
        function, *arguments = nodes(children)
        return Call(function, tuple(arguments), span=span)

    def arg(self, span: Span, children: list[Any]) -> Arg:
        return Arg(children[0], children[1], span=span)

    def with_(self, span: Span, children: list[Any]) -> Expr:
        base, *updates = nodes(children)
        return With(base, tuple(updates), span=span)

    def field_update(self, span: Span, children: list[Any]) -> FieldUpdate:
        return FieldUpdate(children[0], children[1], span=span)

    def entry(self, span: Span, children: list[Any]) -> MapEntry:
        return MapEntry(children[0], children[1], span=span)

    # ---------------------------------------------------------------------------------------------- atoms

    def ref(self, span: Span, children: list[Any]) -> Expr:
        return Ref(children[0], span=span)

    def int_lit(self, span: Span, children: list[Any]) -> Expr:
        return IntLit(int(children[0]), span=span)

    def bool_lit(self, span: Span, children: list[Any]) -> Expr:
        return BoolLit(children[0] == "true", span=span)

    def none_lit(self, span: Span, children: list[Any]) -> Expr:
        return NoneLit(span=span)

    def wildcard(self, span: Span, children: list[Any]) -> Expr:
        return Wildcard(span=span)

    # ----------------------------------------------------------------------- displays and comprehensions

    def items(self, span: Span, children: list[Any]) -> tuple[Expr, ...]:
        return tuple(children)

    def set_display(self, span: Span, children: list[Any]) -> Expr:
        return SetDisplay(children[0] or (), span=span)

    def seq_display(self, span: Span, children: list[Any]) -> Expr:
        return SeqDisplay(children[0] or (), span=span)

    def bag_display(self, span: Span, children: list[Any]) -> Expr:
        return BagDisplay(children[-1] or (), span=span)

    def map_display(self, span: Span, children: list[Any]) -> Expr:
        return MapDisplay(tuple(children), span=span)

    def tuple_display(self, span: Span, children: list[Any]) -> Expr:
        return Tuple((*children,), span=span)

    def set_filter(self, span: Span, children: list[Any]) -> Expr:
        return self._filter("set", span, children)

    def seq_filter(self, span: Span, children: list[Any]) -> Expr:
        return self._filter("seq", span, children)

    def bag_filter(self, span: Span, children: list[Any]) -> Expr:
        # The word `bag` is a token among the children. Brackets are not: names of their terminals begin with `_`.
        return self._filter("bag", span, children[1:])

    def _filter(self, kind: Literal["set", "seq", "bag"], span: Span, children: list[Any]) -> Expr:
        member, condition = children
        match member:
            # The grammar reads `x in S` as a comparison: with one token of lookahead it cannot tell that `x` is new
            # here.
            case Binary("in", Ref() | Tuple() as bound, domain) if (name := _bound(bound)) is not None:
                return Filter(kind, name, domain, condition, span=span)
            case _:
                # What is made after an error is dropped with its declaration (`parse._read_source`).
                self._not_a_comprehension(member, "before `if` stands a new name and what it ranges over: `x in S`")
                return Filter(kind, Name("_", span=span), member, condition, span=span)

    def set_image(self, span: Span, children: list[Any]) -> Expr:
        return Image("set", children[0], children[1], children[2], span=span)

    def seq_image(self, span: Span, children: list[Any]) -> Expr:
        return Image("seq", children[0], children[1], children[2], span=span)

    def bag_image(self, span: Span, children: list[Any]) -> Expr:
        return Image("bag", children[1], children[2], children[3], span=span)

    def tabulate(self, span: Span, children: list[Any]) -> Expr:
        key, value = children
        match key:
            case Ref() | Tuple() if (name := _bound(key)) is not None:
                return Tabulate(name, None, value, span=span)
            case Binary("in", Ref() | Tuple() as bound, domain) if (name := _bound(bound)) is not None:
                return Tabulate(name, domain, value, span=span)
            case _:
                self._not_a_comprehension(
                    key, "before `->` stands a new name: `[b -> e]`, or `[b in S -> e]`; entries stand in `{ }`"
                )
                return Tabulate(Name("_", span=span), None, value, span=span)

    def _not_a_comprehension(self, found: Expr, message: str) -> None:
        self.diagnostics.error("E019", found.span, message)

    # ---------------------------------------------------------------------------------------------- types

    def field(self, span: Span, children: list[Any]) -> Field:
        return Field(children[0], children[1], span=span)

    def fields(self, span: Span, children: list[Any]) -> tuple[Field, ...]:
        return nodes(children)

    def option_type(self, span: Span, children: list[Any]) -> TypeExpr:
        return OptionType(children[0], span=span)

    def range_type(self, span: Span, children: list[Any]) -> TypeExpr:
        return RangeType(children[0], children[-1], span=span)

    def types(self, span: Span, children: list[Any]) -> tuple[TypeExpr, ...]:
        return nodes(children)

    def function_type(self, span: Span, children: list[Any]) -> TypeExpr:
        return FunctionType(children[0], children[1], span=span)

    def tuple_type(self, span: Span, children: list[Any]) -> TypeExpr:
        return TupleType(nodes(children), span=span)

    def collection(self, span: Span, children: list[Any]) -> TypeExpr:
        kind: Token = children[0]
        assert kind in ("set", "seq", "bag")
        return CollectionType(str(kind), (children[1],), children[2], span=span)  # type: ignore[arg-type]

    def map_type(self, span: Span, children: list[Any]) -> TypeExpr:
        return CollectionType("map", (children[1], children[2]), children[3], span=span)

    def type_of_expr(self, span: Span, children: list[Any]) -> TypeExpr:
        """A type that was parsed as an expression: a dotted name, or a range in parentheses."""
        # At `a` the grammar cannot tell a type's name from a range `a .. b`. So it reads an expression in both cases.
        match children[0]:
            case Binary("..", low, high):
                return RangeType(low, high, span=span)
            case found:
                names = _dotted(found)
                if names is None:
                    what = "a type is expected here; a range of integers is written `a .. b`"
                    self.diagnostics.error("E020", span, what, *_instead_of_type(found))
                return NamedType(DottedName(names or (Name("_", span=span),), span=span), span=span)


def _instead_of_type(found: Expr) -> tuple[str, ...]:
    """What to write for a type of TLA+ that is an expression there."""
    match found:
        case Tabulate():
            return ("a function is a map: `map[K, V]`",)
        case Binary("+"):
            return ("values of several kinds are an enum: `enum Place: On(floor: Floor), In(car: Car)`",)
        case _:
            return ()


def _bound(expr: Expr) -> Bound | None:
    """What stands before the `in` of a comprehension, as what it binds; None if it binds nothing."""
    match expr:
        case Ref(name):
            return name
        case Tuple(items):
            # `_` binds nothing and is None, as in a pattern. So is a part that is no name, hence the next line.
            parts = [None if isinstance(item, Wildcard) else _bound(item) for item in items]
            known = all(part is not None or isinstance(item, Wildcard) for part, item in zip(parts, items, strict=True))
            return TuplePattern(tuple(parts), span=expr.span) if known else None
        case _:
            return None


def _dotted(expr: Expr) -> tuple[Name, ...] | None:
    names: list[Name] = []
    while isinstance(expr, Attr):
        names.append(expr.name)
        expr = expr.base
    return (expr.name, *reversed(names)) if isinstance(expr, Ref) else None
