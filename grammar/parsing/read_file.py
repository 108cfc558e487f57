"""Reading and parsing spec files."""

from __future__ import annotations

from pathlib import Path

from assay.grammar.diagnostics.diagnostic import Diagnostic, Diagnostics
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.parsing.parse import Parsed, parse
from assay.grammar.parsing.spec_text import read_text


@dataclass(frozen=True, slots=True)
class SpecFile:
    """A spec file as read: ``text`` and ``parsed`` are None where the file could not be read as text."""

    file: str
    text: str | None
    parsed: Parsed | None
    diagnostics: tuple[Diagnostic, ...]


def read_spec(path: Path) -> SpecFile:
    """Read and parse a spec file. Every problem, of the file or of its text, is among the diagnostics; nothing is
    raised."""
    diagnostics = Diagnostics()
    text = read_text(path, diagnostics)
    if text is None:
        return SpecFile(str(path), None, None, tuple(diagnostics))
    parsed = parse(text, str(path))
    return SpecFile(str(path), text, parsed, parsed.diagnostics)
