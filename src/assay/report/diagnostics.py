"""Diagnostics as text, with their source lines, and as JSON."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from assay.grammar.diagnostics.diagnostic import Diagnostic, Note, Severity, Span
from assay.grammar.diagnostics.render import render
from assay.report.lines import clean, plural


def diagnostics_text(
    diagnostics: Sequence[Diagnostic], sources: Mapping[str, str] | None = None, *, color: bool = False
) -> str:
    """All diagnostics, and a last line with their number if there are several.

    Files whose text is not among ``sources`` are read again, so that their lines can be shown.
    """
    safe = [replace(d, message=clean(d.message), notes=tuple(map(_clean_note, d.notes))) for d in diagnostics]
    known = sources or {}
    # The texts that were checked go before those on the disk, which may have been saved since.
    text = render(safe, {**_read_all(safe, known), **known}, color=color)
    return f"{text}\n\n{_counts(diagnostics)}" if len(diagnostics) > 1 else text


def error_object(diagnostics: Sequence[Diagnostic]) -> dict[str, Any]:
    """The JSON answer of a command that could not use its input."""
    return {"assay": "1", "verdict": "error", "diagnostics": [diagnostic_object(item) for item in diagnostics]}


def diagnostic_object(item: Diagnostic) -> dict[str, Any]:
    """A diagnostic as JSON. Without a place in a file it has no ``place``."""
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


def _clean_note(note: Note) -> Note:
    return replace(note, message=clean(note.message))


def _counts(diagnostics: Sequence[Diagnostic]) -> str:
    errors = sum(item.severity is Severity.ERROR for item in diagnostics)
    warnings = len(diagnostics) - errors
    return ", ".join(
        [*([plural(errors, "error")] if errors else []), *([plural(warnings, "warning")] if warnings else [])]
    )


def _read_all(diagnostics: Iterable[Diagnostic], known: Collection[str]) -> dict[str, str]:
    """The texts of the files of which a line is to be shown, each read once."""
    spans = [span for d in diagnostics for span in (d.span, *(note.span for note in d.notes)) if span is not None]
    # A place without a line is a whole file, such as a result that cannot be written.
    files = dict.fromkeys(span.file for span in spans if span.file and span.line and span.file not in known)
    return {file: _read(file) for file in files}


def _read(file: str) -> str:
    """The file's text; empty where it cannot be read, which may be what the diagnostic is about."""
    try:
        path = Path(file)
        return path.read_text(encoding="utf-8") if path.is_file() else ""
    except (OSError, UnicodeDecodeError, ValueError):
        return ""
