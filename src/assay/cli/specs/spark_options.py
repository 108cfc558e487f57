"""The options of a search on Spark, and that search. Heavy imports are inside functions, so that other commands
start fast.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import click

from assay.checker.engines.engine_selection import EngineAnswer
from assay.checker.options import SearchOptions
from assay.checker.results.state_view import view_of
from assay.cli.terminal.interrupt import stoppable
from assay.cli.terminal.output import complain
from assay.cli.terminal.progress import search_progress
from assay.grammar.diagnostics.diagnostic import NOWHERE, Diagnostic, SpecError
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.load import Loaded
from assay.report.lines import Line, Tone
from assay.spark.session.options import Choice, ClusterOptions

NO_USE = "E839"


@dataclass(frozen=True, slots=True)
class Cluster:
    """The master of the cluster, and how the search is distributed."""

    master: str | None
    options: ClusterOptions


def spark_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of ``--engine spark``."""
    for option in (
        click.option(
            "--workdir",
            metavar="URI",
            help="Where the driver and all executors keep levels.  [default: a temporary folder]",
        ),
        click.option(
            "--exchange",
            type=click.Choice(["auto", "direct", "shuffle"]),
            help="How tasks exchange states: by connections of their own, or by Spark's shuffle.  [default: auto]",
        ),
        click.option(
            "--partitions",
            type=click.IntRange(min=1),
            metavar="N",
            help="Tasks that share the states; the answer is the same for any number.  [default: as many as run at once]",
        ),
        click.option("--spark", "master", metavar="MASTER", help="The cluster of --engine spark.  [default: local[*]]"),
    ):
        # The last one that is applied stands first in the help.
        command = option(command)
    return command


def selected_cluster(
    engine: str,
    master: str | None,
    partitions: int | None,
    exchange: Choice | None,
    workdir: str | None,
    resume: str | None,
) -> Cluster | None:
    """The cluster of the search; None if it runs here. Raises ``SpecError`` if options of a cluster are given
    without ``--engine spark``.
    """
    if engine == "spark":
        if workdir is not None and resume is not None and workdir != resume:
            raise click.UsageError(
                "--resume names the work directory to go on with: another one beside it has no meaning"
            )
        # The option has no default of its own. Otherwise it would seem to be given without `--engine spark`.
        spread = ClusterOptions(partitions, exchange or "auto", resume or workdir, resume=resume is not None)
        return Cluster(master, spread)
    given = {"--spark": master, "--partitions": partitions, "--exchange": exchange, "--workdir": workdir}
    unused = [name for name, value in given.items() if value is not None]
    if unused:
        text = "`{}` has no use without `--engine spark`"
        raise SpecError([Diagnostic(NO_USE, NOWHERE, text.format(name)) for name in unused])
    return None


def search_on_spark(loaded: Loaded, limits: SearchOptions, cluster: Cluster) -> EngineAnswer:
    """Run the search on a cluster, with progress on a terminal, and print how tasks exchange states."""
    if limits.checkpoint is not None and not cluster.options.resume:
        text = "`--checkpoint` has no use with `--engine spark`: the work directory is the checkpoint"
        raise SpecError([Diagnostic(NO_USE, NOWHERE, text)])
    from assay.spark.session.session import LOCAL, local_settings, require_pyspark, session  # noqa: PLC0415 - half a second

    # Before the next import, which needs pyspark: the message says how it is installed.
    require_pyspark()
    from assay.spark.exploration import explore  # noqa: PLC0415 - likewise

    view = view_of(loaded.kernel, limits)
    master = cluster.master or LOCAL
    with session(master, local_settings(master)) as spark, stoppable() as asked, search_progress() as show:
        options = replace(limits, progress=show, interrupted=asked)
        found = explore(spark, view.kernel, options, cluster.options, loaded.sources)
    complain([Line(remark, Tone.FAINT) for remark in found.remarks])
    return EngineAnswer(view.lifted(found.report))
