"""The page docs/errors.md, made of the table of diagnostic codes."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

from assay.grammar.diagnostics.code import Code

STAGES = {
    "0": "Syntax",
    "1": "Names",
    "2": "Types",
    "3": "Modules and parameters",
    "4": "Statements",
    "5": "Properties and traces",
    "6": "Input files",
    "7": "Logs",
    "8": "Engines",
    "9": "The command line",
}
WIDTH = 120


def errors_page(codes: Iterable[Code]) -> str:
    """The whole page, by stage and code."""
    ordered = sorted(codes, key=lambda code: code.code)
    return "\n".join(_page(ordered)) + "\n"


def _page(codes: list[Code]) -> Iterator[str]:
    yield "# Diagnostic codes"
    yield ""
    yield "This page is made of the table in `grammar/diagnostics/codes.py` and `src/assay/api/codes.py`; a test keeps it equal."
    yield "`assay explain E003` shows one paragraph of it."
    stage = ""
    for code in codes:
        if code.code[1] != stage:
            stage = code.code[1]
            yield from ("", f"## {STAGES[stage]}")
        yield from ("", f"### {code.code}: {code.title}", "")
        yield from textwrap.wrap(code.explanation, WIDTH, break_on_hyphens=False, break_long_words=False)
