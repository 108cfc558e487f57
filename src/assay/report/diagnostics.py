"""Diagnostics as text, with the source line and an underline, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from assay.grammar.diagnostics import Diagnostic, Severity, Span
from assay.report.lines import Line, Tone, clean, plural

WIDEST_SOURCE = 160


def diagnostic_lines(diagnostics: Sequence[Diagnostic]) -> list[Line]:
    """All diagnostics, each with its place, source line, underline and notes, and a last line that counts them."""
    sources: dict[str, list[str]] = {}
    lines = [line for item in diagnostics for line in _one(item, sources)]
    errors = sum(item.severity is Severity.ERROR for item in diagnostics)
    if len(diagnostics) > 1:
        counts = [plural(errors, "error")] if errors else []
        counts += [plural(len(diagnostics) - errors, "warning")] if errors < len(diagnostics) else []
        lines.append(Line(", ".join(counts), Tone.HEADING))
    return lines


def error_object(diagnostics: Sequence[Diagnostic]) -> dict[str, Any]:
    """The JSON answer of a command that could not use its input."""
    return {"assay": "1", "verdict": "error", "diagnostics": [diagnostic_object(item) for item in diagnostics]}


def diagnostic_object(item: Diagnostic) -> dict[str, Any]:
    """One diagnostic as JSON; a diagnostic without a place has no ``place``."""
    notes = [{"message": note.message, **_place(note.span)} for note in item.notes]
    return {
        "code": item.code,
        "severity": item.severity.value,
        "message": item.message,
        **_place(item.span),
        "notes": notes,
    }


def place_object(span: Span) -> dict[str, Any]:
    """A place as JSON."""
    return {"file": span.file, "line": span.line, "column": span.column}


def _place(span: Span | None) -> dict[str, Any]:
    return {"place": place_object(span)} if span is not None and span.file else {}


def _one(item: Diagnostic, sources: dict[str, list[str]]) -> Iterator[Line]:
    tone = Tone.BAD if item.severity is Severity.ERROR else Tone.WARN
    yield Line(f"{_at(item.span)}{item.severity.value} {item.code}: {clean(item.message)}", tone)
    yield from _underlined(item.span, sources)
    for note in item.notes:
        where = f" ({note.span})" if note.span is not None and note.span.file else ""
        yield Line(f"    note: {clean(note.message)}{where}")


def _at(span: Span) -> str:
    if not span.file:
        return ""
    return f"{clean(str(span))}: " if span.line else f"{clean(span.file)}: "


def _underlined(span: Span, sources: dict[str, list[str]]) -> Iterator[Line]:
    text = _source_line(span, sources)
    if text is None or len(text) > WIDEST_SOURCE:
        return
    number = str(span.line)
    length = (span.end_column if span.end_line == span.line else len(text) + 1) - span.column
    yield Line(f"  {number} | {text}")
    yield Line(f"  {' ' * len(number)} | {' ' * (span.column - 1)}{'^' * max(1, length)}")


def _source_line(span: Span, sources: dict[str, list[str]]) -> str | None:
    if not span.file or not span.line:
        return None
    if span.file not in sources:
        sources[span.file] = _read(span.file)
    lines = sources[span.file]
    return clean(lines[span.line - 1].replace("\t", " ")) if span.line <= len(lines) else None


def _read(file: str) -> list[str]:
    """The file's lines; none where it cannot be shown, which the diagnostic itself may be about."""
    try:
        return Path(file).read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError, ValueError):
        return []
