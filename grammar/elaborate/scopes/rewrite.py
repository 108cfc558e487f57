"""Generic traversal and rewriting of kernel expressions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from operator import is_
from typing import Any, TypeVar

from assay.grammar import kernel, syntax
from assay.grammar.elaborate.scopes.fresh_names import Fresh

NodeT = TypeVar("NodeT", bound=kernel.Node)
AnyNodeT = TypeVar("AnyNodeT", kernel.Node, syntax.Node)


def nodes(root: kernel.Node) -> Iterator[kernel.Node]:
    """The node and all nodes inside it."""
    return _inside(root, kernel.Node)


def pieces(root: object) -> Iterator[syntax.Node]:
    """Every syntax node inside a node or a tuple of nodes, including itself."""
    return _inside(root, syntax.Node)


def _inside(root: object, kind: type[AnyNodeT]) -> Iterator[AnyNodeT]:
    # By a stack: generators inside each other would hand each node up through all levels above it.
    pending = [root]
    while pending:
        item = pending.pop()
        if isinstance(item, tuple):
            pending.extend(item)
        elif isinstance(item, kind):
            yield item
            names = _names.get(type(item)) or _names_of(type(item))
            pending.extend([getattr(item, name) for name in names])


# `fields` takes long, and the fields of each node are asked for again and again.
_names: dict[Any, tuple[str, ...]] = {}


def _names_of(kind: Any) -> tuple[str, ...]:
    """The fields of a class of nodes."""
    found = _names[kind] = tuple(field.name for field in fields(kind))
    return found


def reads_state(expr: kernel.Expr) -> bool:
    """Whether the value depends on the state in which the expression is read."""
    return any(isinstance(node, kernel.StateVar) for node in nodes(expr))


def uses(expr: kernel.Expr, name: str) -> bool:
    """Whether a local of that name occurs."""
    return any(isinstance(node, kernel.Local) and node.name == name for node in nodes(expr))


def bound_names(expr: kernel.Expr) -> frozenset[str]:
    """The locals that the expression binds."""
    binders = (getattr(node, "binder", None) for node in nodes(expr))
    return frozenset(binder.name for binder in binders if isinstance(binder, kernel.Local))


def with_fresh_binders(expr: kernel.Expr, fresh: Fresh) -> kernel.Expr:
    """A copy that may be used beside the original: its bound names are its own."""
    names = bound_names(expr)
    if not names:
        return expr
    # From the stem: the copy of `b'2` is `b'3`, not `b'2'2`. Sorted, so that the names do not depend on hashes.
    renamed = {name: fresh(name.split("'")[0]) for name in sorted(names)}

    def rename(node: kernel.Node) -> kernel.Node:
        if isinstance(node, kernel.Local) and node.name in renamed:
            return replace(node, name=renamed[node.name])
        return node

    return rewritten(expr, rename)


def rewritten(node: NodeT, change: Callable[[kernel.Node], kernel.Node]) -> NodeT:
    """The tree with ``change`` applied to every node, inner nodes first; ``change`` must keep the kind of node that its
    place needs.

    Unchanged subtrees stay the same objects.
    """
    names = _names.get(type(node)) or _names_of(type(node))
    before = {name: getattr(node, name) for name in names if name != "span"}
    after = {name: _rewritten_part(part, change) for name, part in before.items()}
    changed = {name: part for name, part in after.items() if part is not before[name]}
    return change(replace(node, **changed) if changed else node)  # type: ignore[return-value]


def _rewritten_part(part: Any, change: Callable[[kernel.Node], kernel.Node]) -> Any:
    if isinstance(part, kernel.Node):
        return rewritten(part, change)
    if type(part) is not tuple:
        return part
    found = tuple(_rewritten_part(each, change) for each in part)
    # The same tuple if nothing changed: so unchanged trees stay shared, and comparing them is quick.
    return part if all(map(is_, found, part)) else found
