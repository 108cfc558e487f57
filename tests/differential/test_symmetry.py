"""A reduced search finds one state of each orbit and gives the answers of the unreduced one: about random kernels with a symmetric set."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.stages import everyday, rounds

from assay.checker.engines.engine_selection import compile_kernel
from assay.checker.engines.native_engine import check as explicit
from assay.checker.engines.reference_engine import check as reference
from assay.checker.interpreter.actions.outcome import Successor
from assay.checker.interpreter.compiled_model import Model, outcomes
from assay.checker.interpreter.expressions.recursion_limit import deep_recursion
from assay.checker.lowering.llvm.unsupported import UnsupportedError
from assay.checker.options import SearchOptions
from assay.checker.reference.bfs import Search
from assay.checker.report import Outcome, Report, Trace
from assay.checker.symmetry.reduction import reduction_of
from assay.grammar.kernel import Kernel

from .random_kernel import random_kernel

PLAIN = SearchOptions(max_states=300)
REDUCED = SearchOptions(max_states=300, symmetry=True)


def orbits(kernel: Kernel) -> int:
    """How many orbits the reachable states form, counted without any reduction."""
    reduction = reduction_of(kernel, REDUCED)
    assert reduction is not None
    search = Search(Model(kernel), PLAIN)
    search.run()
    left, count = set(search.store.states), 0
    while left:
        count += 1
        left -= {state for _, state in reduction.orbit(next(iter(left)))}
    return count


def answers(report: Report) -> dict[str, tuple[Outcome, int | None]]:
    """Of each property the outcome and the length of its run."""
    return {p.name: (p.outcome, None if p.trace is None else len(p.trace)) for p in report.properties}


def is_run(kernel: Kernel, trace: Trace) -> bool:
    """Whether a trace is a run of the system."""
    model = Model(kernel)
    states = [step.state for step in trace.steps]
    if not any(isinstance(each, Successor) and each.state == states[0] for each in model.init.outcomes()):
        return False
    for before, step in zip(states, trace.steps[1:], strict=False):
        instance = (step.action, tuple(value for _, value in step.arguments), step.picks, step.state)
        if instance not in {
            (action.node.name, arguments, each.picks, each.state)
            for action, arguments, each in outcomes(model, before)
            if isinstance(each, Successor)
        }:
            return False
    return True


def agree(kernel: Kernel, folder: Path) -> bool:
    """Assert that both engines, reduced, say what the unreduced reference says; whether there was a whole search to compare."""
    with deep_recursion(kernel):
        plain = reference(kernel, PLAIN)
        reports = [reference(kernel, REDUCED)]
        with suppress(UnsupportedError):  # the reference engine alone is compared then
            reports.append(explicit(kernel, compile_kernel(kernel, REDUCED, folder), REDUCED))
        for report in reports:
            compare(kernel, plain, report)
    return plain.stopped is None


def compare(kernel: Kernel, plain: Report, reduced: Report) -> None:
    known, found = answers(plain), answers(reduced)
    for result in reduced.properties:
        assert result.trace is None or is_run(kernel, result.trace)
    if known["defined"][0] is Outcome.VIOLATED:
        assert found["defined"][0] in {Outcome.VIOLATED, Outcome.UNKNOWN}
        return
    if "limit of" in str(plain.stopped) or found["defined"][0] is Outcome.UNKNOWN:
        return
    assert found == known
    assert reduced.statistics.depth == plain.statistics.depth
    assert reduced.statistics.distinct == orbits(kernel)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("objects")


@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True)
@given(st.integers(0, 2**40))
def test_a_reduced_search_gives_the_answers_of_the_whole_one(folder: Path, seed: int) -> None:
    agree(random_kernel(Random(seed), symmetric=True), folder)


@pytest.mark.slow
@settings(max_examples=125, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True)
@given(st.integers(0, 2**40), st.integers(2, 4))
def test_many_reduced_searches_give_the_answers_of_the_whole_ones(folder: Path, seed: int, depth: int) -> None:
    agree(random_kernel(Random(seed), depth, symmetric=True), folder)


@rounds(3, 8)
def test_many_random_symmetric_kernels_are_searched_whole(folder: Path, rounds: int) -> None:
    whole = [agree(random_kernel(Random(seed), symmetric=True), folder) for seed in range(rounds)]
    assert sum(whole) >= (3 if rounds == 8 else 1)


@pytest.mark.parametrize("seed", everyday(range(6), 2))
def test_all_rows_of_an_orbit_have_one_representative_among_them(folder: Path, seed: int) -> None:
    kernel = random_kernel(Random(seed), 2, symmetric=True)
    reduction = reduction_of(kernel, REDUCED)
    assert reduction is not None
    compiled = compile_kernel(kernel, REDUCED, folder)
    search = Search(Model(kernel), PLAIN)
    search.run()
    for state in search.store.states[:40]:
        rows = compiled.layout.pack_all(other for _, other in reduction.orbit(state))
        found = {row.tobytes() for row in compiled.machine.canonical(rows)}
        assert len(found) == 1
        assert found <= {row.tobytes() for row in rows}
