"""``assay simulate``: random walks through a model."""

from __future__ import annotations

from dataclasses import replace

import click

from assay.api import answers as api
from assay.api.spec import load
from assay.checker.engines.engine_selection import Engine
from assay.checker.options import SearchOptions
from assay.checker.simulate.random_walks import Walks
from assay.cli.answer import Destination, result_options, write_answer
from assay.cli.settings import model_options, parse_settings
from assay.cli.terminal.interrupt import stoppable
from assay.cli.terminal.parse_seconds import SECONDS
from assay.cli.terminal.progress import search_progress
from assay.cli.terminal.supervisor import limit_time


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
    "--plateau",
    type=click.IntRange(min=1),
    metavar="N",
    help="Make walks until N of them, one after the other, exercise nothing new; actions that were taken seldom are preferred.",
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
@click.option(
    "--threads",
    type=click.IntRange(min=1),
    metavar="N",
    help="How many processes walk.  [default: one per processor; the answer does not depend on it]",
)
@click.option("--timeout", type=SECONDS, metavar="S", help="Stop after S seconds.")
@click.option("--no-deadlock", is_flag=True, help="Do not look for deadlocks.")
@click.option("--continue", "keep_going", is_flag=True, help="Walk on after a violation.")
@result_options("violating walk")
def simulate(
    spec: str,
    model: str | None,
    settings: tuple[str, ...],
    engine: Engine,
    names: tuple[str, ...],
    walks: int,
    plateau: int | None,
    depth: int,
    seed: int,
    threads: int | None,
    timeout: float | None,
    no_deadlock: bool,
    keep_going: bool,
    destination: Destination,
) -> int:
    """Walk through SPEC at random, for models whose states are too many to be searched.

    \b
    Exit code: 0 everything was found reachable    1 something is violated    2 bad input
               3 nothing is violated in these walks: a simulation proves nothing
    """
    # Before the spec is loaded, for the limit is that of the whole command.
    started = limit_time(timeout)
    bound = load(spec, model=model, settings=parse_settings(settings))
    limits = SearchOptions(
        properties=frozenset(names) or None,
        timeout=timeout,
        started=started,
        check_deadlock=not no_deadlock,
        keep_going=keep_going,
        threads=threads,
    )
    with stoppable() as asked, search_progress() as show:
        options = replace(limits, progress=show, interrupted=asked)
        answer = api.simulate(bound, walks=Walks(walks, depth, seed, plateau), engine=engine, options=options)
    return write_answer(answer, destination)
