"""Items, which the formatter arranges: an item is a line of the language, printed on one or more lines of text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib import resources

from assay.grammar.diagnostics.diagnostic import NOWHERE, Span
from assay.grammar.formatting.line_breaks import INDENT, broken
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.syntax import Expr, IfThenElse, Node

WIDTH = 120


@dataclass(frozen=True, slots=True)
class PrintedItem:
    """``depth`` counts indentations; ``span`` is the place in the source, which determines the comments and blank lines
    around it.

    An item without a place (a documentation string, ``else:``) follows directly after the one before.
    """

    depth: int
    lines: tuple[str, ...]
    span: Span


def line(depth: int, text: str, *places: Node | None) -> PrintedItem:
    """An item of one line with the place of the given nodes."""
    return PrintedItem(depth, (text,), around(places))


def opening(depth: int, text: str, block: Node, *parts: Node | None) -> PrintedItem:
    """The first line of a block: it begins where the block begins and ends with the last of its parts, or on the same
    line."""
    place = block.span
    if place.line == 0:
        return PrintedItem(depth, (text,), NOWHERE)
    ends = [
        (place.line, place.column + len(text)),
        *((p.span.end_line, p.span.end_column) for p in parts if p is not None),
    ]
    return PrintedItem(depth, (text,), Span(place.file, place.line, place.column, *max(ends)))


def with_expression(depth: int, before: str, expr: Expr, after: str, *places: Node | None) -> PrintedItem:
    """An item that ends in an expression, broken where it is too long.

    The expression stands below a ``=`` or ``:=`` if it is a conditional, so that its branches are aligned. So it does
    if that takes no more lines.
    """
    room = WIDTH - len(INDENT) * depth - len(after)
    lines = _beside(before, expr, room)
    if before.endswith("= ") and (len(lines) > 1 or len(lines[0]) > room):
        below = [before.rstrip(), *(INDENT + each for each in broken(expr, room - len(INDENT)))]
        if isinstance(expr, IfThenElse) or len(below) <= len(lines) or len(lines[0]) > room:
            lines = below
    return PrintedItem(depth, (*lines[:-1], lines[-1] + after), around(places))


def _beside(before: str, expr: Expr, room: int) -> list[str]:
    """The lines after the first are indented once more unless the first opens a bracket or is the head of a
    quantifier."""
    lines = broken(expr, room - len(before))
    opens = lines[0].endswith((":", "(", "[", "{", "->")) and not isinstance(expr, IfThenElse)
    further = "" if not before or opens else INDENT
    return [before + lines[0], *(further + rest for rest in lines[1:])]


def listed(depth: int, before: str, parts: Iterable[str], *places: Node | None) -> PrintedItem:
    """An item that ends in a list with commas, broken after a comma where it is too long."""
    lines = [before]
    for index, part in enumerate(parts):
        # Three characters for the comma and blank before the part, and for a comma behind it.
        if index and len(INDENT) * depth + len(lines[-1]) + len(part) + 3 > WIDTH:
            lines[-1] += ","
            lines.append(INDENT + part)
        else:
            lines[-1] += f", {part}" if index else part
    return PrintedItem(depth, tuple(lines), around(places))


def documentation(depth: int, doc: str | None) -> list[PrintedItem]:
    """The documentation string of a block, if it has one."""
    return [] if doc is None else [PrintedItem(depth, tuple(string_lines(doc)), NOWHERE)]


_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def name_or_string(text: str) -> str:
    """A name as it is; any other text, and a word of the language, as a string literal."""
    return text if _PLAIN.fullmatch(text) and text not in reserved_words() else string_lines(text)[0]


@cache
def reserved_words() -> frozenset[str]:
    """The words that the grammar does not accept as a name."""
    grammar = resources.files("assay.grammar").joinpath("assay.lark").read_text(encoding="utf-8")
    # The terminal NAME excludes the reserved words first of all, which this reads off: it must keep that form.
    (words,) = re.findall(r"^NAME: /\(\?!\(\?:([a-z_|]*)\)", grammar, re.MULTILINE)
    return frozenset((*words.split("|"), "_"))


def string_lines(text: str) -> list[str]:
    """A string literal on one line, or in triple quotes on as many lines as the text has."""
    if "\n" not in text:
        return ['"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"']
    return triple_quoted(text).split("\n")


def triple_quoted(text: str) -> str:
    """A string literal in triple quotes; only quotes that would end it are escaped."""
    # A quote at the end would end the literal together with two of the quotes behind it.
    inner, last = (text[:-1], '\\"') if text.endswith('"') else (text, "")
    inner = inner.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return f'"""{inner}{last}"""'


def around(places: Iterable[Node | None]) -> Span:
    """The range of source that the nodes with a place cover; NOWHERE if none has one."""
    spans = [place.span for place in places if place is not None and place.span.line > 0]
    if not spans:
        return NOWHERE
    first = min(spans, key=lambda s: (s.line, s.column))
    return first.to(max(spans, key=lambda s: (s.end_line, s.end_column)))
