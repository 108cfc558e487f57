"""Statements in idiomatic form: binders of one set together, and payloads named where the pattern is tested."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace

from assay.checker.interpreter.expressions.traverse import descendants, with_parts_replaced
from assay.checker.print_kernel import print_expression
from assay.grammar import kernel as k
from assay.grammar.kernel import types as t


def idiomatic_text(statement: k.Expr) -> str:
    """The text of a statement. Parsed as part of its spec, it has the same meaning."""
    binders: list[tuple[k.Local, k.Expr]] = []
    body = _with_plain_names(statement)
    while isinstance(body, k.Quantified) and body.kind == "forall":
        binders.append((body.binder, body.domain))
        body = body.body
    if isinstance(body, k.Logic) and body.op == "implies":
        body = _with_patterns(body)
    return _head(binders) + print_expression(body)


def _with_plain_names(statement: k.Expr) -> k.Expr:
    """The statement with names that can be written for its binders. In a kernel every binder has a name of its own.
    Where the text says a name several times, a number follows behind a prime.
    """
    parts = (statement, *descendants(statement))
    used = {each.name.rpartition(".")[2] for each in parts if isinstance(each, k.StateVar)}
    plain: dict[str, str] = {}
    for name in dict.fromkeys(_local_names(statement)):
        stem = name.partition("'")[0]
        choices = (stem, *(f"{stem.rstrip('0123456789').rstrip('_')}_{at}" for at in range(1, len(used) + 2)))
        plain[name] = next(each for each in choices if each not in used)
        used.add(plain[name])
    renamed = _renamed(statement, plain)
    assert isinstance(renamed, k.Expr)
    return renamed


def _local_names(part: object) -> Iterator[str]:
    """The names of binders and of what refers to them, from left to right."""
    if isinstance(part, k.Local):
        yield part.name
    elif type(part) is tuple:
        for each in part:
            yield from _local_names(each)
    elif isinstance(part, k.Expr | k.Generator):
        for field in fields(part):
            yield from _local_names(getattr(part, field.name))


def _renamed(part: object, names: Mapping[str, str]) -> object:
    if isinstance(part, k.Local):
        return replace(part, name=names[part.name])
    if type(part) is tuple:
        return tuple(_renamed(each, names) for each in part)
    if isinstance(part, k.Expr | k.Generator):
        parts = {field.name: _renamed(getattr(part, field.name), names) for field in fields(part)}
        return replace(part, **parts)  # type: ignore[arg-type]
    return part


def _head(binders: Sequence[tuple[k.Local, k.Expr]]) -> str:
    groups: list[tuple[str, list[str]]] = []
    for binder, domain in binders:
        over = print_expression(domain)
        if groups and groups[-1][0] == over:
            groups[-1][1].append(binder.name)
        else:
            groups.append((over, [binder.name]))
    shown = ", ".join(f"{', '.join(names)} in {over}" for over, names in groups)
    return f"forall {shown}: " if groups else ""


def _with_patterns(body: k.Logic) -> k.Expr:
    """``x is V and … implies p(payload of x)`` with the payload bound to a name by the pattern."""
    premise, conclusion = body.parts
    premises = premise.parts if isinstance(premise, k.Logic) and premise.op == "and" else (premise,)
    number = 0
    for at, each in enumerate(premises):
        later = [*premises[at + 1 :], conclusion]
        wanted = _payloads(each, later)
        if wanted is None:
            continue
        names = {read: k.Local(read.type, f"{_stem(read)}_{number + i + 1}") for i, read in enumerate(wanted[1])}
        number += len(names)
        # The kernel has no patterns. A local whose name is the text of one is printed as that text.
        pattern = k.Local(t.BOOL, _pattern(each, wanted[0], names))
        *rest, conclusion = [with_parts_replaced(part, names.get) for part in later]
        premises = (*premises[:at], pattern, *rest)
    joined = premises[0] if len(premises) == 1 else k.Logic(t.BOOL, "and", tuple(premises))
    return k.Logic(t.BOOL, "implies", (joined, conclusion))


def _payloads(test: k.Expr, later: Sequence[k.Expr]) -> tuple[int, list[k.Expr]] | None:
    """How many parts the pattern has, and which of them are read later."""
    reads = [e for part in later for e in (part, *descendants(part))]
    match test:
        case k.IsVariant(_, operand, variant):
            found = [e for e in reads if isinstance(e, k.Payload) and e.operand == operand and e.variant == variant]
            assert isinstance(operand.type, t.EnumType)
            width = next(len(v.fields) for v in operand.type.variants if v.name == variant)
        case k.IsSome(_, operand):
            found = [e for e in reads if isinstance(e, k.Unwrap) and e.operand == operand]  # type: ignore[misc]
            width = 1
        case _:
            return None
    unique: list[k.Expr] = list(dict.fromkeys(found))
    return (width, unique) if unique else None


def _stem(read: k.Expr) -> str:
    if isinstance(read, k.Payload) and isinstance(read.operand.type, t.EnumType):
        variant = next(v for v in read.operand.type.variants if v.name == read.variant)
        return variant.fields[read.index].name
    return "value"


def _pattern(test: k.Expr, width: int, names: dict[k.Expr, k.Local]) -> str:
    positions = {read.index if isinstance(read, k.Payload) else 0: local.name for read, local in names.items()}
    shown = ", ".join(positions.get(at, "_") for at in range(width))
    assert isinstance(test, k.IsVariant | k.IsSome)
    head = test.variant if isinstance(test, k.IsVariant) else "some"
    return f"{print_expression(test.operand, 10)} is {head}({shown})"
