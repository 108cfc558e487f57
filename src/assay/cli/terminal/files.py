"""Result files that the user asked for. A file that cannot be written is a diagnostic; the answer is still printed."""

from __future__ import annotations

from pathlib import Path

from assay.grammar.diagnostics.diagnostic import Diagnostic, Span


def write_result(path: Path, text: str) -> list[Diagnostic]:
    """Write the text to a file. Returns a diagnostic E902 if the operating system refuses."""
    try:
        # Names of files in the text may hold lone surrogates, for which UTF-8 has no bytes.
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        return [Diagnostic("E902", Span(str(path), 0, 0, 0, 0), f"the file cannot be written: {error.strerror}")]
    return []
