"""Where the answer of a command goes: the terminal, a JSON object, and the files that the user named."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any

import click

from assay.api.answers import SpecAnswer
from assay.checker.interpreter.compiled_model import Model
from assay.checker.report import ExitCode, Trace, worst
from assay.checker.saved_traces.itf import trace_to_itf
from assay.checker.saved_traces.saved_trace import trace_to_json
from assay.cli.terminal.files import write_result
from assay.cli.terminal.output import complain, complain_about, say, say_json
from assay.grammar.current_work import answering
from assay.grammar.diagnostics.diagnostic import Diagnostic, Severity
from assay.grammar.kernel import Kernel
from assay.grammar.lazy_dataclass import dataclass
from assay.report.diagnostics import diagnostic_object
from assay.report.lines import Line, Tone
from assay.report.specs.picture.counterexample import report_page
from assay.report.specs.picture.sequence_diagram import DiagramLanguage, sequence_diagram

DIAGRAMS: dict[str, DiagramLanguage] = {
    ".mmd": "mermaid",
    ".md": "mermaid",
    ".puml": "plantuml",
    ".plantuml": "plantuml",
}


Decorator = Callable[[Callable[..., int]], Callable[..., int]]


@dataclass(frozen=True, slots=True)
class Destination:
    """Where the answer goes, besides the terminal."""

    as_json: bool
    junit: Path | None = None
    trace_out: Path | None = None
    itf: Path | None = None
    html: Path | None = None
    diagram: Path | None = None


def picture_options(found: str) -> tuple[Decorator, Decorator]:
    """The options ``--html`` and ``--diagram``, for every command that shows a run."""
    return (
        click.option(
            "--html",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help=f"Also write a page about the first {found}: lanes, messages, states, the lines of the spec.",
        ),
        click.option(
            "--diagram",
            type=click.Path(path_type=Path),
            callback=_diagram,
            metavar="FILE",
            help=f"Also write the first {found} as a sequence diagram: Mermaid (.mmd, .md) or PlantUML (.puml).",
        ),
    )


def with_pictures(found: str) -> Decorator:
    """The same options as a decorator; they become the arguments ``html`` and ``diagram``."""

    def decorate(command: Callable[..., int]) -> Callable[..., int]:
        html, diagram = picture_options(found)
        decorated: Callable[..., int] = html(diagram(command))
        return decorated

    return decorate


def _diagram(_: click.Context, __: click.Parameter, value: Path | None) -> Path | None:
    if value is not None and value.suffix not in DIAGRAMS:
        raise click.BadParameter(f"the name ends in none of {', '.join(DIAGRAMS)}, which say the language")
    return value


def result_options(found: str) -> Decorator:
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
        *picture_options(found),
    )

    def decorate(command: Callable[..., int]) -> Callable[..., int]:
        @wraps(command)
        def gathered(
            as_json: bool,
            junit: Path | None,
            trace_out: Path | None,
            itf: Path | None,
            html: Path | None,
            diagram: Path | None,
            **others: Any,
        ) -> int:
            return command(destination=Destination(as_json, junit, trace_out, itf, html, diagram), **others)

        decorated: Callable[..., int] = gathered
        # An option that is applied later stands further up in the help.
        for option in reversed(options):
            decorated = option(decorated)
        return decorated

    return decorate


def write_answer(answer: SpecAnswer, destination: Destination) -> int:
    """Print the answer as text or JSON, write the files that the user named, and return the exit code.

    Why the fast engine was not used is shown as a warning.
    """
    # The parent process waits for the answer from here on, though the time limit be over.
    answering()
    loaded, declined = answer.spec.loaded, answer.declined
    # Before anything is printed: a file that cannot be written is a diagnostic of the printed answer.
    problems = _write_files(answer, destination)
    unused = [] if declined is None else [replace(declined, severity=Severity.WARNING)]
    remarks = [*loaded.diagnostics, *unused, *problems]
    complain_about(remarks, loaded.sources)
    if destination.as_json:
        found = [diagnostic_object(each) for each in remarks]
        say_json(answer.to_object() | ({"diagnostics": found} if found else {}))
    else:
        say(answer.lines())
    # Before a violation: a script that goes on with the file must not take an old one for it.
    return worst([answer.exit_code, *([ExitCode.BAD_INPUT] if problems else [])])


def _write_files(answer: SpecAnswer, destination: Destination) -> list[Diagnostic]:
    """Write the result files that the user named. Returns a diagnostic for each that cannot be written."""
    problems: list[Diagnostic] = []
    if destination.junit is not None:
        problems += write_result(destination.junit, answer.junit())
    if destination.trace_out is not None:
        problems += _save(answer, destination.trace_out)
    if destination.itf is not None:
        problems += _save_itf(answer, destination.itf)
    if destination.html is not None:
        problems += write_result(destination.html, report_page(answer.report, answer.spec.loaded.sources))
    if destination.diagram is not None:
        found = answer.counterexample
        trace = found.trace if found is not None else None
        problems += save_diagram(answer.report.kernel, trace, destination.diagram, found.name if found else "")
    return problems


def save_diagram(kernel: Kernel, trace: Trace | None, path: Path, property_: str) -> list[Diagnostic]:
    """Write a run as a sequence diagram, in the language that the name of the file says."""
    if trace is None:
        return _not_found(path)
    language = DIAGRAMS[path.suffix]
    text = sequence_diagram(Model(kernel), trace, language, f"{kernel.name}: {property_}")
    # Markdown is drawn as a diagram only where a fence names the language.
    return write_result(path, f"```mermaid\n{text}```\n" if path.suffix == ".md" else text)


def _save(answer: SpecAnswer, path: Path) -> list[Diagnostic]:
    found, settings = answer.counterexample, answer.spec.loaded.overrides
    if found is None or found.trace is None:
        return _not_found(path)
    # Not the spec's own: of a view that leaves variables out, states may lack these.
    kernel = answer.report.kernel
    return _write_json(path, trace_to_json(found.trace, kernel, answer.spec.name, found.name, settings))


def _save_itf(answer: SpecAnswer, path: Path) -> list[Diagnostic]:
    found = answer.counterexample
    if found is None or found.trace is None:
        return _not_found(path)
    return _write_json(path, trace_to_itf(found.trace, answer.report.kernel, answer.spec.name, found.name))


def _not_found(path: Path) -> list[Diagnostic]:
    complain([Line(f"no counterexample was found, and {path} was not written", Tone.WARN)])
    return []


def _write_json(path: Path, data: dict[str, Any]) -> list[Diagnostic]:
    return write_result(path, json.dumps(data, ensure_ascii=False, indent=2) + "\n")
