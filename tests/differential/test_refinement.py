"""Both engines say the same of refinements: random kernels, seen as themselves by a variant with a mistake."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from tests.stages import rounds

from assay.checker.report import Outcome
from assay.grammar import kernel as k
from assay.grammar.diagnostics.diagnostic import SpecError

from .random_kernel import random_kernel
from .test_native import agree


@pytest.fixture(autouse=True, scope="module")
def _small_rooms() -> Iterator[None]:
    """Lanes overflow, and the table of kinds grows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("assay.checker.explicit.expansion.parallel_round.ROOM", 64)
        patch.setattr("assay.checker.explicit.refinement_check.FIRST_ROOM", 8)
        yield


def unbounded(action: k.Action) -> k.Action:
    body = tuple(each for each in action.body if not (isinstance(each, k.Guard) and each.kind == "bound"))
    return replace(action, body=body)


def lacking(random: Random, action: k.Action) -> k.Action:
    """The action without some guard or update."""
    places = [at for at, each in enumerate(action.body) if isinstance(each, k.Guard | k.Assign)]
    left_out = random.choice(places) if places else -1
    return replace(action, body=tuple(each for at, each in enumerate(action.body) if at != left_out))


def random_mapping(random: Random, action: k.Action) -> k.ActionMapping:
    """The action as itself, with some arguments left open, others exchanged for constants or read from the state; or something else."""
    locals_ = tuple(replace(p.binder, name=f"{p.binder.name}_m") for p in action.parameters)
    arguments = tuple(random.choice([local, local, local, None]) for local in locals_)
    calls = (k.ActionCall(action.name, arguments),) if random.random() < 0.9 else ()
    return k.ActionMapping(action.name, locals_, calls, random.random() < 0.3, random.random() < 0.15)


def refined(random: Random, kernel: k.Kernel) -> k.Kernel:
    """The kernel, which is to refine a variant of itself."""
    actions = [unbounded(action) for action in kernel.actions]
    if random.random() < 0.5:
        at = random.randrange(len(actions))
        actions[at] = lacking(random, actions[at])
    init = k.Init(kernel.init.body, ())
    abstract = replace(kernel, actions=tuple(actions), properties=(), terminal=(), init=init)
    values: list[k.Expr] = [k.StateVar(v.type, v.name) for v in kernel.variables]
    mappings = tuple(random_mapping(random, action) for action in kernel.actions)
    refinement = k.Refinement("refines random", abstract, tuple(values), mappings)
    node = k.Property("refines random", "refinement", (), None)
    return replace(kernel, properties=(*kernel.properties, node), refinements=(refinement,))


def run(seeds: range, folder: Path) -> tuple[int, set[Outcome]]:
    """How many were compared, and what the answers were."""
    compared, outcomes = 0, set()
    for seed in seeds:
        random = Random(seed)
        kernel = refined(random, random_kernel(random, depth=2))
        try:
            report = agree(kernel, folder, keep_going=seed % 2 == 0)
        except SpecError:
            continue
        if report is not None:
            compared += 1
            outcomes |= {each.outcome for each in report.properties if each.kind == "refinement"}
    return compared, outcomes


@rounds(4, 8)
def test_engines_agree_about_random_refinements(rounds: int, tmp_path: Path) -> None:
    compared, outcomes = run(range(23, 23 + rounds), tmp_path)
    assert compared >= (5 if rounds == 8 else 2)
    assert {Outcome.VIOLATED} <= outcomes


@pytest.mark.slow
def test_engines_agree_about_many_random_refinements(tmp_path: Path) -> None:
    compared, outcomes = run(range(100, 160), tmp_path)
    assert compared >= 30
    assert {Outcome.VIOLATED, Outcome.HOLDS} <= outcomes
