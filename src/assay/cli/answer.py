"""Where the answer of a command goes: the terminal, a JSON object, and the files that the user named."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Any

import click

from assay.checker.report import ExitCode, Outcome, PropertyResult, Report, worst
from assay.checker.saved_traces.itf import trace_to_itf
from assay.checker.saved_traces.saved_trace import trace_to_json
from assay.cli.terminal.files import write_result
from assay.cli.terminal.output import complain, complain_about, say, say_json
from assay.grammar.current_work import answering
from assay.grammar.diagnostics.diagnostic import Diagnostic, Severity
from assay.grammar.load import Loaded
from assay.report.diagnostics import diagnostic_object
from assay.report.junit import junit_of_report
from assay.report.lines import Line, Tone


@dataclass(frozen=True, slots=True)
class Destination:
    """Where the answer goes. ``spec`` is the argument as the user wrote it: a saved counterexample names the spec by
    it.
    """

    spec: str
    as_json: bool
    junit: Path | None = None
    trace_out: Path | None = None
    itf: Path | None = None


def result_options(found: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """The options of a command that become its argument ``destination``. ``found`` is the command's word for a
    counterexample.
    """
    file = click.Path(path_type=Path)
    options = (
        click.option("--json", "as_json", is_flag=True, help="Write one JSON object to standard output."),
        click.option("--junit", type=file, metavar="FILE", help="Also write the answer as JUnit XML."),
        click.option(
            "--trace-out", type=file, metavar="FILE", help=f"Also save the first {found}, for `assay replay`."
        ),
        click.option(
            "--itf",
            type=file,
            metavar="FILE",
            help=f"Also write the first {found} in the Informal Trace Format of Apalache.",
        ),
    )

    def decorate(command: Callable[..., int]) -> Callable[..., int]:
        @wraps(command)
        def gathered(
            spec: str, as_json: bool, junit: Path | None, trace_out: Path | None, itf: Path | None, **others: Any
        ) -> int:
            return command(spec=spec, destination=Destination(spec, as_json, junit, trace_out, itf), **others)

        decorated: Callable[..., int] = gathered
        for option in reversed(options):
            decorated = option(decorated)
        return decorated

    return decorate


def write_answer(
    loaded: Loaded,
    report: Report,
    destination: Destination,
    as_object: Callable[[], dict[str, Any]],
    as_lines: Callable[[], Iterable[Line]],
    declined: Diagnostic | None = None,
) -> int:
    """Print the answer as text or JSON, write the files that the user named, and return the exit code.

    ``declined`` says why the fast engine was not used; it is shown as a warning.
    """
    answering()
    problems = _write_files(loaded, report, destination)
    unused = [] if declined is None else [replace(declined, severity=Severity.WARNING)]
    remarks = [*loaded.diagnostics, *unused, *problems]
    complain_about(remarks, loaded.sources)
    if destination.as_json:
        found = [diagnostic_object(each) for each in remarks]
        say_json(as_object() | ({"diagnostics": found} if found else {}))
    else:
        say(as_lines())
    return worst([report.exit_code, *([ExitCode.BAD_INPUT] if problems else [])])


def _write_files(loaded: Loaded, report: Report, destination: Destination) -> list[Diagnostic]:
    """Write the result files that the user named. Returns a diagnostic for each that cannot be written."""
    problems: list[Diagnostic] = []
    if destination.junit is not None:
        problems += write_result(destination.junit, junit_of_report(report))
    if destination.trace_out is not None:
        problems += _save(loaded, report, destination.spec, destination.trace_out)
    if destination.itf is not None:
        problems += _save_itf(loaded, report, destination.spec, destination.itf)
    return problems


def _save(loaded: Loaded, report: Report, spec: str, path: Path) -> list[Diagnostic]:
    found = _counterexample(report)
    if found is None or found.trace is None:
        return _not_found(path)
    return _write_json(path, trace_to_json(found.trace, loaded.kernel, spec, found.name, loaded.overrides))


def _save_itf(loaded: Loaded, report: Report, spec: str, path: Path) -> list[Diagnostic]:
    found = _counterexample(report)
    if found is None or found.trace is None:
        return _not_found(path)
    return _write_json(path, trace_to_itf(found.trace, loaded.kernel, spec, found.name))


def _not_found(path: Path) -> list[Diagnostic]:
    complain([Line(f"no counterexample was found, and {path} was not written", Tone.WARN)])
    return []


def _write_json(path: Path, data: dict[str, Any]) -> list[Diagnostic]:
    return write_result(path, json.dumps(data, ensure_ascii=False, indent=2) + "\n")


def _counterexample(report: Report) -> PropertyResult | None:
    """The first violated property whose trace can be replayed. Not that of a scenario: every check runs a scenario
    anew.
    """
    violated = (each for each in report.properties if each.outcome is Outcome.VIOLATED and each.trace is not None)
    return next((each for each in violated if each.kind != "scenario"), None)
