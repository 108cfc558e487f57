"""`assay validate`: recorded logs against a spec."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from textwrap import shorten

import click

from assay.checker.verdict import ExitCode, worst
from assay.cli.files import write_result
from assay.cli.output import complain_about, say, say_json
from assay.cli.progress import activity
from assay.cli.settings import load, model_options, parse_settings
from assay.grammar.diagnostics import Diagnostic
from assay.grammar.load import Loaded
from assay.report.diagnostics import diagnostic_object
from assay.report.validation_object import exit_code, junit_of_validation, validation_object
from assay.report.validation_text import validation_lines
from assay.traces.binding import Unread
from assay.traces.conduct import DEFAULT_OPTIONS, Options
from assay.traces.events import Event
from assay.traces.gaps import gaps, with_gaps
from assay.traces.read import LogReading, ReadOptions, UnmappedLines, read_logs
from assay.traces.validate import validate as run_validation
from assay.traces.validation import Validation

DEFAULT_SPEC = "kafka/cluster"
LONGEST_EXAMPLE = 100
WORTH_WORDS = frozenset({"WARN", "ERROR", "FATAL"})


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH…")
@click.option("--spec", default=DEFAULT_SPEC, show_default=True, help="The spec: a file, or the name of a bundled one.")
@model_options
@click.option("--clause", metavar="NAME", help="The trace clause of the spec, if it has several.")
@click.option(
    "--skew",
    type=click.IntRange(min=0),
    metavar="MS",
    help="How far two nodes' clocks may differ; else the clause says.",
)
@click.option(
    "--shapes",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A file of further line shapes; repeatable.",
)
@click.option(
    "--nodes",
    type=click.IntRange(min=1),
    default=DEFAULT_OPTIONS.nodes,
    show_default=True,
    help="Give up after so many search nodes.",
)
@click.option("--mutants", type=click.IntRange(min=0), default=0, show_default=True, metavar="N",
              help="Also try N copies of the log with one field changed, and count how many are rejected.")  # fmt: skip
@click.option("--seed", type=int, default=0, show_default=True, help="Which fields --mutants changes.")
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object to standard output.")
@click.option("--junit", type=click.Path(path_type=Path), metavar="FILE", help="Also write the answer as JUnit XML.")
def validate(
    paths: tuple[Path, ...],
    spec: str,
    model: str | None,
    settings: tuple[str, ...],
    clause: str | None,
    skew: int | None,
    shapes: tuple[Path, ...],
    nodes: int,
    mutants: int,
    seed: int,
    as_json: bool,
    junit: Path | None,
) -> int:
    """Validate the logs at PATH… against a spec. Directories are walked, archives are opened.

    \b
    Exit code: 0 consistent      1 inconsistent      2 bad input
               3 inconclusive    4 vacuous: nothing was checked
    """
    loaded = load(spec, model, parse_settings(settings))
    with activity("reading logs") as show:
        reading = read_logs(paths, ReadOptions(shape_files=shapes))
        show(f"validating {sum(reading.kinds.values()):,} events")
        limits = Options(nodes=nodes, mutants=mutants, seed=seed, skew=skew)
        validation = validated(loaded, reading, limits, clause)
    return _answer(loaded, validation, as_json=as_json, junit=junit)


def validated(loaded: Loaded, reading: LogReading, limits: Options, clause: str | None = None) -> Validation:
    """The answer about a log, with what was noticed while it was read."""

    def explain(event: Event) -> str | None:
        return reading.explain(event) if event.record.level in WORTH_WORDS or not event.record.level else None

    events = list(reading.events)
    validation = run_validation(loaded, events, clause=clause, options=limits, explain=explain)
    noticed = replace(validation, notices=(*reading.notices, *validation.notices))
    return with_gaps(_with_unread(noticed, reading), gaps(reading))


def _with_unread(validation: Validation, reading: LogReading) -> Validation:
    """The answer that also counts, by logger, the protocol lines that no shape describes: no event came of them."""
    first: dict[str, UnmappedLines] = {}
    for lines in reading.unmapped:
        first.setdefault(lines.logger, lines)
    totals: Counter[str] = Counter()
    for lines in reading.unmapped:
        totals[lines.logger] += lines.count
    unread = tuple(
        Unread(logger, f"such as `{shorten(first[logger].text, LONGEST_EXAMPLE)}`", count, first[logger].place)
        for logger, count in totals.most_common()
    )
    counts, more = validation.counts, totals.total()
    counts = replace(counts, read=counts.read + more, unmapped=counts.unmapped + more)
    return replace(validation, counts=counts, unmapped=(*validation.unmapped, *unread))


def _answer(loaded: Loaded, validation: Validation, *, as_json: bool, junit: Path | None) -> int:
    problems: list[Diagnostic] = []
    if junit is not None:
        problems += write_result(junit, junit_of_validation(validation))
    remarks = [*loaded.diagnostics, *problems]
    complain_about(remarks, loaded.sources)
    if as_json:
        found = [diagnostic_object(each) for each in remarks]
        say_json(validation_object(validation) | ({"diagnostics": found} if found else {}))
    else:
        say(validation_lines(validation))
    return worst([exit_code(validation), *([ExitCode.BAD_INPUT] if problems else [])])
