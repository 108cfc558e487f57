"""Generic traversal of expressions and statements, by the fields of their classes; what statements read and assign."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields, replace
from typing import Any, TypeVar, assert_never

from assay.grammar import kernel as k
from assay.grammar.identity_memo import IdentityMemo
from assay.grammar.kernel.node_unions import statement

N = TypeVar("N", bound=k.Node)
NOT_PARTS = {"type", "span", "binder"}


def children(node: k.Node) -> Iterator[k.Expr]:
    """The expressions directly inside a node, in source order, without binders."""
    kind: Any = type(node)
    for name in _parts.get(kind) or _parts_of(kind):
        yield from _expressions(getattr(node, name))


_parts: dict[Any, tuple[str, ...]] = {}


def _parts_of(kind: Any) -> tuple[str, ...]:
    """The fields of a class of nodes that may hold expressions."""
    found = _parts[kind] = tuple(each.name for each in fields(kind) if each.name not in NOT_PARTS)
    return found


def _expressions(part: Any) -> Iterator[k.Expr]:
    if isinstance(part, k.Expr):
        yield part
    elif isinstance(part, k.Node):
        yield from children(part)
    # Not `isinstance`: values such as `Atom` are named tuples, and hold no expressions.
    elif type(part) is tuple:
        for each in part:
            yield from _expressions(each)


def descendants(node: k.Node) -> Iterator[k.Expr]:
    """All expressions inside a node, outermost first, level by level."""
    # Level by level, not by recursion: specs nest deeper than Python's stack.
    level = list(children(node))
    while level:
        yield from level
        level = [inner for each in level for inner in children(each)]


def locals_of(node: k.Node) -> frozenset[str]:
    """The names of the bound variables that are mentioned inside a node."""
    return frozenset(each.name for each in descendants(node) if isinstance(each, k.Local))


def binders_of(expr: k.Expr) -> frozenset[str]:
    """The names that an expression binds for its own parts."""
    match expr:
        case k.Quantified() | k.LetIn() | k.Filter() | k.Tabulate():
            return frozenset({expr.binder.name})
        case k.Image():
            return frozenset(generator.binder.name for generator in expr.generators)
        case _:
            return frozenset()


def free_locals(expr: k.Expr) -> frozenset[str]:
    """The bound variables that an expression mentions and does not bind itself (names are unique)."""
    parts = [expr, *descendants(expr)]
    # Names are unique, so a name that is bound anywhere inside is bound wherever it is mentioned.
    inner = {name for part in parts for name in binders_of(part)}
    return frozenset(part.name for part in parts if isinstance(part, k.Local)) - inner


def variables_of(node: k.Node) -> frozenset[str]:
    """The names of the state variables that an expression or a statement reads."""
    return _variables.get_or_make(node, _variables_inside)


_variables: IdentityMemo[k.Node, frozenset[str]] = IdentityMemo(limit=100_000)
"""Of nodes that were asked about: an expression is asked once for itself, and again for each one around it."""


def _variables_inside(node: k.Node) -> frozenset[str]:
    found = {node.name} if isinstance(node, k.StateVar) else set()
    level = list(children(node))
    while level:
        # Where a part was asked about before, its own parts are not visited again.
        known = [_variables.get(each) for each in level]
        found.update(*(names for names in known if names))
        open_ = [each for each, names in zip(level, known, strict=True) if names is None]
        found.update(each.name for each in open_ if isinstance(each, k.StateVar))
        level = [inner for each in open_ for inner in children(each)]
    return frozenset(found)


def read_by(statements: Iterable[k.Statement]) -> frozenset[str]:
    """The names of the state variables that some statements read."""
    return frozenset(name for each in statements for name in variables_of(each))


def assignments(statements: Sequence[k.Statement]) -> Iterator[k.Assign]:
    """All assignments among the statements, at any depth."""
    for each in statements:
        node = statement(each)
        match node:
            case k.Assign():
                yield node
            case k.If(_, then, otherwise):
                yield from assignments(then)
                yield from assignments(otherwise)
            case k.For(_, _, body):
                yield from assignments(body)
            case k.Let() | k.Guard() | k.Pick():
                pass
            case _:
                assert_never(node)


def with_parts_replaced(node: N, other: Callable[[k.Expr], k.Expr | None]) -> N:
    """The expression or statement with expressions in it replaced: by ``other`` of it, where that is not None."""
    new = other(node) if isinstance(node, k.Expr) else None
    if new is not None:
        return new  # type: ignore[return-value]

    def changed(part: object) -> object:
        if isinstance(part, k.Node):
            return with_parts_replaced(part, other)
        # As in `_expressions`, values that are named tuples stay what they are.
        return tuple(map(changed, part)) if type(part) is tuple else part

    names = _parts.get(type(node)) or _parts_of(type(node))
    parts: dict[str, Any] = {name: changed(getattr(node, name)) for name in names}
    return replace(node, **parts)
