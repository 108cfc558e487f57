"""Coercion: a typed expression as a value of the type that its place wants.

``T`` becomes ``T?``, an open ``none`` or ``{}`` gets its type, and integers are checked against a range where they
become part of a value.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeGuard

from assay.grammar import kernel
from assay.grammar.diagnostics.diagnostic import Diagnostics
from assay.grammar.elaborate.scopes.erroneous import erroneous, failed
from assay.grammar.elaborate.scopes.type_differences import difference, shared_variants
from assay.grammar.elaborate.scopes.type_relations import ErrorType, UnknownType, join, mentions, same, type_text
from assay.grammar.kernel.types import (
    BagType,
    BoolType,
    IntType,
    MapType,
    OptionType,
    RangeType,
    RecordType,
    SeqType,
    SetType,
    Type,
    tuple_type,
)


def convert(expr: kernel.Expr, to: Type, diagnostics: Diagnostics, *, put: bool = False) -> kernel.Expr:
    """The expression as a value of ``to``. Reports E201 if it cannot be one.

    With ``put`` the value is passed on or becomes part of another value, so ranges are enforced by ``Checked``. Without
    it the caller stores the value (and ``conform``s it) or merely computes with it. The integers of the result may then
    exceed the ranges of ``to``.
    """
    if failed(expr) or mentions(to, ErrorType):
        return expr
    converted = _converted(expr, to, put)
    if converted is None:
        _report(expr, to, diagnostics)
        return erroneous(expr.span)
    return converted


def convertible(expr: kernel.Expr, to: Type) -> bool:
    """Whether ``convert`` would succeed."""
    # What has an error fits anywhere: the error was reported, and a second one would only follow from it.
    return failed(expr) or mentions(to, ErrorType) or _converted(expr, to, False) is not None


def converted_if_possible(expr: kernel.Expr, to: Type | None) -> kernel.Expr:
    """The expression as a value of the type that a hint suggests, if it can be one; unchanged otherwise."""
    return (None if to is None or failed(expr) or mentions(to, ErrorType) else _converted(expr, to, False)) or expr


def _converted(expr: kernel.Expr, to: Type, put: bool) -> kernel.Expr | None:
    if _is_tuple_display(expr) and isinstance(to, RecordType) and to.is_tuple:
        return _tuple_of(expr, to, put)
    # `none` and `{}` have no type of their own: they take that of their place, whatever it is.
    if mentions(expr.type, UnknownType):
        return _settled(expr, to)
    if same(expr.type, to):
        # A range that is not enforced leaves the type of the expression as it is: types never promise too much.
        return _in_range(expr, to) if put else _literal_in_range(expr, to)
    # Only a map that is made here may be total or partial as its place wants. One that is read is what it is.
    if isinstance(expr, kernel.Tabulate | kernel.IfThenElse) and _total_for_partial(expr.type, to):
        return _as_partial(expr, to)
    if not isinstance(to, OptionType):
        return None
    # A test such as `x != none` made `T` of `T?` (`narrowing`), and here `T?` is wanted: the value as it was.
    if isinstance(expr, kernel.Unwrap) and same(expr.operand.type, to):
        return _converted(expr.operand, to, put)
    # Part of another value from now on, so its range is checked whatever the caller does.
    item = _converted(expr, to.item, True)
    return None if item is None else kernel.MakeSome(to, item, span=expr.span)


def _is_tuple_display(expr: kernel.Expr) -> TypeGuard[kernel.MakeRecord]:
    return isinstance(expr, kernel.MakeRecord) and isinstance(expr.type, RecordType) and expr.type.is_tuple


def _tuple_of(expr: kernel.MakeRecord, to: RecordType, put: bool) -> kernel.Expr | None:
    """A tuple as written, each of its values converted by itself."""
    if len(expr.items) != len(to.fields):
        return None
    items = [_converted(item, field.type, put) for item, field in zip(expr.items, to.fields, strict=True)]
    known = tuple(item for item in items if item is not None)
    if len(known) != len(items):
        return None
    return kernel.MakeRecord(tuple_type(item.type for item in known), known, span=expr.span)


def _settled(expr: kernel.Expr, to: Type) -> kernel.Expr | None:
    """Give an open ``none`` or empty display the wanted type."""
    match expr, to:
        case (kernel.Const(OptionType(), None), OptionType()):
            return replace(expr, type=to)
        case (kernel.IfThenElse(_, condition, then, otherwise), _):
            left, right = _converted(then, to, False), _converted(otherwise, to, False)
            return (
                None if left is None or right is None else kernel.IfThenElse(to, condition, left, right, span=expr.span)
            )
        case (kernel.Local(), _):  # what a fold makes, while its type is looked for
            return replace(expr, type=to) if join(expr.type, to) == to else None
        case (kernel.MakeRecord(), OptionType(item)):
            part = _converted(expr, item, True)
            return None if part is None else kernel.MakeSome(to, part, span=expr.span)
        case (kernel.LetIn(_, binder, value, body), _):
            inner = _converted(body, to, False)
            return None if inner is None else kernel.LetIn(to, binder, value, inner, span=expr.span)
        case (kernel.MakeSet(_, ()) | kernel.MakeSeq(_, ()) | kernel.MakeBag(_, ()), _):
            return _settled_empty(expr, to)
        case _:
            return None


def _settled_empty(expr: kernel.Expr, to: Type) -> kernel.Expr | None:
    match expr, to:
        case (kernel.MakeSet(), SetType()) | (kernel.MakeSeq(), SeqType()) | (kernel.MakeBag(), BagType()):
            return replace(expr, type=to)
        case (kernel.MakeSet(), BagType()):
            return kernel.MakeBag(to, (), span=expr.span)
        case (kernel.MakeSet(), MapType(partial=True)):
            return kernel.MakeMap(to, (), span=expr.span)
        case (_, OptionType(item)):
            inner = _settled_empty(expr, item)
            return None if inner is None else kernel.MakeSome(to, inner, span=expr.span)
        case _:
            return None


def _total_for_partial(have: Type, want: Type) -> bool:
    """Make a tabulated map total or partial, as the place wants it."""
    return (
        isinstance(have, MapType)
        and isinstance(want, MapType)
        and want.partial
        and not have.partial
        and same(replace(have, partial=True), want)
    )


def _as_partial(expr: kernel.Expr, to: Type) -> kernel.Expr | None:
    match expr:
        case kernel.Tabulate(MapType() as type_):
            return replace(expr, type=replace(type_, partial=True))
        case kernel.IfThenElse(MapType() as type_, condition, then, otherwise):
            left, right = _converted(then, to, False), _converted(otherwise, to, False)
            if left is None or right is None:
                return None
            return kernel.IfThenElse(replace(type_, partial=True), condition, left, right, span=expr.span)
        case _:
            return None


def _in_range(expr: kernel.Expr, to: Type) -> kernel.Expr:
    if fits(expr.type, to):
        return expr
    literal = _literal_in_range(expr, to)
    return literal if fits(literal.type, to) else kernel.Checked(to, expr, span=expr.span)


def _literal_in_range(expr: kernel.Expr, to: Type) -> kernel.Expr:
    """A literal in the range gets the range as its type, without a check."""
    if (
        isinstance(expr, kernel.Const)
        and isinstance(to, RangeType)
        and isinstance(expr.value, int)
        and to.low <= expr.value <= to.high
    ):
        return replace(expr, type=to)
    return expr


def fits(have: Type, want: Type) -> bool:
    """Whether every value of ``have`` lies within the ranges of ``want``; the two are the same type otherwise."""
    match have, want:
        case (_, IntType()):
            return True
        case (RangeType(low, high), RangeType(least, most)):
            return least <= low and high <= most
        case (
            (OptionType(a), OptionType(b))
            | (SetType(a), SetType(b))
            | (SeqType(a), SeqType(b))
            | (BagType(a), BagType(b))
        ):
            return fits(a, b)
        case (MapType(key, value), MapType(want_key, want_value)):
            return fits(key, want_key) and fits(value, want_value)
        case (RecordType("", fields), RecordType("", wanted)):
            return all(fits(a.type, b.type) for a, b in zip(fields, wanted, strict=True))
        case _:
            # Enums and named records keep the ranges of their fields: these were enforced when the value was made.
            return have == want


def _report(expr: kernel.Expr, to: Type, diagnostics: Diagnostics) -> None:
    """Report the mismatch, at the items of a display if they are what does not fit."""
    items = _items(expr, to)
    wrong = [(item, wanted) for item, wanted in items if not convertible(item, wanted)]
    if wrong:
        for item, wanted in wrong:
            _report(item, wanted, diagnostics)
        return
    alike = difference(expr.type, to)
    message = f"expected {type_text(to)}, found {'another ' if alike else ''}{type_text(expr.type)}"
    diagnostics.error("E201", expr.span, message, *alike, *shared_variants(expr.type, to), *_advice(expr.type, to))


def _items(expr: kernel.Expr, to: Type) -> list[tuple[kernel.Expr, Type]]:
    match expr, to:
        case (
            (kernel.MakeSet(_, items), SetType(item))
            | (kernel.MakeSeq(_, items), SeqType(item))
            | (kernel.MakeBag(_, items), BagType(item))
        ):
            return [(part, item) for part in items]
        case (kernel.MakeRecord(_, items), RecordType(_, fields)) if _is_tuple_display(expr) and to.is_tuple:
            return [(part, field.type) for part, field in zip(items, fields, strict=False)]
        case (kernel.MakeMap(_, entries), MapType(key, value)):
            return [pair for k, v in entries for pair in ((k, key), (v, value))]
        case _:
            return []


def _advice(have: Type, want: Type) -> list[str]:
    if isinstance(have, OptionType) and same(have.item, want):
        return [
            "the value may be none here: test it with `!= none`, or match it with `is some(v)`, in a condition before"
        ]
    if isinstance(have, OptionType) and isinstance(have.item, UnknownType):
        return [f"only an optional type such as {type_text(want)}? has none"]
    if isinstance(want, MapType) and not want.partial and mentions(have, UnknownType):
        return ["a map without capacity has a value for every key: `[k -> e]`"]
    if isinstance(want, BoolType) and isinstance(have, SeqType | SetType | BagType):
        empty = "[]" if isinstance(have, SeqType) else "{}"
        return [f"a collection is no condition: to ask whether it has elements write `… != {empty}`"]
    if isinstance(want, BagType) and isinstance(have, SetType):
        return ["a bag is written `bag{a, b}`; `bag{x for x in S}` has each element of a set once"]
    if isinstance(want, SetType) and isinstance(have, SeqType | BagType):
        return ["`elements(…)` is the set of its elements"]
    return []
