"""Bounded search says what breadth-first search says, with counterexamples of the same length."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.stages import rounds

from assay.checker.engines.reference_engine import check as reference
from assay.checker.options import SearchOptions
from assay.checker.report import Outcome, Report
from assay.checker.search_interface.finding import DEADLOCK, DEFINED
from assay.checker.symbolic.bounded import bmc
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.kernel import Kernel

from .random_kernel import random_kernel

LEVELS = 4
FAST = settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True)
THOROUGH = settings(FAST, max_examples=120)


def lengths(report: Report) -> dict[str, tuple[Outcome, int | None]]:
    """What is decided, with the length of each run that shows it."""
    return {
        p.name: (p.outcome, len(p.trace) if p.trace else None)
        for p in report.properties
        if p.kind != "temporal"  # those are compared by themselves
        and (p.outcome is Outcome.VIOLATED or (p.kind == "reachable" and p.outcome is Outcome.HOLDS))
    }


def safety(kernel: Kernel) -> frozenset[str]:
    """Everything but temporal properties: a run that violates one would end a bounded search, and does not end the other."""
    names = [each.name for each in kernel.properties if each.kind != "temporal"]
    return frozenset({DEFINED, DEADLOCK, *names, *(each.name for each in kernel.scenarios)})


def agree(kernel: Kernel, levels: int = LEVELS) -> bool:
    """Assert that both engines find the same within a few levels; whether the kernel has an encoding."""
    by_search = reference(kernel, SearchOptions(max_depth=levels, max_states=3000))
    if by_search.stopped and "states was reached" in by_search.stopped:
        return False
    try:
        by_solver = bmc.check(kernel, SearchOptions(max_depth=levels, properties=safety(kernel)))
    except SpecError:
        return False
    complete = by_search.stopped is None  # a bounded search does not know that nothing is left
    found = {name: each for name, each in lengths(by_search).items() if each[1] is not None or not complete}
    assert lengths(by_solver) == found
    return True


@FAST
@given(st.integers(0, 2**40))
def test_bounded_search_agrees_on_random_kernels(seed: int) -> None:
    agree(random_kernel(Random(seed)))


@pytest.mark.slow
@THOROUGH
@given(st.integers(0, 2**40))
def test_bounded_search_agrees_on_many_random_kernels(seed: int) -> None:
    agree(random_kernel(Random(seed)))


def from_a_later_level(kernel: Kernel) -> bool:
    """Assert the same of a search that lists the first levels; whether the solver had to go on from a level that was listed."""
    by_search = reference(kernel, SearchOptions(max_depth=LEVELS + 2, max_states=3000))
    try:
        by_solver = bmc.check(kernel, SearchOptions(max_depth=LEVELS + 2, max_states=4))
    except SpecError:
        return False
    if by_search.stopped and "states was reached" in by_search.stopped:
        return False
    complete = by_search.stopped is None and by_search.up_to_depth is None
    found = {name: each for name, each in lengths(by_search).items() if each[1] is not None or not complete}
    said = lengths(by_solver)
    assert {name: each for name, each in said.items() if each[1] is not None or name in found} == found
    return by_solver.statistics.distinct >= 4


@rounds(8, 25)
def test_the_solver_goes_on_from_the_states_of_a_level(rounds: int) -> None:
    assert sum(from_a_later_level(random_kernel(Random(seed))) for seed in range(rounds)) >= rounds // 5
