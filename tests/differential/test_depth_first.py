"""Depth-first search sees the states, takes the steps and finds the violations of breadth-first search: about random kernels, in both engines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.checker.engines.engine_selection import check
from assay.checker.interpreter.expressions.recursion_limit import deep_recursion
from assay.checker.options import SearchOptions
from assay.checker.report import Report
from assay.grammar.kernel import Kernel

from .random_kernel import random_kernel
from .test_symmetry import is_run

WHOLE = SearchOptions(max_states=400, keep_going=True)


@pytest.fixture(autouse=True, scope="module")
def _few_at_once() -> Iterator[None]:
    """Frames are left before they are at their end, and lanes overflow."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("assay.checker.explicit.dfs.AT_ONCE", 3)
        patch.setattr("assay.checker.explicit.expansion.parallel_round.ROOM", 64)
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("objects")


def essence(report: Report) -> dict[str, object]:
    """What does not depend on the order in which states are found."""
    return {
        "sizes": (report.statistics.distinct, report.statistics.generated),
        "results": [(p.name, p.outcome) for p in report.properties],
        "bounds": dict(report.bounds),
        "taken": [(each.action, each.taken) for each in report.coverage.actions],
        "guards": report.coverage.guards,
    }


def agree(kernel: Kernel, folder: Path, *, symmetry: bool = False) -> bool:
    """Whether the search comes to its end. Then both orders agree. Every run that is shown is a run of the kernel, and
    none is shorter than a shortest.
    """
    options = replace(WHOLE, symmetry=symmetry)
    broad = check(kernel, options, engine="reference").report
    ended = broad.stopped is None
    for engine in ("reference", "auto"):
        deep = check(kernel, replace(options, order="dfs"), None, engine, folder).report
        assert (deep.stopped is None) == ended
        if ended:
            assert essence(deep) == essence(broad)
            assert deep.statistics.depth >= broad.statistics.depth
        for found, shortest in zip(deep.properties, broad.properties, strict=True):
            assert found.trace is None or is_run(kernel, found.trace)
            if ended and found.trace is not None and shortest.trace is not None and found.name != "defined":
                assert len(found.trace) >= len(shortest.trace)
    return ended


@settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True)
@given(st.integers(0, 2**40))
def test_both_orders_find_the_same(folder: Path, seed: int) -> None:
    kernel = random_kernel(Random(seed))
    with deep_recursion(kernel):
        agree(kernel, folder)


@pytest.mark.slow
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True)
@given(st.integers(0, 2**40), st.integers(2, 4))
def test_both_orders_find_the_same_in_many(folder: Path, seed: int, depth: int) -> None:
    kernel = random_kernel(Random(seed), depth)
    with deep_recursion(kernel):
        agree(kernel, folder)


@pytest.mark.slow
def test_many_of_these_searches_come_to_their_end(folder: Path) -> None:
    assert sum(agree(random_kernel(Random(seed)), folder) for seed in range(8)) >= 4
