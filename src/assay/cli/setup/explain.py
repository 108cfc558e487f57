"""``assay explain CODE``: the paragraph about a diagnostic code."""

from __future__ import annotations

import textwrap

import click

from assay.api import explanation as api
from assay.checker.report import ExitCode
from assay.cli.terminal.output import say
from assay.report.lines import Line, Tone

WIDTH = 100


@click.command()
@click.argument("code")
def explain(code: str) -> int:
    """Explain a diagnostic CODE such as E003."""
    known = api.explain(code)
    say([Line(f"{known.code}: {known.title}", Tone.HEADING), *map(Line, textwrap.wrap(known.explanation, WIDTH))])
    return ExitCode.OK
