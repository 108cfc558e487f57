"""A parsed declaration that stands further down or up: the same tree with other lines.

In an editor a new line moves all declarations below it. To move one takes a tenth of the time that parsing takes.
"""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cache
from typing import Any, TypeVar

from assay.grammar.diagnostics.diagnostic import Diagnostic, Span
from assay.grammar.syntax.expressions import Node

T = TypeVar("T")


def moved(part: T, lines: int) -> T:
    """A node, or a tuple of nodes, with all its places; everything else, such as a word, stays."""
    if isinstance(part, Node):
        return _node(part, lines) if lines else part
    if isinstance(part, tuple):
        return tuple(moved(each, lines) for each in part)  # type: ignore[return-value]
    return part


def moved_span(span: Span, lines: int) -> Span:
    """The place; one without a line has none."""
    if not span.line:
        return span
    return Span(span.file, span.line + lines, span.column, span.end_line + lines, span.end_column)


def moved_report(report: Diagnostic, lines: int) -> Diagnostic:
    """The report with its place and those of its notes."""
    if not lines:
        return report
    notes = tuple(
        each if each.span is None else replace(each, span=moved_span(each.span, lines)) for each in report.notes
    )
    return replace(report, span=moved_span(report.span, lines), notes=notes)


@cache
def _fields(kind: Any) -> tuple[str, ...]:
    return tuple(each.name for each in fields(kind))


def _node(node: Any, lines: int) -> Any:
    # Not by `replace`: its call of `__init__` for each of thousands of nodes would be felt after a key.
    copy = object.__new__(type(node))
    for name in _fields(node.__class__):
        value = getattr(node, name)
        if type(value) is Span:
            value = moved_span(value, lines)
        elif isinstance(value, Node | tuple):
            value = moved(value, lines)
        _set(copy, name, value)
    return copy


_set = object.__setattr__
