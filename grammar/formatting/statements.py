"""Statements as items."""

from __future__ import annotations

from collections.abc import Iterable

from assay.grammar.diagnostics.diagnostic import Span
from assay.grammar.formatting.expressions import POSTFIX, binder, expression
from assay.grammar.formatting.items import PrintedItem, line, with_expression
from assay.grammar.syntax import ActionLine, Assign, For, Guard, If, Let, Node, Pick


def body(statements: Iterable[ActionLine], depth: int) -> list[PrintedItem]:
    """The items of a block of statements."""
    return [item for statement in statements for item in items(statement, depth)]


def items(node: ActionLine, depth: int) -> list[PrintedItem]:
    """The items of a statement: one, or the head of a block and its content."""
    match node:
        case Guard(kind, label, condition):
            named = "" if label is None else f"{label.text}: "
            return [with_expression(depth, f"{kind} {named}", condition, "", node)]
        case Let(name, value):
            return [with_expression(depth, f"let {name.text} = ", value, "", node)]
        case Pick(chosen):
            return [line(depth, f"pick {binder(chosen)}", node)]
        case Assign(target, value):
            return [with_expression(depth, f"{expression(target, POSTFIX, False)} := ", value, "", node)]
        case If():
            return _if(node, depth)
        case For(chosen, inner):
            head = PrintedItem(depth, (f"for {binder(chosen)}:",), _head(node, chosen))
            return [head, *body(inner, depth + 1)]
        case _:
            raise AssertionError(node)


def _if(node: If, depth: int) -> list[PrintedItem]:
    printed: list[PrintedItem] = []
    for index, (condition, then) in enumerate(node.branches):
        head = with_expression(depth, "elif " if index else "if ", condition, ":")
        printed.append(PrintedItem(depth, head.lines, _head(node, condition)))
        printed += body(then, depth + 1)
    if node.otherwise:
        printed.append(PrintedItem(depth, ("else:",), node.else_place))
        printed += body(node.otherwise, depth + 1)
    return printed


def _head(node: ActionLine, inner: Node) -> Span:
    """The head of a block, which begins in the column of the statement and ends with ``inner``."""
    place = inner.span
    return Span(place.file, place.line, node.span.column, place.end_line, place.end_column)
