"""Kernel expressions as text: the source text where it is available, otherwise printed in the language's notation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import assert_never

from assay.checker.interpreter.values.show import show_value
from assay.checker.interpreter.values.show_types import show_type
from assay.grammar import kernel as k
from assay.grammar.diagnostics.diagnostic import NOWHERE, Span
from assay.grammar.kernel.node_unions import Access, Changing, Collecting, Condition, Making, expression
from assay.grammar.kernel.types import BagType, EnumType, RangeType, RecordType, SeqType, Type

Sources = Mapping[str, str]
"""The text of every source file by its name in spans."""

LOOSE = 0
IMPLIES, OR, AND, NOT, COMPARE, RANGE, SUM, PRODUCT, UNARY, POSTFIX = range(1, 11)


def expression_text(expr: k.Expr, sources: Sources) -> str:
    """The expression as written, on one line; printed from the kernel if its source is not available."""
    return span_text(expr.span, sources) or print_expression(expr)


def span_text(span: Span, sources: Sources) -> str | None:
    """The text at a place, with runs of blanks reduced to one; None if the place or its file is unknown."""
    text = sources.get(span.file)
    if text is None or span == NOWHERE:
        return None
    lines = list(_lines(text)[span.line - 1 : span.end_line])
    if not lines:
        return None
    lines[-1] = lines[-1][: span.end_column - 1]
    lines[0] = lines[0][span.column - 1 :]
    # A comment at the end of a line would swallow the lines that are joined behind it.
    words = " ".join(line.split("#")[0] if len(lines) > 1 else line for line in lines).split()
    return " ".join(words) or None


@lru_cache(maxsize=64)
def _lines(text: str) -> tuple[str, ...]:
    """The lines of a source text; an explanation asks for hundreds of places in the same few texts."""
    # Not `splitlines`: it also ends a line at a form feed or U+2028 in a comment, where the parser does not.
    return tuple(text.split("\n"))


def print_expression(expr: k.Expr, around: int = LOOSE) -> str:
    """The expression in the language's notation, in parentheses if it binds weaker than what is ``around`` it."""
    text, strength = _print(expr)
    return f"({text})" if strength < around else text


def _print(expr: k.Expr) -> tuple[str, int]:
    node = expression(expr)
    match node:
        case k.Const(of, value):
            return show_value(value, of), POSTFIX
        case k.StateVar(_, name) | k.Local(_, name):
            return name, POSTFIX
        case k.TypeDomain(_, of):
            return show_type(of), RANGE if isinstance(of, RangeType) else POSTFIX
        case k.Old(_, operand):
            return f"old({print_expression(operand)})", POSTFIX
        case k.IfThenElse(_, condition, then, otherwise):
            parts = map(print_expression, (condition, then, otherwise))
            return "if {} then {} else {}".format(*parts), LOOSE
        case k.LetIn(_, binder, value, body):
            return f"let {binder.name} = {print_expression(value)}: {print_expression(body)}", LOOSE
        case (
            k.Not() | k.Logic() | k.Equal() | k.Compare() | k.Quantified()
            | k.Member() | k.Subset() | k.IsVariant() | k.IsSome()
        ):  # fmt: skip
            return _condition(node)
        case k.Negate(_, operand):
            return f"-{print_expression(operand, UNARY)}", UNARY
        case k.Arithmetic(_, op, left, right):
            return _binary(left, op, right, SUM if op in {"+", "-"} else PRODUCT)
        case k.Count(_, operand):
            return _call("count", operand)
        case k.Times(_, bag, item):
            return _call("times", bag, item)
        case k.Aggregate(_, op, operand):
            return _call(op, operand)
        case (
            k.Checked() | k.MakeSome() | k.MakeSet() | k.MakeSeq() | k.MakeBag()
            | k.MakeMap() | k.MakeRecord() | k.MakeVariant()
        ):  # fmt: skip
            return _making(node)
        case (
            k.Filter() | k.Image() | k.Tabulate() | k.Interval() | k.Combine()
            | k.Subsets() | k.Keys() | k.Values() | k.Elements() | k.Slice()
        ):  # fmt: skip
            return _collecting(node)
        case k.Lookup() | k.Endpoint() | k.ReadField() | k.Payload() | k.Unwrap():
            return _access(node), POSTFIX
        case k.UpdateEntry() | k.UpdateField() | k.Without():
            return _changing(node), POSTFIX
        case k.Temporal() | k.ActionAtom():
            return _in_time(node)
        case _:
            assert_never(node)


