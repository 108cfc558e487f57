"""``assay explain CODE``: the paragraph about a diagnostic code."""

from __future__ import annotations

import difflib
import textwrap

import click

from assay.checker.report import ExitCode
from assay.cli.codes import ALL_CODES
from assay.cli.terminal.output import say
from assay.grammar.diagnostics.diagnostic import NOWHERE, Diagnostic, Note, SpecError
from assay.report.lines import Line, Tone

WIDTH = 100


@click.command()
@click.argument("code")
def explain(code: str) -> int:
    """Explain a diagnostic CODE such as E003."""
    known = ALL_CODES.get(code.upper())
    if known is None:
        raise SpecError([_unknown(code)])
    say([Line(f"{known.code}: {known.title}", Tone.HEADING), *map(Line, textwrap.wrap(known.explanation, WIDTH))])
    return ExitCode.OK


def _unknown(code: str) -> Diagnostic:
    near = difflib.get_close_matches(code.upper(), ALL_CODES, n=3)
    notes = (Note(f"did you mean {', '.join(near)}?"),) if near else ()
    return Diagnostic("E904", NOWHERE, f"there is no diagnostic code `{code}`", notes)
