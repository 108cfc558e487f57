"""Blocks with a value, and ``match``, as items."""

from __future__ import annotations

from collections.abc import Iterable

from assay.grammar.diagnostics.diagnostic import NOWHERE, Span
from assay.grammar.formatting.expressions import binding_head, bound, case_line, expression, match_subject
from assay.grammar.formatting.items import WIDTH, PrintedItem, with_expression
from assay.grammar.formatting.line_breaks import INDENT
from assay.grammar.syntax import (
    BlockIf,
    BlockQuantified,
    BlockValue,
    Conjunct,
    Expr,
    LetLine,
    Match,
    Node,
    Quantified,
)


def is_block(expr: Expr) -> bool:
    """Whether an expression takes lines of its own."""
    return isinstance(expr, BlockValue | BlockIf | BlockQuantified) or (isinstance(expr, Match) and expr.block)


def valued(depth: int, before: str, expr: Expr, node: Node) -> list[PrintedItem]:
    """The items of a line that ends in a value: ``before`` and the value beside it, or a block below it."""
    match expr:
        case BlockValue(body):
            return [_above(depth, before, node), *lines(body, depth + 1)]
        # `elif` and the cases would stand at the column of the label.
        case BlockIf() | Match(block=True) if before:
            return [_above(depth, before, node), *valued(depth + 1, "", expr, expr)]
        case BlockIf():
            return _if(depth, expr)
        case Match(block=True):
            return _match(depth, expr)
        case BlockQuantified(kind, binders, body):
            text = before + binding_head(Quantified(kind, binders, body))
            head = PrintedItem(depth, (text,), head_of(node, binders[-1]))
            return [head, *value_block(body, depth + 1)]
        case _:
            return [with_expression(depth, before, expr, "", node)]


def _above(depth: int, before: str, node: Node) -> PrintedItem:
    """The line above a block."""
    start = before.rstrip()
    # A label ends in its colon already; `when` and `bound` without a label do not.
    return PrintedItem(depth, (start if start.endswith(":") else f"{start}:",), head_of(node, None))


def value_block(value: Expr, depth: int) -> list[PrintedItem]:
    """The items of an indented block that is a value."""
    return lines(value.lines, depth) if isinstance(value, BlockValue) else valued(depth, "", value, value)


def lines(body: Iterable[LetLine | Conjunct], depth: int) -> list[PrintedItem]:
    """The items of the lines of a block."""
    printed: list[PrintedItem] = []
    for each in body:
        match each:
            case LetLine(name, value):
                printed.append(with_expression(depth, f"let {bound(name)} = ", value, "", each))
            case Conjunct(label, condition):
                printed += valued(depth, "" if label is None else f"{label.shown}: ", condition, each)
    return printed


def _if(depth: int, expr: BlockIf) -> list[PrintedItem]:
    printed: list[PrintedItem] = []
    for index, (condition, value) in enumerate(expr.branches):
        word = "elif " if index else "if "
        # A long condition may break. The branch begins behind its last line.
        head = with_expression(depth, word, condition, ":")
        place = head_of(condition if index else expr, condition)
        printed += _branch(PrintedItem(depth, head.lines, place), value)
    return printed + _else(depth, expr.otherwise, expr.else_place)


def _match(depth: int, expr: Match) -> list[PrintedItem]:
    head = f"match {match_subject(expr.subject)}:"
    printed = [PrintedItem(depth, (head,), head_of(expr, expr.subject))]
    for case in expr.cases:
        text = case_line(case.patterns) + ":"
        printed += _branch(PrintedItem(depth + 1, (text,), head_of(case, case.patterns[-1])), case.value)
    return printed + _else(depth + 1, expr.otherwise, expr.else_place)


def _else(depth: int, value: Expr | None, place: Span) -> list[PrintedItem]:
    return [] if value is None else _branch(PrintedItem(depth, ("else:",), place), value)


def _branch(head: PrintedItem, value: Expr) -> list[PrintedItem]:
    """A head with its value: on the same line if the source has it there and it fits, otherwise below."""
    if not is_block(value) and (head.span.line == 0 or value.span.line == head.span.end_line):
        flat = f"{head.lines[-1]} {expression(value)}"
        if len(INDENT) * head.depth + len(flat) <= WIDTH:
            place = head.span if head.span.line == 0 else head.span.to(value.span)
            return [PrintedItem(head.depth, (*head.lines[:-1], flat), place)]
    return [head, *value_block(value, head.depth + 1)]


def head_of(node: Node, inner: Node | None) -> Span:
    """The head of a block, which begins with the statement and ends with ``inner``, or on its first line."""
    start = node.span
    if start.line == 0:
        return NOWHERE
    if inner is None:
        return Span(start.file, start.line, start.column, start.line, start.column + 1)
    place = inner.span
    return Span(place.file, place.line, start.column, place.end_line, place.end_column)
