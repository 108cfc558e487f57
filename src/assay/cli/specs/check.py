"""``assay check``: all properties of a spec."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import click

from assay.api import answers as api
from assay.api.answers import CheckAnswer
from assay.api.spec import Spec, load
from assay.checker.engines.engine_selection import Engine
from assay.checker.options import Fingerprints, Order, SearchOptions
from assay.cli.answer import Destination, result_options, write_answer
from assay.cli.settings import model_options, parse_settings
from assay.cli.specs.spark_options import Cluster, search_on_spark, selected_cluster, spark_options
from assay.cli.specs.watch import WatchedCheck, watch
from assay.cli.terminal.interrupt import stoppable
from assay.cli.terminal.parse_seconds import SECONDS
from assay.cli.terminal.parse_size import size_in_bytes
from assay.cli.terminal.progress import search_progress
from assay.cli.terminal.supervisor import limit_time
from assay.spark.session.options import Choice


def on_or_off(name: str, default: str, text: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """An option that takes ``on`` or ``off``."""
    return click.option(name, type=click.Choice(["on", "off"]), default=default, show_default=True, help=text)


@click.command()
@click.argument("spec")
@model_options
@click.option(
    "--engine",
    type=click.Choice(["auto", "native", "reference", "bmc", "prove", "race", "spark"]),
    default="auto",
    show_default=True,
    help="What searches: auto is native wherever the spec compiles; bmc asks a SAT solver, level by level; prove looks for proofs; "
    "race runs auto and bmc side by side; spark is native on a cluster.",
)
@spark_options
@click.option("--property", "names", multiple=True, metavar="NAME", help="Check this property only; repeatable.")
@click.option(
    "--search",
    "order",
    type=click.Choice(["bfs", "dfs"]),
    default="bfs",
    show_default=True,
    help="Breadth-first, with shortest counterexamples, or depth-first, which soon makes long runs.",
)
@click.option("--depth", type=click.IntRange(min=1), metavar="N", help="Look at runs of up to N states only.")
@click.option(
    "--max-states", type=click.IntRange(min=1), metavar="N", help="Stop at the level that reaches N distinct states."
)
@click.option("--timeout", type=SECONDS, metavar="S", help="Stop after S seconds.")
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
    type=click.Choice(["auto", "exact", "64", "96", "128"]),
    default="auto",
    show_default=True,
    help="What tells states apart: whole rows, or so many bits; auto goes from rows to 96 bits as states become many.",
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
    metavar="DIR",
    help="Go on with the checkpoint in DIR; on Spark, with the work directory of that URI.",
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
@on_or_off("--symmetry", "off", "Let one state stand for all that differ by a permutation of `symmetric` elements.")
@on_or_off("--view", "on", "Tell states apart by the variables of `view:` alone, where the spec has one.")
@on_or_off(
    "--reduce", "off", "Leave out steps whose order no invariant and no deadlock can tell (partial-order reduction)."
)
@click.option(
    "--watch", "watched", is_flag=True, help="Check again whenever a file of the spec is saved, until Ctrl-C."
)
@result_options("counterexample")
def check(
    spec: str,
    model: str | None,
    settings: tuple[str, ...],
    engine: Engine | Literal["spark"],
    master: str | None,
    partitions: int | None,
    exchange: Choice | None,
    workdir: str | None,
    names: tuple[str, ...],
    order: Order,
    depth: int | None,
    max_states: int | None,
    timeout: float | None,
    threads: int | None,
    memory: int | None,
    fingerprints: Fingerprints,
    checkpoint: Path | None,
    checkpoint_every: float,
    resume: str | None,
    no_deadlock: bool,
    keep_going: bool,
    violations: int,
    symmetry: str,
    view: str,
    reduce: str,
    watched: bool,
    destination: Destination,
) -> int:
    """Check all properties of SPEC: a file, or the name of a bundled spec such as `kafka/controller`.

    \b
    Exit code: 0 everything holds    1 something is violated    2 bad input
               3 undecided           4 nothing was checked      5 holds up to named bounds
    """
    _refuse_together(engine, order, checkpoint, resume, reduce, destination if watched else None)
    cluster = selected_cluster(engine, master, partitions, exchange, workdir, resume)
    read = partial(load, spec, model=model, settings=parse_settings(settings))
    limits = SearchOptions(
        # None asks for all properties, and an empty set for none.
        properties=frozenset(names) or None,
        order=order,
        max_depth=depth,
        max_states=max_states,
        timeout=timeout,
        # A watched check goes on without end: the limit is that of each search (`_search_again`).
        started=limit_time(None if watched else timeout, patient=checkpoint is not None or resume is not None),
        threads=threads,
        memory=memory,
        fingerprints=fingerprints,
        # A search that is resumed goes on writing into the folder that it came from.
        checkpoint=checkpoint if resume is None else Path(resume),
        checkpoint_every=checkpoint_every,
        resume=resume is not None,
        check_deadlock=not no_deadlock,
        keep_going=keep_going or violations > 1,
        violations=violations,
        symmetry=symmetry == "on",
        view=view == "on",
        reduce=reduce == "on",
    )
    again = WatchedCheck(read, partial(_search_again, limits, engine), limits.properties)
    return watch(again, spec) if watched else write_answer(_answer(read(), limits, engine, cluster), destination)


def _answer(
    asked: Spec, limits: SearchOptions, engine: Engine | Literal["spark"], cluster: Cluster | None
) -> CheckAnswer:
    if cluster is not None:
        found = search_on_spark(asked.loaded, limits, cluster)
        return CheckAnswer(spec=asked, report=found.report, declined=found.declined)
    # For that engine, and for no other, `selected_cluster` gives a cluster.
    assert engine != "spark"
    return search(asked, limits, engine)


def _search_again(
    limits: SearchOptions, engine: Engine | Literal["spark"], spec: Spec, names: frozenset[str] | None
) -> CheckAnswer:
    """A search of ``--watch``: its time limit begins anew, and only those of the properties asked for are looked at."""
    wanted = limits.properties if names is None else names
    answer = _answer(spec, replace(limits, properties=wanted, started=time.monotonic()), engine, None)
    # Ctrl-C ends the watching, and not only this search.
    if answer.report.interrupted:
        raise KeyboardInterrupt
    return answer


def _refuse_together(
    engine: str, order: Order, checkpoint: Path | None, resume: str | None, reduce: str, watched: Destination | None
) -> None:
    """``watched`` is where a watched check would write; None if it is not watched."""
    if engine == "spark" and reduce == "on":
        raise click.UsageError("--engine spark takes all steps: --reduce belongs to the native engine")
    if checkpoint is not None and resume is not None:
        raise click.UsageError("--resume goes on writing into its folder: --checkpoint beside it has no meaning")
    if engine == "spark" and order == "dfs":
        raise click.UsageError("--engine spark searches breadth-first")
    unsuitable = engine == "spark" or checkpoint is not None or resume is not None
    if watched is not None and (unsuitable or watched != Destination(as_json=False)):
        raise click.UsageError(
            "--watch goes with neither result files nor --json, --engine spark, --checkpoint, --resume"
        )


def search(spec: Spec, limits: SearchOptions, engine: Engine = "auto") -> CheckAnswer:
    """Run the search, with progress on a terminal. Ctrl-C ends it, and it reports what it has found."""
    with stoppable() as asked, search_progress() as show:
        return api.check(spec, engine=engine, options=replace(limits, progress=show, interrupted=asked))
