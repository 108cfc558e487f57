"""How often the engines were compared, and agreed: ``python -m tests.differential.agreement [--keep FILE] [--only WORD]… [SPECS] [SEED]``.

Random kernels: the sets of states that are reached in up to six steps, and verdicts and lengths of bounded search. Also
what IC3, k-induction and Spacer decide. Random behaviours: lassos. Specs: the mutants of small ones, by two engines.
What does not agree ends the run with the seed or the spec that shows it. With a file, what it holds is not asked again.
With words, only comparisons in whose names one of them stands are made. Ctrl-C ends it with the counts so far.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random

from .random_kernel import random_kernel
from .test_bmc import agree as agree_about_runs
from .test_bmc_mutants import LEVELS, changed
from .test_lassos import agree as agree_about_lassos
from .test_prove import agree as agree_about_proofs
from .test_symbolic import agree as agree_about_states

MUTATED = (
    "classics/two_phase",
    "classics/transaction_commit",
    "kafka/claim",
    "kafka/broker_id",
    "kafka/controller_cache",
)
Compare = Callable[[], int]
"""Compares once: how many answers there were to compare (0: the spec is too large, or has no encoding)."""


class DisagreementFoundError(Exception):
    """Two engines differ; the message says where."""


def comparisons(specs: int, first: int) -> Iterator[tuple[str, str, Compare]]:
    """What is compared, on what, and how: seed by seed, so that a run that was ended early has compared some of everything."""
    for seed in range(first, first + specs):
        where = f"seed {seed}"
        yield "sets of states in up to 6 steps", where, partial(agree_about_states, seed)
        yield "verdicts and lengths", where, partial(_runs, seed)
        yield "answers of IC3, k-induction, Spacer", where, partial(_proofs, seed)
        yield "lassos", where, partial(_lassos, seed)
    for spec in MUTATED:
        for number, kernel in enumerate(changed(spec)):
            yield f"mutants of {spec}", f"{spec}, mutant {number}", partial(agree_about_runs, kernel, LEVELS)


def _runs(seed: int) -> bool:
    return agree_about_runs(random_kernel(Random(seed)))


def _proofs(seed: int) -> int:
    return agree_about_proofs(random_kernel(Random(seed)))


def _lassos(seed: int) -> int:
    return agree_about_lassos([seed]).total()


def _said(where: str, compare: Compare) -> int:
    try:
        return int(compare())
    except AssertionError as error:
        raise DisagreementFoundError(f"{where}: {error}") from error


def run(specs: int, first: int, kept: Path | None, words: Sequence[str] = ()) -> Iterator[dict[str, object]]:
    """Compare, and say for each kind of comparison how many specs were asked about, how many had answers, and how many those were."""
    known: dict[str, int] = {}
    if kept is not None and kept.exists():
        known = {key: count for line in kept.read_text().splitlines() for key, count in [json.loads(line)]}
    asked: Counter[str] = Counter()
    with_answers: Counter[str] = Counter()
    answers: Counter[str] = Counter()
    with suppress(KeyboardInterrupt):  # then what was compared by now is told
        for what, where, compare in comparisons(specs, first):
            if words and not any(word in what for word in words):
                continue
            key = f"{what}: {where}"
            count = known[key] if key in known else _said(where, compare)
            if kept is not None and key not in known:
                with kept.open("a") as file:
                    file.write(json.dumps([key, count]) + "\n")
            asked[what] += 1
            with_answers[what] += count > 0
            answers[what] += count
    for what, number in asked.items():
        yield {
            "compared": what,
            "specs": number,
            "with_answers": with_answers[what],
            "answers_that_agree": answers[what],
        }


def main(arguments: list[str]) -> None:
    """Print the counts."""
    parser = ArgumentParser(prog="python -m tests.differential.agreement")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("specs", nargs="?", type=int, default=500)
    parser.add_argument("seed", nargs="?", type=int, default=0)
    given = parser.parse_args(arguments)
    for line in run(given.specs, given.seed, given.keep, given.only):
        sys.stdout.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
