"""``assay prove``: proofs without a bound on the number of steps, and for any number of elements."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import click

from assay.api import proofs as api
from assay.api.spec import load
from assay.checker.options import SearchOptions
from assay.checker.symbolic.prove import Method
from assay.cli.answer import Destination, with_pictures, write_answer
from assay.cli.settings import model_options, parse_settings
from assay.cli.terminal.interrupt import stoppable
from assay.cli.terminal.parse_seconds import SECONDS
from assay.cli.terminal.supervisor import limit_time


@click.command()
@click.argument("spec")
@model_options
@click.option("--property", "names", multiple=True, metavar="NAME", help="Prove this property only; repeatable.")
@click.option(
    "--inductive",
    multiple=True,
    metavar="NAME",
    help="Only ask whether this invariant or lemma is inductive as it stands; repeatable: whether they are together.",
)
@click.option(
    "--any",
    "sets",
    multiple=True,
    metavar="SET",
    help="Prove for any number of elements of this symmetric set; repeatable.",
)
@click.option(
    "--by",
    type=click.Choice(get_args(Method)),
    default="ic3",
    show_default=True,
    help="How invariants are looked for; `k-induction` shows a path where it ends without one.",
)
@click.option("--timeout", type=SECONDS, metavar="S", help="Stop after S seconds.")
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object to standard output.")
@with_pictures("counterexample")
def prove(
    spec: str,
    model: str | None,
    settings: tuple[str, ...],
    names: tuple[str, ...],
    inductive: tuple[str, ...],
    sets: tuple[str, ...],
    by: Method,
    timeout: float | None,
    as_json: bool,
    html: Path | None,
    diagram: Path | None,
) -> int:
    """Prove the properties of SPEC for runs of any length. A proof leaves a certificate in the language.

    \b
    Exit code: 0 everything is proved     1 something is violated    2 bad input
               3 something is undecided   5 proved up to named bounds
    """
    _refuse_together(inductive, sets, by)
    started = limit_time(timeout)
    bound = load(spec, model=model, settings=parse_settings(settings))
    with stoppable() as asked:
        options = SearchOptions(
            properties=frozenset(names) or None, timeout=timeout, started=started, interrupted=asked
        )
        answer = api.prove(bound, by=by, sets=sets, inductive=inductive, options=options)
    return write_answer(answer, Destination(as_json, html=html, diagram=diagram))


def _refuse_together(inductive: tuple[str, ...], sets: tuple[str, ...], by: Method) -> None:
    if inductive and sets:
        raise click.UsageError("--inductive and --any do not go together")
    if by != "ic3" and (inductive or sets):
        raise click.UsageError("--by is of no use with --inductive and --any")
