"""What is statically known of a value: that it is of a type, or within its capacity. Then no check is written."""

from __future__ import annotations

from assay.checker.interpreter.values.type_check import capacity_check, range_check
from assay.checker.interpreter.values.undefined import Undefined
from assay.grammar import kernel as k
from assay.grammar.kernel import types as t


def fits(expr: k.Expr, of: t.Type, fitting: frozenset[str]) -> bool:
    """Whether the expression's value is certainly in the range of ``of``; ``fitting`` are locals whose values are of
    their types."""
    # Capacities are asked apart: they cut a step, and do not make it undefined.
    check = range_check(of)
    if check is None:
        return True
    match expr:
        case k.Const(_, value):
            try:
                check(value)
            except Undefined:
                return False
            return True
        case k.IfThenElse(_, _, then, otherwise):
            return fits(then, of, fitting) and fits(otherwise, of, fitting)
        # What a name stands for was checked or not where the name was bound.
        case k.LetIn(_, binder, value, body):
            return fits(body, of, fitting | {binder.name} if fits(value, binder.type, fitting) else fitting)
        case k.MakeSome(_, operand) if isinstance(of, t.OptionType):
            return fits(operand, of.item, fitting)
        case k.MakeRecord(_, items) if isinstance(of, t.RecordType):
            return all(fits(item, field.type, fitting) for item, field in zip(items, of.fields, strict=True))
        case k.MakeVariant(_, variant, items) if isinstance(of, t.EnumType):
            fields = next(each.fields for each in of.variants if each.name == variant)
            return all(fits(item, field.type, fitting) for item, field in zip(items, fields, strict=True))
        case _:
            return _within(expr.type, of) and _is_typed(expr, fitting)


def _within(type_: t.Type, of: t.Type) -> bool:
    if isinstance(type_, t.RangeType) and isinstance(of, t.RangeType):
        return of.low <= type_.low and type_.high <= of.high
    return type_ == of


def _is_typed(expr: k.Expr, fitting: frozenset[str]) -> bool:
    """Whether the expression's value is certainly in the range of the expression's own type."""
    match expr:
        # That what is stored is of its type is checked by the invariant TypeOK.
        case k.StateVar() | k.Checked():
            return True
        case k.Local(_, name):
            return name in fitting
        case (
            k.Lookup(_, whole)
            | k.ReadField(_, whole)
            | k.Payload(_, whole)
            | k.Unwrap(_, whole)
            | k.Endpoint(_, _, whole)
        ):
            return fits(whole, whole.type, fitting)
        case k.Old(_, operand):
            return fits(operand, expr.type, fitting)
        case _:
            return False


def elements_fit(domain: k.Expr, fitting: frozenset[str]) -> bool:
    """Whether a variable bound to the domain's elements is certainly of their type."""
    match domain:
        case k.TypeDomain():
            return True
        case k.Filter(_, _, inner):
            return elements_fit(inner, fitting)
        case _:
            return fits(domain, domain.type, fitting)


def keeps_within(expr: k.Expr, of: t.Type) -> bool:
    """Whether the expression's value certainly has no more elements than ``of`` allows, at any depth."""
    exceeds = capacity_check(of)
    if exceeds is None:
        return True
    match expr:
        case k.Const(_, value):
            return not exceeds(value)
        case k.MakeSet(_, items) | k.MakeSeq(_, items) | k.MakeBag(_, items) if isinstance(
            of, t.SetType | t.SeqType | t.BagType
        ):
            return (of.capacity is None or len(items) <= of.capacity) and all(keeps_within(x, of.item) for x in items)
        case k.MakeMap(_, entries) if isinstance(of, t.MapType):
            small = of.capacity is None or len(entries) <= of.capacity
            return small and all(keeps_within(key, of.key) and keeps_within(value, of.value) for key, value in entries)
        case k.Tabulate(_, _, _, value) if isinstance(of, t.MapType):
            # A comprehension gives a partial map as many keys as its domain has; a total one cannot have too many.
            return not of.partial and capacity_check(of.key) is None and keeps_within(value, of.value)
        case k.MakeSome(_, operand) if isinstance(of, t.OptionType):
            return keeps_within(operand, of.item)
        case k.MakeRecord(_, items) if isinstance(of, t.RecordType):
            return all(keeps_within(item, field.type) for item, field in zip(items, of.fields, strict=True))
        case k.IfThenElse(_, _, then, otherwise):
            return keeps_within(then, of) and keeps_within(otherwise, of)
        case _:
            # What is in the state was held to its capacities when it was written.
            return expr.type == of and _is_stored(expr)


def _is_stored(expr: k.Expr) -> bool:
    """Whether the value is one of the state before the step, or a part of such a value."""
    match expr:
        case k.StateVar():
            return True
        case (
            k.Lookup(_, whole)
            | k.ReadField(_, whole)
            | k.Payload(_, whole)
            | k.Unwrap(_, whole)
            | k.Endpoint(_, _, whole)
        ):
            return _is_stored(whole)
        case _:
            return False
