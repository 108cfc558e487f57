"""``assay validate``: logs against a spec."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.api import log_answers as api
from assay.api.log_answers import LogQuestion
from assay.api.spec import load
from assay.checker.report import ExitCode
from assay.cli.logs.log_output import LogOutput, output_options, write_log_answer
from assay.cli.logs.validate_follow import follow_log, refuse_following
from assay.cli.logs.validate_spark import (
    SparkOutput,
    SparkQuestion,
    refuse_on_spark,
    refuse_without_spark,
    validate_on_spark,
    validation_on_spark,
)
from assay.cli.settings import model_options, parse_settings
from assay.cli.terminal.limits import INTERRUPTED, validation_limits
from assay.cli.terminal.parse_seconds import SECONDS
from assay.cli.terminal.parse_size import size_in_bytes
from assay.cli.terminal.progress import activity
from assay.grammar.current_work import answering, doing
from assay.traces import scope as window
from assay.traces.options import DEFAULT_OPTIONS, Options
from assay.traces.scope import known_ids
from assay.traces.scoped_validate import AnswerScope
from assay.traces.stop import stopped

if TYPE_CHECKING:
    from assay.spark.logs.spec_for_cluster import SpecSelection


def _time(_: click.Context, __: click.Parameter, value: str | None) -> int | None:
    """A time as logs write it, in milliseconds since the epoch."""
    if value is not None and window.parse_time(value) is None:
        raise click.BadParameter(f"{value!r} is no time such as `2026-11-21 01:45:22` or `2026-11-21T01:45:22.705Z`")
    return None if value is None else window.parse_time(value)


NOT_ON_SPARK = ("--timeout", "--memory", "--story", "--jobs", "--mutants", "--no-slice", "--first", "--follow")
"""Options that `--spark` refuses."""


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH…")
@click.option(
    "--spec",
    metavar="SPEC",
    help="The spec: a file, or the name of a bundled one. If it is left out, the lines decide: Kafka in ZooKeeper mode, or in KRaft mode.",
)
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
    help="Leave to a solver what is not decided after so many search nodes; where logs are missing after a twentieth of them.",
)
@click.option("--mutants", type=click.IntRange(min=0), default=0, show_default=True, metavar="N",
              help="Also try N copies of the log with one field changed, and count how many are rejected.")  # fmt: skip
@click.option("--seed", type=int, default=0, show_default=True, help="Which fields --mutants changes.")
@click.option("--jobs", type=click.IntRange(min=0), default=0, show_default="all cores", metavar="N",
              help="How many processes check partitions.")  # fmt: skip
@click.option("--first", is_flag=True, help="Stop at the first mismatch, and look for no repair of it.")
@click.option("--timeout", type=SECONDS, metavar="S",
              help="End after S seconds, and answer with what was found by then.")  # fmt: skip
@click.option("--memory", callback=size_in_bytes, metavar="SIZE", help="The same for memory, such as 800M or 4G.")
@click.option("--no-slice", "whole", is_flag=True,
              help="Also search all partitions together, with every guard that checks across them: for small logs.")  # fmt: skip
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
    help="Allow for nothing that versions of the product are known to do against the protocol, and for nothing that came before the logs.",
)
@click.option(
    "--redact", is_flag=True, help="Replace all names (hosts, users, topics, directories, …) in every output."
)
@click.option("--follow", is_flag=True,
              help="Answer while lines come, as `tail -F` reads them, until Ctrl-C or --timeout: one file, or `-`.")  # fmt: skip
@validation_on_spark
@output_options
def validate(
    paths: tuple[str, ...],
    spec: str | None,
    model: str | None,
    settings: tuple[str, ...],
    clause: str | None,
    skew: int | None,
    shapes: tuple[Path, ...],
    nodes: int,
    mutants: int,
    seed: int,
    jobs: int,
    first: bool,
    timeout: float | None,
    memory: int | None,
    whole: bool,
    since: int | None,
    until: int | None,
    topics: tuple[str, ...],
    known: Path | None,
    strict: bool,
    redact: bool,
    follow: bool,
    spark: str | None,
    clusters: str | None,
    tables: str | None,
    output: LogOutput,
) -> int:
    """Validate the logs at PATH… against a spec. Directories are walked, archives are opened; `-` is standard input.

    \b
    Exit code: 0 consistent      1 inconsistent      2 bad input
               3 inconclusive    4 vacuous: nothing was checked
    """
    _refuse_no_time(since, until)
    bound = parse_settings(settings)
    limits = Options(
        nodes=nodes, mutants=mutants, seed=seed, skew=skew, strict=strict, jobs=jobs, whole=whole, first=first
    )
    scope = AnswerScope(since, until, topics, _accepted(known))
    if spark is not None:
        target = SparkOutput(clusters, tables, output.as_json, output.junit, output.html, output.details)
        # In the order of NOT_ON_SPARK.
        refused = (timeout is not None, memory is not None, output.stories, jobs, mutants, whole, first, follow)
        refuse_on_spark(dict(zip(NOT_ON_SPARK, map(bool, refused), strict=True)), target)
        wanted = _spec_on_spark(spec, model, bound)
        return validate_on_spark(spark, paths, SparkQuestion(wanted, clause, limits, scope, shapes, redact), target)
    refuse_without_spark(clusters, tables)
    bundled = partial(load, model=model, settings=bound)
    if follow:
        refuse_following(paths, memory=memory is not None, redact=redact)
        named = None if spec is None else bundled(spec)
        return follow_log(LogQuestion(paths, named, clause, limits, scope, shapes, False, bundled), timeout, output)
    with validation_limits(timeout, memory), activity("reading logs") as show:
        doing("the spec was loaded")
        named = None if spec is None else bundled(spec)
        found = api.answer(LogQuestion(paths, named, clause, limits, scope, shapes, redact, bundled), show)
        answering()
        # Asked inside the block, which forgets the request at its end.
        is_interrupted = stopped() == INTERRUPTED
    code = write_log_answer(found, output, "redacted logs" if redact else " ".join(paths))
    return ExitCode.INTERRUPTED if is_interrupted else code


def _refuse_no_time(since: int | None, until: int | None) -> None:
    """Raise ``click.UsageError`` for a time without a moment: the answer about it would be `consistent`."""
    if since is not None and until is not None and since > until:
        raise click.UsageError("--since lies after --until: nothing happened between them")


def _spec_on_spark(spec: str | None, model: str | None, bound: Mapping[str, str]) -> SpecSelection:
    """The spec that is named, or the choice of a bundled one by the lines of each cluster."""
    from assay.spark.logs import spec_for_cluster  # noqa: PLC0415 - Spark is loaded where it is asked for

    if spec is None:
        # Clusters in ZooKeeper mode and in KRaft mode may be among the logs: each has a spec of its own.
        return spec_for_cluster.select_by_lines(model, bound)
    return spec_for_cluster.SpecSelection(load(spec, model=model, settings=bound).loaded)


def _accepted(known: Path | None) -> list[str] | None:
    """The ids of the findings in the file of ``--known``."""
    return None if known is None else known_ids(known.read_text(encoding="utf-8", errors="replace"))