def _binary(left: k.Expr, op: str, right: k.Expr, strength: int) -> tuple[str, int]:
    # The right side needs parentheses at equal strength, since operators associate to the left.
    return f"{print_expression(left, strength)} {op} {print_expression(right, strength + 1)}", strength


def _call(name: str, *operands: k.Expr) -> tuple[str, int]:
    return f"{name}({_list(operands)})", POSTFIX


def _list(items: Iterable[k.Expr]) -> str:
    return ", ".join(map(print_expression, items))


def _condition(node: Condition) -> tuple[str, int]:
    match node:
        case k.Not(_, operand):
            return f"not {print_expression(operand, NOT)}", NOT
        case k.Logic(_, op, parts):
            strength = {"and": AND, "or": OR, "implies": IMPLIES}[op]
            # `implies` associates to the right. Parentheses on both sides read the same to everybody.
            return f" {op} ".join(print_expression(part, strength + 1) for part in parts), strength
        case k.Equal(_, left, right, negated):
            return _binary(left, "!=" if negated else "==", right, COMPARE)
        case k.Compare(_, op, left, right):
            return _binary(left, op, right, COMPARE)
        case k.Quantified(_, kind, binder, domain, body):
            return f"{kind} {binder.name} in {print_expression(domain)}: {print_expression(body)}", LOOSE
        case k.Member(_, item, collection, negated):
            return _binary(item, "not in" if negated else "in", collection, COMPARE)
        case k.Subset(_, left, right, strict):
            return _binary(left, "<" if strict else "<=", right, COMPARE)
        case k.IsVariant(_, operand, variant):
            return f"{print_expression(operand, RANGE)} is {variant}", COMPARE
        case k.IsSome(_, operand):
            return f"{print_expression(operand, RANGE)} != none", COMPARE
        case _:
            assert_never(node)


def _making(node: Making) -> tuple[str, int]:
    match node:
        # Neither is written in the language: a range is checked, and a value wrapped, where the type asks for it.
        case k.Checked(_, operand) | k.MakeSome(_, operand):
            return _print(operand)
        case k.MakeSet(_, items):
            return f"{{{_list(items)}}}", POSTFIX
        case k.MakeSeq(_, items):
            return f"[{_list(items)}]", POSTFIX
        case k.MakeBag(_, items):
            return f"bag{{{_list(items)}}}", POSTFIX
        case k.MakeMap(_, entries):
            return "{" + ", ".join(f"{print_expression(a)} -> {print_expression(b)}" for a, b in entries) + "}", POSTFIX
        case k.MakeRecord(of, items):
            assert isinstance(of, RecordType)
            if of.is_tuple:
                return f"({_list(items)})", POSTFIX
            names = [field.name for field in of.fields]
            named = (f"{name} = {print_expression(item)}" for name, item in zip(names, items, strict=True))
            return f"{of.name}({', '.join(named)})", POSTFIX
        case k.MakeVariant(_, variant, items):
            return (f"{variant}({_list(items)})" if items else variant), POSTFIX
        case _:
            assert_never(node)


