"""Where the reference engine finds something undefined in a random kernel, TLC stops with an error or finds a value out of range."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, replace
from itertools import count, dropwhile, islice
from pathlib import Path
from random import Random
from typing import Any

import pytest

from assay.checker.engines.reference_engine import check
from assay.checker.options import SearchOptions
from assay.checker.report import Outcome
from assay.grammar import kernel as k
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.kernel import types as t

from .joined import survey
from .random_kernel import initial, random_kernel

OPTIONS = SearchOptions(max_states=400, keep_going=True)

ONLY_IN_KERNELS = ("the value of `none`", "the payload of")
"""Reasons that TLC does not see. No text leads to them: what it reads of an option or a variant stands behind a pattern that matched."""


def eager(node: Any) -> Any:
    """The node with every name for a value mentioned, without effect: TLC evaluates what is mentioned, assay whatever has a name."""
    if type(node) is tuple:
        return tuple(each for part in node for each in _eager_statement(part))
    if not isinstance(node, k.Node) or isinstance(node, k.Const):
        return node
    made: Any = replace(node, **{each.name: eager(getattr(node, each.name)) for each in fields(node)})
    if isinstance(made, k.LetIn):
        other = k.Const(t.INT, 0) if isinstance(made.type, t.IntType) else initial(made.type)
        return replace(made, body=k.IfThenElse(made.type, is_itself(made.binder), made.body, other))
    return made


def _eager_statement(node: Any) -> Iterator[Any]:
    made = eager(node)
    yield made
    if isinstance(made, k.Let):
        yield k.Guard("when", f"mentions {made.binder.name}", is_itself(made.binder))


def is_itself(binder: k.Local) -> k.Expr:
    return k.Equal(t.BOOL, binder, binder, negated=False)


def names_among_updates(body: tuple[k.Statement, ...]) -> bool:
    """Whether a value gets a name among the updates of an action, where no guard can mention it."""
    updates = dropwhile(lambda each: isinstance(each, k.Guard | k.Let | k.Pick), body)
    return any(isinstance(part, k.Let) for part in _parts(updates))


def _parts(statements: Iterable[k.Statement]) -> Iterator[k.Statement]:
    for each in statements:
        yield each
        match each:
            case k.If(_, then, otherwise):
                yield from _parts((*then, *otherwise))
            case k.For(_, _, inner):
                yield from _parts(inner)
            case _:
                pass


def undefined_kernels(first: int, depth: int) -> Iterator[tuple[int, str, k.Kernel]]:
    """Seeds, reasons and kernels in which something is undefined."""
    for seed in count(first):
        plain = random_kernel(Random(seed), depth)
        if any(names_among_updates(action.body) for action in plain.actions):
            continue
        kernel = eager(plain)
        try:
            report = check(kernel, OPTIONS)
        except SpecError:
            continue
        (defined,) = (each for each in report.properties if each.name == "defined")
        reason = defined.reason or ""
        if defined.outcome is Outcome.VIOLATED and not report.stopped and not any(x in reason for x in ONLY_IN_KERNELS):
            yield seed, reason, kernel


def unnoticed(first: int, wanted: int, folder: Path, depth: int = 3) -> list[str]:
    """What is undefined and TLC finds nothing wrong with."""
    found = []
    for seed, reason, kernel in islice(undefined_kernels(first, depth), wanted):
        (seen,), answer = survey([kernel], folder)
        if answer.is_complete and "TypeOK" not in seen.false:
            found.append(f"seed {seed}: {reason}")
    return found


@pytest.mark.slow
def test_tlc_stops_where_the_reference_engine_finds_something_undefined(tmp_path: Path) -> None:
    assert unnoticed(0, 3, tmp_path) == []


@pytest.mark.slow
def test_tlc_stops_at_what_is_undefined_in_many_kernels(tmp_path: Path) -> None:
    assert unnoticed(1_000, 25, tmp_path) == []
