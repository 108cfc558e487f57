"""Statements as items."""

from __future__ import annotations

from collections.abc import Iterable

from assay.grammar.formatting.blocks import head_of, valued
from assay.grammar.formatting.expressions import POSTFIX, binder, bound, case_line, expression, match_subject
from assay.grammar.formatting.items import PrintedItem, line, with_expression
from assay.grammar.syntax import ActionLine, ActionMatch, Assign, For, Guard, If, Let, Pick


def body(statements: Iterable[ActionLine], depth: int) -> list[PrintedItem]:
    """The items of a block of statements."""
    return [item for statement in statements for item in items(statement, depth)]


def items(node: ActionLine, depth: int) -> list[PrintedItem]:
    """The items of a statement: one, or the head of a block and its content."""
    match node:
        case Guard(kind, label, condition):
            named = "" if label is None else f"{label.shown}: "
            return valued(depth, f"{kind} {named}", condition, node)
        case Let(name, value):
            return [with_expression(depth, f"let {bound(name)} = ", value, "", node)]
        case Pick(chosen):
            return [line(depth, f"pick {binder(chosen)}", node)]
        case Assign(target, value):
            return [with_expression(depth, f"{expression(target, POSTFIX, False)} := ", value, "", node)]
        case If():
            return _if(node, depth)
        case For(chosen, inner):
            head = PrintedItem(depth, (f"for {binder(chosen)}:",), head_of(node, chosen))
            return [head, *body(inner, depth + 1)]
        case ActionMatch():
            return _match(node, depth)
        case _:
            raise AssertionError(node)


def _if(node: If, depth: int) -> list[PrintedItem]:
    printed: list[PrintedItem] = []
    for index, (condition, then) in enumerate(node.branches):
        # The place is that of the branch and not of the whole statement: comments inside blocks above are not its own.
        head = with_expression(depth, "elif " if index else "if ", condition, ":")
        printed.append(PrintedItem(depth, head.lines, head_of(node, condition)))
        printed += body(then, depth + 1)
    if node.otherwise:
        printed.append(PrintedItem(depth, ("else:",), node.else_place))
        printed += body(node.otherwise, depth + 1)
    return printed


def _match(node: ActionMatch, depth: int) -> list[PrintedItem]:
    subject = match_subject(node.subject)
    printed = [PrintedItem(depth, (f"match {subject}:",), head_of(node, node.subject))]
    for case in node.cases:
        text = case_line(case.patterns) + ":"
        printed.append(PrintedItem(depth + 1, (text,), head_of(case, case.patterns[-1])))
        printed += body(case.body, depth + 2)
    if node.otherwise is not None:
        printed.append(PrintedItem(depth + 1, ("else:",), node.else_place))
        printed += body(node.otherwise, depth + 2)
    return printed
