"""Reads a saved trace from its file."""

from __future__ import annotations

import json
from pathlib import Path

from assay.checker.saved_traces.saved_trace import NOT_A_TRACE, SavedTrace, trace_from_json
from assay.grammar.diagnostics.diagnostic import Diagnostic, Diagnostics, Span, SpecError
from assay.grammar.parsing.spec_text import read_run


def read_trace(path: Path) -> SavedTrace:
    """The trace in a file that ``assay check`` wrote. Raises ``SpecError`` if it cannot be read or is no such file."""
    diagnostics = Diagnostics()
    text = read_run(path, diagnostics)
    if text is None:
        raise SpecError(diagnostics)
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:  # ValueError also for an integer with more digits than Python reads
        what = f"not a saved trace: it is no JSON ({error})"
        raise SpecError([Diagnostic(NOT_A_TRACE, Span(str(path), 1, 1, 1, 1), what)]) from error
    return trace_from_json(data, str(path))
