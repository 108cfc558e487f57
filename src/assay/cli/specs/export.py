"""``assay export``: a spec in the notation of another checker."""

from __future__ import annotations

from pathlib import Path

import click

from assay.checker.interpreter.expressions.recursion_limit import deep_recursion
from assay.checker.report import ExitCode
from assay.checker.tla.export_result import TlaExport
from assay.checker.tla.module import export as to_tla
from assay.cli.settings import load, model_options, parse_settings
from assay.cli.terminal.files import write_result
from assay.cli.terminal.output import complain_about, say, say_json
from assay.grammar.diagnostics.diagnostic import Diagnostic, Span
from assay.report.diagnostics import diagnostic_object
from assay.report.lines import Line, Tone


@click.command()
@click.argument("spec")
@model_options
@click.option("--to", type=click.Choice(["tla"]), default="tla", show_default=True, help="The notation.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path(),
    metavar="DIR",
    help="Where the files are written; the current directory by default.",
)
@click.option("--no-deadlock", is_flag=True, help="TLC does not look for deadlocks.")
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object to standard output.")
def export(
    spec: str,
    model: str | None,
    settings: tuple[str, ...],
    to: str,
    out: Path,
    no_deadlock: bool,
    as_json: bool,
) -> int:
    """Write SPEC, with its parameters bound, as a TLA+ module and the configurations that TLC reads.

    \b
    Exit code: 0 written    2 bad input, or a construct that TLA+ or TLC lacks
    """
    loaded = load(spec, model, parse_settings(settings))
    # Printing calls itself as deep as expressions are nested.
    with deep_recursion(loaded.kernel):
        exported = to_tla(loaded.kernel, deadlock=not no_deadlock)
    problems = _write(exported, out)
    remarks = [*loaded.diagnostics, *exported.warnings, *problems]
    complain_about(remarks, loaded.sources)
    paths = [str(out / name) for name in exported.files]
    if as_json:
        found = {"diagnostics": [diagnostic_object(each) for each in remarks]} if remarks else {}
        verdict = "incomplete" if problems else "exported"
        say_json({"assay": "1", "verdict": verdict, "to": to, "module": exported.name, "files": paths, **found})
    elif not problems:
        say([Line(f"{path}: written", Tone.GOOD) for path in paths])
    return ExitCode.BAD_INPUT if problems else ExitCode.OK


def _write(exported: TlaExport, folder: Path) -> list[Diagnostic]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        return [Diagnostic("E902", Span(str(folder), 0, 0, 0, 0), f"the folder cannot be made: {error.strerror}")]
    return [problem for name, text in exported.files.items() for problem in write_result(folder / name, text)]
