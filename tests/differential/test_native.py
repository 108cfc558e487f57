"""The native engine says what the reference engine says: about random kernels of all types and statements."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.little_memory import make_memory_little
from tests.stages import rounds

from assay.checker.engines.engine_selection import compile_kernel
from assay.checker.engines.native_engine import check as explicit
from assay.checker.engines.reference_engine import check as reference
from assay.checker.interpreter.expressions.recursion_limit import deep_recursion
from assay.checker.lowering.llvm.unsupported import UnsupportedError
from assay.checker.options import Fingerprints, SearchOptions
from assay.checker.report import Report
from assay.grammar.kernel import Kernel

from .random_kernel import random_kernel


def essence(report: Report) -> dict[str, object]:
    """What two engines must agree on. Where several things are undefined in one level, either may be the one that is shown."""
    sizes = report.statistics
    results = [(p.name, p.outcome, p.reason if p.name != "defined" else None) for p in report.properties]
    lengths = [len(p.trace) for p in report.properties if p.trace and p.name != "defined"]
    return {
        "sizes": (sizes.distinct, sizes.generated, sizes.depth),
        "results": results,
        "lengths": lengths,
        "bounds": {label: hits for label, hits in report.bounds.items() if hits},
        "coverage": (report.coverage.actions, report.coverage.guards),
        "stopped": report.stopped,
    }


def agree(
    kernel: Kernel, folder: Path, *, keep_going: bool, threads: int = 1, fingerprints: Fingerprints = "auto"
) -> Report | None:
    """Assert that both engines say the same; their report, or None if the native one does not support the kernel."""
    options = SearchOptions(max_states=400, keep_going=keep_going, threads=threads, fingerprints=fingerprints)
    try:
        with deep_recursion(kernel):
            compiled = compile_kernel(kernel, options, folder)
    except UnsupportedError:
        return None
    report = explicit(kernel, compiled, options)
    assert essence(report) == essence(reference(kernel, options))
    return report


@pytest.fixture(autouse=True, scope="module")
def _share_everything() -> Iterator[None]:
    """Threads share even small rounds, lanes overflow, and of fifty states and more no whole rows are compared."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("assay.checker.explicit.expansion.parallel_round.AMONG_THREADS", 0)
        patch.setattr("assay.checker.explicit.expansion.parallel_round.ROOM", 64)
        patch.setattr("assay.checker.explicit.visited_set.EXACT_BYTES", 1_000)
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("objects")


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True)
@given(st.integers(0, 2**40), st.booleans())
def test_engines_agree_on_random_kernels(folder: Path, seed: int, keep_going: bool) -> None:
    kinds = get_args(Fingerprints)
    agree(
        random_kernel(Random(seed)),
        folder,
        keep_going=keep_going,
        threads=1 + seed % 3,
        fingerprints=kinds[seed % len(kinds)],
    )


@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True)
@given(st.integers(0, 2**40), st.booleans())
def test_engines_agree_on_random_kernels_whose_visited_states_are_on_disk(
    folder: Path, seed: int, keep_going: bool
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        make_memory_little(patch, 10)
        agree(random_kernel(Random(seed)), folder, keep_going=keep_going, threads=1 + seed % 3)


@pytest.mark.parametrize("fingerprints", ["96", "128"])
def test_small_levels_know_states_by_second_fingerprints(folder: Path, fingerprints: Fingerprints) -> None:
    """The slots of the table had the size of the level once: an initial state was counted again as its successor."""
    agreed = agree(random_kernel(Random(71583578583)), folder, keep_going=False, fingerprints=fingerprints)
    assert agreed is not None
    assert agreed.statistics.distinct == 2


@pytest.mark.slow
@pytest.mark.parametrize("_part", range(5))
@settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True)
@given(st.integers(0, 2**40), st.booleans(), st.integers(2, 4))
def test_engines_agree_on_many_random_kernels(
    folder: Path, _part: int, seed: int, keep_going: bool, depth: int
) -> None:
    agree(random_kernel(Random(seed), depth), folder, keep_going=keep_going, threads=1 + seed % 3)


@rounds(5, 30)
def test_most_random_kernels_are_supported(folder: Path, rounds: int) -> None:
    supported = [agree(random_kernel(Random(seed)), folder, keep_going=True) is not None for seed in range(rounds)]
    assert sum(supported) >= 4 * rounds // 5
