"""Under a view the states that are found are the states of the whole model, seen through it. The kernels are random,
with every view that is allowed.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from random import Random

from tests.stages import rounds

from assay.checker.interpreter.actions.outcome import Successor
from assay.checker.interpreter.compiled_model import Model, outcomes
from assay.checker.options import SearchOptions
from assay.checker.report import State
from assay.checker.results.state_view import view_of
from assay.grammar import kernel as k
from assay.grammar.diagnostics.diagnostic import SpecError

from .random_kernel import random_kernel

MOST = 150


def reachable(kernel: k.Kernel) -> set[State] | None:
    """All states, found by the plainest search; None if there are many, or a step is cut or has no value."""
    model = Model(kernel)
    waiting: list[State] = []
    found: set[State] = set()
    for outcome in model.init.outcomes():
        if not isinstance(outcome, Successor):
            return None
        waiting.append(outcome.state)
    while waiting:
        state = waiting.pop()
        if state in found:
            continue
        found.add(state)
        if len(found) > MOST:
            return None
        for _, _, outcome in outcomes(model, state):
            if not isinstance(outcome, Successor):
                return None
            waiting.append(outcome.state)
    return found


def compared(seed: int) -> int:
    """Compares all views of a random kernel with the states of the whole of it; how many merge states and leave several."""
    kernel = replace(random_kernel(Random(seed), 2), properties=(), scenarios=(), terminal=())
    whole, done = reachable(kernel), 0
    if whole is None:
        return 0
    names = [each.name for each in kernel.variables]
    for size in range(1, len(names)):
        for seen in combinations(names, size):
            try:
                view = view_of(replace(kernel, view=seen), SearchOptions())
            except SpecError:
                continue
            places = [names.index(name) for name in seen]
            shown = {tuple(state[at] for at in places) for state in whole}
            assert reachable(view.kernel) == shown, (seed, seen)
            done += 1 < len(shown) < len(whole)
    return done


@rounds(100, 4_000)
def test_a_view_finds_the_states_of_the_whole_model_seen_through_it(rounds: int) -> None:
    assert sum(map(compared, range(rounds))) > rounds // 5
