"""`assay simulate`: random walks through a model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from assay.checker.options import SearchOptions
from assay.checker.portfolio import Engine
from assay.checker.simulate.simulate import simulate as walk
from assay.checker.simulate.simulation import Walks
from assay.checker.verdict import ExitCode, worst
from assay.cli.check import Destination, write_files
from assay.cli.interrupt import stoppable
from assay.cli.output import complain_about, say, say_json
from assay.cli.progress import search_progress
from assay.cli.settings import load, model_options, parse_settings
from assay.grammar.diagnostics import Severity
from assay.report.diagnostics import diagnostic_object
from assay.report.simulation import simulation_lines, simulation_object


@click.command()
@click.argument("spec")
@model_options
@click.option(
    "--engine",
    type=click.Choice(["auto", "native", "reference"]),
    default="auto",
    show_default=True,
    help="What walks: auto is native wherever the spec compiles.",
)
@click.option("--property", "names", multiple=True, metavar="NAME", help="Check this property only; repeatable.")
@click.option(
    "--walks", type=click.IntRange(min=1), default=1_000, show_default=True, metavar="N", help="How many walks to make."
)
@click.option(
    "--depth",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    metavar="N",
    help="The most states of a walk.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, metavar="S", help="The seed of all choices."
)
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), metavar="S", help="Stop after S seconds.")
@click.option("--no-deadlock", is_flag=True, help="Do not look for deadlocks.")
@click.option("--continue", "keep_going", is_flag=True, help="Walk on after a violation.")
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object to standard output.")
@click.option("--junit", type=click.Path(path_type=Path), metavar="FILE", help="Also write the answer as JUnit XML.")
@click.option(
    "--trace-out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Also save the first violating walk, for `assay replay`.",
)
@click.option(
    "--itf",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Also write the first violating walk in the Informal Trace Format of Apalache.",
)
def simulate(
    spec: str,
    model: str | None,
    settings: tuple[str, ...],
    engine: Engine,
    names: tuple[str, ...],
    walks: int,
    depth: int,
    seed: int,
    timeout: float | None,
    no_deadlock: bool,
    keep_going: bool,
    as_json: bool,
    junit: Path | None,
    trace_out: Path | None,
    itf: Path | None,
) -> int:
    """Walk through SPEC at random, for models whose states are too many to be searched.

    \b
    Exit code: 0 everything was found reachable    1 something is violated    2 bad input
               3 nothing is violated in these walks: a simulation proves nothing
    """
    loaded = load(spec, model, parse_settings(settings))
    limits = SearchOptions(
        properties=frozenset(names) or None,
        timeout=timeout,
        check_deadlock=not no_deadlock,
        keep_going=keep_going,
    )
    with stoppable() as asked, search_progress() as show:
        options = replace(limits, progress=show, interrupted=asked)
        simulated = walk(loaded.kernel, Walks(walks, depth, seed), options, loaded.sources, engine)
    problems = write_files(loaded, simulated.report, Destination(spec, as_json, junit, trace_out, itf))
    declined = [] if simulated.declined is None else [replace(simulated.declined, severity=Severity.WARNING)]
    remarks = [*loaded.diagnostics, *declined, *problems]
    complain_about(remarks, loaded.sources)
    if as_json:
        found = [diagnostic_object(each) for each in remarks]
        say_json(simulation_object(simulated) | ({"diagnostics": found} if found else {}))
    else:
        say(simulation_lines(simulated))
    return worst([simulated.report.exit_code, *([ExitCode.BAD_INPUT] if problems else [])])
