"""`assay check`: all properties of a spec."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from assay.checker import portfolio
from assay.checker.itf import trace_to_itf
from assay.checker.options import Fingerprints, SearchOptions
from assay.checker.portfolio import Answer, Engine
from assay.checker.saved_trace import trace_to_json
from assay.checker.verdict import ExitCode, Outcome, PropertyResult, Report, worst
from assay.cli.files import write_result
from assay.cli.interrupt import stoppable
from assay.cli.output import complain, complain_about, say, say_json
from assay.cli.progress import search_progress
from assay.cli.settings import load, model_options, parse_settings
from assay.cli.size import size_in_bytes
from assay.grammar.diagnostics import Diagnostic, Severity
from assay.grammar.load import Loaded
from assay.report.check_object import report_object
from assay.report.diagnostics import diagnostic_object
from assay.report.junit import junit_of_report
from assay.report.lines import Line, Tone
from assay.report.text import report_lines


@dataclass(frozen=True, slots=True)
class Destination:
    """Where the answer goes; ``spec`` is the argument as the user wrote it, which a saved counterexample names."""

    spec: str
    as_json: bool
    junit: Path | None
    trace_out: Path | None
    itf: Path | None


@click.command()
@click.argument("spec")
@model_options
@click.option(
    "--engine",
    type=click.Choice(["auto", "native", "reference", "bmc", "prove", "race"]),
    default="auto",
    show_default=True,
    help="What searches: auto is native wherever the spec compiles; bmc asks a SAT solver, level by level; prove looks for proofs; race runs auto and bmc side by side.",
)
@click.option("--property", "names", multiple=True, metavar="NAME", help="Check this property only; repeatable.")
@click.option("--depth", type=click.IntRange(min=1), metavar="N", help="Look at runs of up to N states only.")
@click.option(
    "--max-states", type=click.IntRange(min=1), metavar="N", help="Stop at the level that reaches N distinct states."
)
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), metavar="S", help="Stop after S seconds.")
@click.option(
    "--threads",
    type=click.IntRange(min=1),
    metavar="N",
    help="Threads of the native engine; the answer is the same for any number.  [default: all processors]",
)
@click.option(
    "--memory",
    callback=size_in_bytes,
    metavar="SIZE",
    help="Memory that the native engine may take, such as 800M or 4G.  [default: three quarters of what is free]",
)
@click.option(
    "--fingerprints",
    type=click.Choice(["auto", "exact", "64", "128"]),
    default="auto",
    show_default=True,
    help="What tells states apart: whole rows, or so many bits; auto goes from one to the next as states become many.",
)
@click.option(
    "--checkpoint",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Keep in DIR what is needed to go on after an interruption.",
)
@click.option(
    "--checkpoint-every",
    type=click.FloatRange(min=0),
    metavar="S",
    default=60.0,
    show_default=True,
    help="Seconds between checkpoints.",
)
@click.option(
    "--resume",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Go on with the checkpoint in DIR.",
)
@click.option("--no-deadlock", is_flag=True, help="Do not look for deadlocks.")
@click.option(
    "--continue",
    "keep_going",
    is_flag=True,
    help="Search on after a violation, so that every property has its own answer.",
)
@click.option(
    "--violations",
    type=click.IntRange(min=1),
    default=1,
    metavar="N",
    help="Show up to N violations of each property; more than one implies --continue.",
)
@click.option(
    "--symmetry",
    type=click.Choice(["on", "off"]),
    default="off",
    show_default=True,
    help="Let one state stand for all that differ by a permutation of `symmetric` elements.",
)
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object to standard output.")
@click.option("--junit", type=click.Path(path_type=Path), metavar="FILE", help="Also write the answer as JUnit XML.")
@click.option(
    "--trace-out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Also save the first counterexample, for `assay replay`.",
)
@click.option(
    "--itf",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Also write the first counterexample in the Informal Trace Format of Apalache.",
)
def check(
    spec: str,
    model: str | None,
    settings: tuple[str, ...],
    engine: Engine,
    names: tuple[str, ...],
    depth: int | None,
    max_states: int | None,
    timeout: float | None,
    threads: int | None,
    memory: int | None,
    fingerprints: Fingerprints,
    checkpoint: Path | None,
    checkpoint_every: float,
    resume: Path | None,
    no_deadlock: bool,
    keep_going: bool,
    violations: int,
    symmetry: str,
    as_json: bool,
    junit: Path | None,
    trace_out: Path | None,
    itf: Path | None,
) -> int:
    """Check all properties of SPEC: a file, or the name of a bundled spec such as `kafka/controller`.

    \b
    Exit code: 0 everything holds    1 something is violated    2 bad input
               3 undecided           4 nothing was checked      5 holds up to named bounds
    """
    if checkpoint is not None and resume is not None:
        raise click.UsageError("--resume goes on writing into its folder: --checkpoint beside it has no meaning")
    loaded = load(spec, model, parse_settings(settings))
    limits = SearchOptions(
        properties=frozenset(names) or None,
        max_depth=depth,
        max_states=max_states,
        timeout=timeout,
        threads=threads,
        memory=memory,
        fingerprints=fingerprints,
        checkpoint=resume or checkpoint,
        checkpoint_every=checkpoint_every,
        resume=resume is not None,
        check_deadlock=not no_deadlock,
        keep_going=keep_going or violations > 1,
        violations=violations,
        symmetry=symmetry == "on",
    )
    return tell(loaded, search(loaded, limits, engine), Destination(spec, as_json, junit, trace_out, itf))


def search(loaded: Loaded, limits: SearchOptions, engine: Engine = "auto") -> Answer:
    """Run the search with progress on a terminal; Ctrl-C ends it with what was reached."""
    with stoppable() as asked, search_progress() as show:
        options = replace(limits, progress=show, interrupted=asked)
        return portfolio.check(loaded.kernel, options, loaded.sources, engine)


def tell(loaded: Loaded, answer: Answer, destination: Destination) -> int:
    """Print the answer and write the files asked for."""
    problems = write_files(loaded, answer.report, destination)
    declined = [] if answer.declined is None else [replace(answer.declined, severity=Severity.WARNING)]
    remarks = [*loaded.diagnostics, *declined, *problems]
    complain_about(remarks, loaded.sources)
    if destination.as_json:
        found = [diagnostic_object(each) for each in remarks]
        say_json(report_object(answer.report) | ({"diagnostics": found} if found else {}))
    else:
        say(report_lines(answer.report))
    return worst([answer.report.exit_code, *([ExitCode.BAD_INPUT] if problems else [])])


def write_files(loaded: Loaded, report: Report, destination: Destination) -> list[Diagnostic]:
    """Write the result files that were asked for; what could not be written."""
    problems: list[Diagnostic] = []
    if destination.junit is not None:
        problems += write_result(destination.junit, junit_of_report(report))
    if destination.trace_out is not None:
        problems += _save(loaded, report, destination.spec, destination.trace_out)
    if destination.itf is not None:
        problems += _save_itf(loaded, report, destination.spec, destination.itf)
    return problems


def _save(loaded: Loaded, report: Report, spec: str, path: Path) -> list[Diagnostic]:
    found = counterexample(report)
    if found is None or found.trace is None:
        return _not_found(path)
    return _write_json(path, trace_to_json(found.trace, loaded.kernel, spec, found.name, loaded.overrides))


def _save_itf(loaded: Loaded, report: Report, spec: str, path: Path) -> list[Diagnostic]:
    found = counterexample(report)
    if found is None or found.trace is None:
        return _not_found(path)
    return _write_json(path, trace_to_itf(found.trace, loaded.kernel, spec, found.name))


def _not_found(path: Path) -> list[Diagnostic]:
    complain([Line(f"no counterexample was found, and {path} was not written", Tone.WARN)])
    return []


def _write_json(path: Path, data: dict[str, Any]) -> list[Diagnostic]:
    return write_result(path, json.dumps(data, ensure_ascii=False, indent=2) + "\n")


def counterexample(report: Report) -> PropertyResult | None:
    """The first violated property with a run that can be followed again; a scenario is run anew by every check."""
    violated = (each for each in report.properties if each.outcome is Outcome.VIOLATED and each.trace is not None)
    return next((each for each in violated if each.kind != "scenario"), None)
