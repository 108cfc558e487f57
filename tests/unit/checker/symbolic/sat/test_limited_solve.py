"""A question to a solver in this process ends at Ctrl-C as everything else does."""

from __future__ import annotations

import signal
from collections.abc import Sequence

import pysolvers
import pytest
from pysat.solvers import Solver

from assay.checker.symbolic.sat.limited_solve import solve_limited


class Interrupted(Solver):  # type: ignore[misc]  # python-sat has no types
    """A solver during whose search the user presses Ctrl-C."""

    def solve_limited(self, assumptions: Sequence[int]) -> bool:
        raise pysolvers.error("Caught keyboard interrupt")


def test_ctrl_c_during_a_question_is_an_interruption() -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore the signal
    try:
        with Interrupted("glucose4") as solver, pytest.raises(KeyboardInterrupt):
            solve_limited(solver, [])
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_handler_that_only_notes_ctrl_c_leaves_the_question_open() -> None:
    noted: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: noted.append(number))
    try:
        with Interrupted("glucose4") as solver:
            assert solve_limited(solver, []) is None
    finally:
        signal.signal(signal.SIGINT, before)
    assert noted == [signal.SIGINT]


def test_a_question_is_answered() -> None:
    with Solver("glucose4", bootstrap_with=[[1], [-1, 2]]) as solver:
        assert (solve_limited(solver, [2]), solve_limited(solver, [-2])) == (True, False)
