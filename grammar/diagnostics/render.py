"""Diagnostics as text for people: message, source line, underline, notes."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping

from assay.grammar.diagnostics.diagnostic import Diagnostic, Note, Severity, Span

_WIDTH = 110
_ROOM_BEFORE = 40
_BOLD, _RED, _YELLOW, _CYAN, _PLAIN = "\x1b[1m", "\x1b[31m", "\x1b[33m", "\x1b[36m", "\x1b[0m"


def render(diagnostics: Iterable[Diagnostic], sources: Mapping[str, str], *, color: bool = False) -> str:
    """All diagnostics, sorted by place, with a blank line between two; ``sources`` maps a file to its text."""
    ordered = sorted(dict.fromkeys(diagnostics), key=lambda d: (d.span, d.code, d.message))
    return "\n\n".join(render_one(d, sources, color=color) for d in ordered)


def render_one(diagnostic: Diagnostic, sources: Mapping[str, str], *, color: bool = False) -> str:
    """One diagnostic: ``file:line:col: error[E104]: message``, the line it is about, carets, notes."""
    severity = diagnostic.severity.value
    tint = _RED if diagnostic.severity is Severity.ERROR else _YELLOW
    label = _paint(f"{severity}[{diagnostic.code}]", _BOLD + tint, color)
    place = f"{diagnostic.span}: " if diagnostic.span.file else ""
    lines = [f"{place}{label}: {diagnostic.message}", *excerpt(diagnostic.span, sources, tint if color else "")]
    for note in diagnostic.notes:
        lines += _note(note, sources, color)
    return "\n".join(lines)


def excerpt(span: Span, sources: Mapping[str, str], tint: str = "") -> list[str]:
    """The source line of a place with carets under it; empty if the source or the line is unknown."""
    lines = sources.get(span.file, "").split("\n")
    if not 1 <= span.line <= len(lines):
        return []
    # Columns count characters, so a tab takes one cell here: the carets then stand under what they are about.
    line = lines[span.line - 1].rstrip("\r").expandtabs(1)
    start = min(max(span.column, 1) - 1, len(line))
    # Of a range over several lines the first line is shown, marked to its end.
    end = len(line) if span.end_line > span.line else min(span.end_column - 1, len(line))
    # At least one caret: an empty range is the place where something is missing.
    shown, start, end = _cut(line, start, max(end, start + 1))
    margin = f"{span.line:>5} | "
    # A place in an empty line shows nothing that helps.
    if not shown.strip():
        return []
    carets = " " * _cells(shown[:start]) + _paint("^" * max(1, _cells(shown[start:end])), tint, bool(tint))
    return [margin + shown, " " * (len(margin) - 2) + "| " + carets]


def _note(note: Note, sources: Mapping[str, str], color: bool) -> list[str]:
    label = _paint("note", _CYAN, color)
    if note.span is None or not note.span.file:
        return [f"      = {label}: {note.message}"]
    return [f"{note.span}: {label}: {note.message}", *excerpt(note.span, sources, _CYAN if color else "")]


def _cut(line: str, start: int, end: int) -> tuple[str, int, int]:
    """The part of a wide line around the columns from ``start`` to ``end``, and where these are in it."""
    # A control character of the source could move the cursor of the terminal, or clear it.
    line = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line)
    left, right = "", ""
    if len(line) > _WIDTH:
        # At the end of a line the cut keeps its full width: more is shown before the place instead.
        first = max(0, min(start - _ROOM_BEFORE, len(line) - _WIDTH))
        left = "…" if first > 0 else ""
        right = "…" if first + _WIDTH < len(line) else ""
        line = line[first : first + _WIDTH]
        start, end = start - first, min(end - first, _WIDTH)
    return left + line + right, start + len(left), end + len(left)


def _cells(text: str) -> int:
    """How many cells of a terminal a text fills: East Asian wide characters fill two, combining ones none."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _paint(text: str, style: str, color: bool) -> str:
    return f"{style}{text}{_PLAIN}" if color else text