def _collecting(node: Collecting) -> tuple[str, int]:
    match node:
        case k.Filter(of, binder, domain, condition):
            text = f"{binder.name} in {print_expression(domain)} if {print_expression(condition)}"
            return ("bag" if isinstance(of, BagType) else "") + _bracket(of, text), POSTFIX
        case k.Image(of, element, generators, condition):
            ranges = ", ".join(f"{g.binder.name} in {print_expression(g.domain)}" for g in generators)
            only = "" if condition is None else f" if {print_expression(condition)}"
            return _bracket(of, f"{print_expression(element)} for {ranges}{only}"), POSTFIX
        case k.Tabulate(_, binder, domain, value):
            return f"[{binder.name} in {print_expression(domain)} -> {print_expression(value)}]", POSTFIX
        case k.Interval(_, low, high):
            return f"{print_expression(low, SUM)} .. {print_expression(high, SUM)}", RANGE
        case k.Combine(_, op, left, right):
            sign = {"union": "+", "difference": "-", "intersection": "&", "concat": "+"}[op]
            return _binary(left, sign, right, PRODUCT if op == "intersection" else SUM)
        case k.Subsets(_, operand):
            return _call("subsets", operand)
        case k.Keys(_, operand):
            return _call("keys", operand)
        case k.Values(_, operand):
            return _call("values", operand)
        case k.Elements(_, operand):
            return _call("elements", operand)
        case k.Slice(_, op, operand, length):
            return _call(op, operand, length)
        case _:
            assert_never(node)


def _bracket(of: Type, text: str) -> str:
    return f"[{text}]" if isinstance(of, SeqType) else f"{{{text}}}"


def _access(node: Access) -> str:
    match node:
        case k.Lookup(_, collection, key):
            return f"{print_expression(collection, POSTFIX)}[{print_expression(key)}]"
        case k.Endpoint(_, "only", operand):
            # `only` comes of a `choose`, whose filter is in the operand already; but the language wants a condition.
            return f"(choose x in {print_expression(operand, RANGE)} if x == x)"
        case k.Endpoint(_, op, operand):
            return f"{op}({print_expression(operand)})"
        case k.ReadField(_, record, index):
            return print_expression(record, POSTFIX) + _reading(record.type, index)
        case k.Payload(_, operand, variant, index):
            return f"{print_expression(operand, POSTFIX)}.{_payload_field(operand.type, variant, index)}"
        case k.Unwrap(_, operand):
            return print_expression(operand, POSTFIX)
        case _:
            assert_never(node)


def _reading(of: Type, index: int) -> str:
    name = _field(of, index)
    return f"[{name}]" if isinstance(of, RecordType) and of.is_tuple else f".{name}"


def _field(of: Type, index: int) -> str:
    assert isinstance(of, RecordType)
    return of.fields[index].name


def _payload_field(of: Type, variant: str, index: int) -> str:
    assert isinstance(of, EnumType)
    return next(each.fields[index].name for each in of.variants if each.name == variant)


def _changing(node: Changing) -> str:
    match node:
        case k.UpdateEntry(_, collection, key, value):
            return f"({print_expression(collection)} with {{{print_expression(key)} -> {print_expression(value)}}})"
        case k.UpdateField(_, record, index, value):
            return f"({print_expression(record)} with {{{_field(record.type, index)} = {print_expression(value)}}})"
        case k.Without(_, collection, key):
            return f"without({print_expression(collection)}, {print_expression(key)})"
        case _:
            assert_never(node)


def _in_time(node: k.Temporal | k.ActionAtom) -> tuple[str, int]:
    match node:
        case k.Temporal(_, op, operands):
            if len(operands) == 1:
                return f"{op} {print_expression(operands[0], UNARY)}", LOOSE
            return f" {op} ".join(print_expression(operand, OR) for operand in operands), LOOSE
        case k.ActionAtom(_, op, action, arguments):
            if arguments is None:
                return f"{op}({action})", POSTFIX
            shown = ", ".join("_" if each is None else print_expression(each) for each in arguments)
            return f"{op}({action}({shown}))", POSTFIX
        case _:
            assert_never(node)
