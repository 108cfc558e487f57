"""`assay validate`: recorded logs against a spec."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
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
from assay.report.html import html_report
from assay.report.validation_object import exit_code, junit_of_validation, validation_object
from assay.report.validation_text import validation_lines
from assay.traces import window
from assay.traces.binding import Unread
from assay.traces.conduct import DEFAULT_OPTIONS, Options
from assay.traces.events import Event, Notice
from assay.traces.gaps import gaps, with_gaps
from assay.traces.overview import Overview, overview
from assay.traces.read import LogReading, ReadOptions, UnmappedLines, read_logs
from assay.traces.redact import redacted
from assay.traces.validate import validate as run_validation
from assay.traces.validation import Validation
from assay.traces.window import known_ids

DEFAULT_SPEC = "kafka/cluster"
LONGEST_EXAMPLE = 100
WORTH_WORDS = frozenset({"WARN", "ERROR", "FATAL"})


def _time(_: click.Context, __: click.Parameter, value: str | None) -> int | None:
    """A time as logs write it, in milliseconds since the epoch."""
    if value is not None and window.moment(value) is None:
        raise click.BadParameter(f"{value!r} is no time such as `2026-11-21 01:45:22` or `2026-11-21T01:45:22.705Z`")
    return None if value is None else window.moment(value)


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
@click.option(
    "--since",
    callback=_time,
    metavar="TIME",
    help="Answer about what happened from then on; earlier lines are still used.",
)
@click.option("--until", callback=_time, metavar="TIME", help="Leave out what was logged after that.")
@click.option(
    "--topic", "topics", multiple=True, metavar="NAME", help="Leave out the lines of other topics; repeatable."
)
@click.option(
    "--known",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="Findings that are accepted: the id of one on each line.",
)
@click.option(
    "--strict",
    is_flag=True,
    help="Allow for nothing that versions of the product are known to do against the protocol.",
)
@click.option(
    "--redact", is_flag=True, help="Replace names of hosts, topics, clusters and directories in every output."
)
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object to standard output.")
@click.option("--junit", type=click.Path(path_type=Path), metavar="FILE", help="Also write the answer as JUnit XML.")
@click.option("--html", type=click.Path(path_type=Path), metavar="FILE", help="Also write a report as one HTML page.")
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
    since: int | None,
    until: int | None,
    topics: tuple[str, ...],
    known: Path | None,
    strict: bool,
    redact: bool,
    as_json: bool,
    junit: Path | None,
    html: Path | None,
) -> int:
    """Validate the logs at PATH… against a spec. Directories are walked, archives are opened; `-` is standard input.

    \b
    Exit code: 0 consistent      1 inconsistent      2 bad input
               3 inconclusive    4 vacuous: nothing was checked
    """
    loaded = load(spec, model, parse_settings(settings))
    with activity("reading logs") as show:
        reading = read_logs(paths, ReadOptions(shape_files=shapes))
        reading = redacted(reading) if redact else reading
        show(f"validating {sum(reading.kinds.values()):,} events")
        limits = Options(nodes=nodes, mutants=mutants, seed=seed, skew=skew, strict=strict)
        accepted = known_ids(known.read_text(encoding="utf-8", errors="replace")) if known is not None else None
        scope = Scope(since, until, topics, accepted)
        validation = validated(loaded, reading, limits, clause, scope)
    problems: list[Diagnostic] = []
    if junit is not None:
        problems += write_result(junit, junit_of_validation(validation))
    if html is not None:
        title = "redacted logs" if redact else " ".join(map(str, paths))
        problems += write_result(html, html_report(validation, list(reading.events), title, overview(reading)))
    return _answer(loaded, validation, overview(reading), problems, as_json=as_json)


@dataclass(frozen=True, slots=True)
class Scope:
    """What the answer is about: a span of time (milliseconds since the epoch), topics, and the ids of findings that are accepted."""

    since: int | None = None
    until: int | None = None
    topics: tuple[str, ...] = ()
    known: Sequence[str] | None = None


def validated(
    loaded: Loaded, reading: LogReading, limits: Options, clause: str | None = None, scope: Scope = Scope()
) -> Validation:
    """The answer about a log, with what was noticed while it was read."""

    def explain(event: Event) -> str | None:
        return reading.explain(event) if event.record.level in WORTH_WORDS or not event.record.level else None

    events, left = _in_scope(list(reading.events), scope)
    validation = run_validation(loaded, events, clause=clause, options=limits, explain=explain)
    noticed = replace(validation, notices=(*reading.notices, *left, *validation.notices))
    answer = with_gaps(_with_unread(noticed, reading), gaps(reading))
    answer = window.since(answer, scope.since) if scope.since is not None else answer
    return window.without_known(answer, scope.known) if scope.known is not None else answer


def _in_scope(events: list[Event], scope: Scope) -> tuple[list[Event], list[Notice]]:
    """The events that are validated, and notices that count the others."""
    left: list[Notice] = []
    if scope.until is not None:
        events, late = window.until(events, scope.until)
        left += late
    if scope.topics:
        events, others = window.of_topics(events, scope.topics)
        left += others
    return events, left


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


def _answer(
    loaded: Loaded, validation: Validation, input_: Overview, problems: list[Diagnostic], *, as_json: bool
) -> int:
    remarks = [*loaded.diagnostics, *problems]
    complain_about(remarks, loaded.sources)
    if as_json:
        found = [diagnostic_object(each) for each in remarks]
        say_json(validation_object(validation, input_) | ({"diagnostics": found} if found else {}))
    else:
        say(validation_lines(validation, input_))
    return worst([exit_code(validation), *([ExitCode.BAD_INPUT] if problems else [])])
