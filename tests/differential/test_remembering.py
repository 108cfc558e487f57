"""Values that are remembered are those that would be worked out anew: of random kernels, state after state."""

from __future__ import annotations

from random import Random

import pytest
from tests.stages import rounds

from assay.checker.interpreter.actions.outcome import Successor
from assay.checker.interpreter.compiled_model import Model, outcomes
from assay.checker.interpreter.expressions.recursion_limit import deep_recursion

from .random_kernel import random_kernel

STATES = 40


@pytest.mark.slow
@rounds(40, 150)
def test_what_is_remembered_is_what_is_so(rounds: int) -> None:
    compared = 0
    for seed in range(rounds):
        kernel = random_kernel(Random(seed))
        plain, remembering = Model(kernel), Model(kernel, remember=True)
        with deep_recursion(kernel):
            initial = [each.state for each in plain.init.outcomes() if isinstance(each, Successor)]
            known = dict.fromkeys(initial[:STATES])
            for state in list(known):
                known |= dict.fromkeys(_compared(plain, remembering, state)[:STATES])
            for state in list(known)[:STATES]:
                compared += len(_compared(plain, remembering, state))
    assert compared > 13 * rounds


def _compared(plain: Model, remembering: Model, state: tuple[object, ...]) -> list[tuple[object, ...]]:
    """The successors of a state, which both models agree on."""
    expected = [(action.node.name, arguments, repr(each)) for action, arguments, each in outcomes(plain, state)]
    found = [(action.node.name, arguments, repr(each)) for action, arguments, each in outcomes(remembering, state)]
    assert found == expected
    return [each.state for _, _, each in outcomes(plain, state) if isinstance(each, Successor)]
