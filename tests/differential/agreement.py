"""How often the symbolic engines were compared with explicit search, and agreed: ``python -m tests.differential.agreement [SPECS] [SEED]``.

Random kernels: the sets of states that are reached in up to six steps, then verdicts and lengths of bounded search. Specs: the mutants of
small ones, by both engines. What does not agree ends the run with the seed or the spec that shows it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from random import Random

from .random_kernel import random_kernel
from .test_bmc import agree as agree_about_runs
from .test_bmc_mutants import LEVELS, changed
from .test_symbolic import agree as agree_about_states

MUTATED = (
    "classics/two_phase",
    "classics/transaction_commit",
    "kafka/claim",
    "kafka/broker_id",
    "kafka/controller_cache",
)


class DisagreementFoundError(Exception):
    """Two engines differ; the message says where."""


def counts(specs: int, first: int) -> Iterator[dict[str, object]]:
    """One line for each kind of comparison: how many were asked, and how many had an encoding and agreed."""
    seeds = range(first, first + specs)
    yield _line(
        "sets of states in up to 6 steps", [_said(f"seed {at}", partial(agree_about_states, at)) for at in seeds]
    )
    yield _line("verdicts and lengths", [_said(f"seed {at}", partial(_runs, at)) for at in seeds])
    for spec in MUTATED:
        asked = [partial(agree_about_runs, kernel, LEVELS) for kernel in changed(spec)]
        yield _line(f"mutants of {spec}", [_said(f"{spec}, mutant {at}", each) for at, each in enumerate(asked)])


def _runs(seed: int) -> bool:
    return agree_about_runs(random_kernel(Random(seed)))


def _said(where: str, compare: Callable[[], bool]) -> bool:
    try:
        return compare()
    except AssertionError as error:
        raise DisagreementFoundError(f"{where}: {error}") from error


def _line(what: str, said: list[bool]) -> dict[str, object]:
    return {
        "compared": what,
        "asked": len(said),
        "agreed": sum(said),
        "without_encoding_or_too_large": said.count(False),
    }


if __name__ == "__main__":
    numbers = [int(each) for each in sys.argv[1:]]
    for line in counts(numbers[0] if numbers else 500, numbers[1] if len(numbers) > 1 else 0):
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()
