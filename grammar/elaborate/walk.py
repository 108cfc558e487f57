"""Looking through and rewriting kernel expressions, whatever their nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any, TypeVar

from assay.grammar import kernel, syntax
from assay.grammar.elaborate.context import Fresh

NodeT = TypeVar("NodeT", bound=kernel.Node)
AnyNodeT = TypeVar("AnyNodeT", kernel.Node, syntax.Node)


def nodes(root: kernel.Node) -> Iterator[kernel.Node]:
    """The node and all nodes inside it."""
    return _inside(root, kernel.Node)


def pieces(root: object) -> Iterator[syntax.Node]:
    """Every piece of syntax inside a piece of syntax or a tuple of some, itself among them."""
    return _inside(root, syntax.Node)


def _inside(root: object, kind: type[AnyNodeT]) -> Iterator[AnyNodeT]:
    pending = [root]
    while pending:
        item = pending.pop()
        if isinstance(item, tuple):
            pending.extend(item)
        elif isinstance(item, kind):
            yield item
            pending.extend(getattr(item, field.name) for field in fields(item))


def reads_state(expr: kernel.Expr) -> bool:
    """Whether the value depends on the state in which the expression is read."""
    return any(isinstance(node, kernel.StateVar) for node in nodes(expr))


def uses(expr: kernel.Expr, name: str) -> bool:
    """Whether a local of that name occurs."""
    return any(isinstance(node, kernel.Local) and node.name == name for node in nodes(expr))


def bound_names(expr: kernel.Expr) -> frozenset[str]:
    """The locals that the expression binds in itself."""
    binders = (getattr(node, "binder", None) for node in nodes(expr))
    return frozenset(binder.name for binder in binders if isinstance(binder, kernel.Local))


def with_fresh_binders(expr: kernel.Expr, fresh: Fresh) -> kernel.Expr:
    """A copy that may stand beside the original: the names that it binds are its own."""
    names = bound_names(expr)
    if not names:
        return expr
    renamed = {name: fresh(name.split("'")[0]) for name in sorted(names)}

    def rename(node: kernel.Node) -> kernel.Node:
        if isinstance(node, kernel.Local) and node.name in renamed:
            return replace(node, name=renamed[node.name])
        return node

    return rewritten(expr, rename)


def rewritten(node: NodeT, change: Callable[[kernel.Node], kernel.Node]) -> NodeT:
    """The tree with ``change`` applied to every node, inner nodes first; ``change`` keeps the kind of node that its place wants."""

    def inside(item: object) -> object:
        if isinstance(item, tuple) and type(item) is tuple:
            return tuple(map(inside, item))
        return rewritten(item, change) if isinstance(item, kernel.Node) else item

    inner: dict[str, Any] = {
        part.name: inside(getattr(node, part.name)) for part in fields(node) if part.name != "span"
    }
    return change(replace(node, **inner))  # type: ignore[return-value]
