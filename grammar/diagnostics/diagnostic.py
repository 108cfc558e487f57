"""Places in source text, and diagnostics as values: collected, sorted, and rendered in one place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field
from enum import Enum

from assay.grammar.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A range of source text. Lines and columns count from 1; the end column is exclusive."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file

    def to(self, other: Span) -> Span:
        """The range from the start of this one to the end of the other."""
        return Span(self.file, self.line, self.column, other.end_line, other.end_column)


NOWHERE = Span("", 0, 0, 0, 0)


class Severity(Enum):
    """How much a diagnostic matters: an error stops the run, a warning does not."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Note:
    """A second place or a piece of advice that belongs to a diagnostic."""

    message: str
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding about a spec or an input, with its code (see docs/errors.md) and place."""

    code: str
    span: Span
    message: str
    notes: tuple[Note, ...] = ()
    severity: Severity = Severity.ERROR


@dataclass(slots=True)
class Diagnostics:
    """A collector that every pass writes to."""

    items: list[Diagnostic] = field(default_factory=list)

    def error(self, code: str, span: Span, message: str, *notes: Note | str) -> None:
        """Record an error; plain strings become notes without a place."""
        self.items.append(Diagnostic(code, span, message, _as_notes(notes)))

    def warning(self, code: str, span: Span, message: str, *notes: Note | str) -> None:
        """Record a warning."""
        self.items.append(Diagnostic(code, span, message, _as_notes(notes), Severity.WARNING))

    def sorted(self) -> list[Diagnostic]:
        """The distinct diagnostics by place."""
        # A function is elaborated at each of its calls, a unit at each index: one mistake may be recorded many times.
        return sorted(dict.fromkeys(self.items), key=lambda d: (d.span, d.code, d.message))

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self.sorted())


class SpecError(Exception):
    """A spec or an input cannot be used; carries the diagnostics with the reasons (exit code 2)."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("; ".join(map(_in_a_line, self.diagnostics)))


def _in_a_line(diagnostic: Diagnostic) -> str:
    """A diagnostic on one line, for logs and tests, where nothing renders it. Its notes are included, because they hold
    the cause."""
    notes = "".join(f" ({note.message})" for note in diagnostic.notes)
    return f"{diagnostic.span}: {diagnostic.code} {diagnostic.message}{notes}"


def _as_notes(notes: Iterable[Note | str]) -> tuple[Note, ...]:
    return tuple(Note(note) if isinstance(note, str) else note for note in notes)
