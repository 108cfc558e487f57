"""The solver in a process of its own: models, assumptions, and every way in which it may end."""

from __future__ import annotations

import time

import pytest

from assay.api.bundled import locate_spec
from assay.checker.options import SearchOptions
from assay.checker.report import ExitCode, Outcome
from assay.checker.symbolic.bounded import bmc
from assay.checker.symbolic.sat.subprocess_solver import ChildSolver, NoAnswerError
from assay.grammar.load import load_spec


def pigeons(holes: int) -> list[list[int]]:
    """More pigeons than holes: without solution, and hard to refute."""

    def at(pigeon: int, hole: int) -> int:
        return pigeon * holes + hole + 1

    clauses = [[at(p, h) for h in range(holes)] for p in range(holes + 1)]
    pairs = [(p, q) for p in range(holes + 1) for q in range(p)]
    return clauses + [[-at(p, h), -at(q, h)] for h in range(holes) for p, q in pairs]


def test_a_model_satisfies_the_clauses_and_assumptions_last_for_one_question() -> None:
    with ChildSolver() as solver:
        assert solver.solve([[1, 2], [-1, 3]], [1]) == {1, 3} or solver.solve([], [1]) == {1, 2, 3}
        assert solver.solve([[-3]], [1]) is None
        assert 2 in (solver.solve([], []) or set())


def test_at_the_deadline_there_is_no_answer() -> None:
    with ChildSolver(deadline=time.monotonic()) as solver, pytest.raises(NoAnswerError, match="time limit"):
        solver.solve(pigeons(12), [])


def test_a_wish_to_stop_is_heard_while_the_solver_works() -> None:
    with ChildSolver(interrupted=lambda: True) as solver, pytest.raises(KeyboardInterrupt):
        solver.solve(pigeons(12), [])


def test_a_bounded_search_out_of_time_is_undecided() -> None:
    kernel = load_spec(locate_spec("kafka/replication/kip320"), model="r3l2m2e2").kernel
    report = bmc.check(kernel, SearchOptions(properties=frozenset({"strong_isr"}), timeout=1e-6))
    assert report.exit_code is ExitCode.INCONCLUSIVE
    assert {each.outcome for each in report.properties} == {Outcome.UNKNOWN}
    assert "the time limit" in (report.stopped or "")


def test_a_bounded_search_names_the_bounds_that_it_assumes() -> None:
    kernel = load_spec(locate_spec("kafka/controller")).kernel
    report = bmc.check(kernel, SearchOptions(properties=frozenset({"claim_is_live"}), max_depth=3))
    assumed = "`capacity of requests`, `epochs`, `membership.register.zxids`"
    assert report.stopped == f"the limit of 3 levels was reached (bounds assumed: {assumed})"
