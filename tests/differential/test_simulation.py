"""What random walks find, a search finds too: about random kernels, in both engines."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.checker.engines.reference_engine import check as search
from assay.checker.interpreter.expressions.recursion_limit import deep_recursion
from assay.checker.options import SearchOptions
from assay.checker.report import Outcome
from assay.checker.simulate.random_walks import Walks
from assay.checker.simulate.simulate import simulate
from assay.grammar.kernel import Kernel

from .random_kernel import random_kernel
from .test_symmetry import is_run

OPTIONS = SearchOptions(max_states=300, keep_going=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("objects")


def agree(kernel: Kernel, folder: Path, seed: int) -> None:
    whole = search(kernel, OPTIONS)
    known = {p.name: p.outcome for p in whole.properties}
    complete = whole.stopped is None
    for engine in ("auto", "reference"):
        found = simulate(kernel, Walks(24, 8, seed), OPTIONS, None, engine, folder).report
        for result in found.properties:
            assert result.trace is None or is_run(kernel, result.trace)
            if complete and result.outcome in {Outcome.VIOLATED, Outcome.HOLDS, Outcome.VACUOUS}:
                assert known[result.name] is result.outcome, result.name
        if complete:
            assert found.statistics.distinct <= whole.statistics.distinct
            possible = {each.action for each in whole.coverage.actions if each.taken}
            assert {each.action for each in found.coverage.actions if each.taken} <= possible


@pytest.mark.slow
@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True)
@given(st.integers(0, 2**40))
def test_walks_find_nothing_that_is_not_there(folder: Path, seed: int) -> None:
    kernel = random_kernel(Random(seed))
    with deep_recursion(kernel):
        agree(kernel, folder, seed)


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True)
@given(st.integers(0, 2**40), st.integers(2, 4))
def test_many_walks_find_nothing_that_is_not_there(folder: Path, seed: int, depth: int) -> None:
    kernel = random_kernel(Random(seed), depth)
    with deep_recursion(kernel):
        agree(kernel, folder, seed)
