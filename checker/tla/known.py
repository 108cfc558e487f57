"""Whether a value is known to be of a type without looking: then it need not be checked where it is put into something."""

from __future__ import annotations

from assay.checker.evaluate.conform import range_check
from assay.checker.evaluate.undefined import Undefined
from assay.grammar import kernel as k
from assay.grammar import kernel_types as t


def fits(expr: k.Expr, of: t.Type, fitting: frozenset[str]) -> bool:
    """Whether the expression's value is surely in the range of ``of``; ``fitting`` are locals whose values are of their types."""
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
    """Whether the expression's value is surely in the range of the expression's own type."""
    match expr:
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
    """Whether what is bound by going through the domain is surely of the type of its elements."""
    match domain:
        case k.TypeDomain():
            return True
        case k.Filter(_, _, inner):
            return elements_fit(inner, fitting)
        case _:
            return fits(domain, domain.type, fitting)
