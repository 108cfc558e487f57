"""Sixty-four rows expanded at once give the same as one after the other, for random kernels and for models of Kafka."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.stages import slow

from assay.checker.engines.engine_selection import compile_kernel
from assay.checker.explicit.expansion.compiled_interface import Compiled
from assay.checker.explicit.expansion.thread_buffer import Arena, Block, ThreadBuffer
from assay.checker.explicit.store.hash_table import StateKeys
from assay.checker.interpreter.actions.outcome import Successor
from assay.checker.interpreter.compiled_model import Model
from assay.checker.interpreter.expressions.recursion_limit import deep_recursion
from assay.checker.layout.call_frame import NEVER, ContextSlot
from assay.checker.layout.row import Rows, row_layout
from assay.checker.lowering.llvm.unsupported import UnsupportedError
from assay.checker.native import bitsliced_prefilter
from assay.checker.options import SearchOptions
from assay.cli.settings import load
from assay.grammar.kernel import Kernel

from .random_kernel import random_kernel

Expansion = dict[str, object]
TILE = 64
ENDS = (ContextSlot.STUCK, ContextSlot.DEAD, ContextSlot.TERMINAL)


def lane_of(compiled: Compiled) -> ThreadBuffer:
    arena = Arena(1, compiled.layout.words, StateKeys.ROWS, 1 << 16, tells_arguments=bool(compiled.refinements))
    return ThreadBuffer(0, arena, compiled, np.zeros(max(1, len(compiled.guards)), np.uint8))


def expanded(lane: ThreadBuffer, rows: Rows, size: int) -> Expansion:
    """All that an expansion reports of rows; ``size`` rows are expanded together."""
    successors: list[tuple[int, int, tuple[int, ...]]] = []
    ends = dict.fromkeys(ENDS, NEVER)
    steps, hits, decisive = np.full_like(lane.found_steps, NEVER), np.zeros_like(lane.hits), lane.known.copy()
    place = 0
    while place < len(rows):
        lane.expand(Block(place, np.ascontiguousarray(rows[place : place + size])))
        assert lane.done
        assert not lane.overflow
        found = lane.found_steps.copy()
        found[found != NEVER] += np.uint64(len(successors))
        steps, hits, decisive = np.minimum(steps, found), hits + lane.hits, decisive | lane.decisive
        for end in ENDS:
            if int(lane.context[end]) != NEVER:
                ends[end] = min(ends[end], place + int(lane.context[end]))
        arena, n = lane.arena, lane.count
        columns = (arena.parents[0, :n].tolist(), arena.actions[0, :n].tolist(), arena.rows[0, :n].tolist())
        successors += [(place + parent, action, tuple(row)) for parent, action, row in zip(*columns, strict=True)]
        place += lane.done
    return {
        "successors": successors, "ends": ends, "steps": steps.tolist(), "hits": hits.tolist(), "decisive": decisive.tolist()
    }  # fmt: skip


def inspected(lane: ThreadBuffer, rows: Rows, size: int) -> list[int]:
    """The first row that decides each property; ``size`` rows are asked together."""
    lane.found_states[:] = NEVER
    for place in range(0, len(rows), size):
        lane.machine.inspect(lane.context, np.ascontiguousarray(rows[place : place + size]), place)
    found: list[int] = lane.found_states.tolist()
    return found


def reached(lane: ThreadBuffer, start: Rows, most: int) -> Rows:
    """Some states that can be reached, in the order of a search."""
    known = dict.fromkeys(map(tuple, start.tolist()))
    place = 0
    while place < len(known) < most:
        row = next(islice(known, place, None))
        lane.expand(Block(0, np.array([row], np.uint64)))
        known.update(dict.fromkeys(map(tuple, lane.arena.rows[0, : lane.count].tolist())))
        place += 1
    return np.array(list(known), np.uint64).reshape(len(known), -1)


def compare(kernel: Kernel, folder: Path, most: int) -> int:
    """Assert that it makes no difference how many rows are expanded together, with marked guards or without.

    Returns how many whole tiles there were.
    """
    with deep_recursion(kernel):
        compiled = compile_kernel(kernel, SearchOptions(threads=1), folder)
    outcomes = islice(Model(kernel).init.outcomes(), most)
    start = [compiled.layout.pack(each.state) for each in outcomes if isinstance(each, Successor)]
    if not start:
        return 0
    lane = lane_of(compiled)
    rows = reached(lane, np.array(start, np.uint64), most)
    rows = np.ascontiguousarray(np.resize(rows, (max(2 * TILE + 5, len(rows)), rows.shape[1])))
    for _ in range(2):
        one_by_one = expanded(lane, rows, 1)
        assert expanded(lane, rows, len(rows)) == one_by_one
        assert inspected(lane, rows, len(rows)) == inspected(lane, rows, 1)
        lane.known[:] = np.array(one_by_one["decisive"], np.uint8)
    return len(rows) // TILE


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("objects")


@pytest.mark.slow
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True)
@given(st.integers(0, 2**40), st.integers(2, 4))
def test_random_kernels(folder: Path, seed: int, depth: int) -> None:
    try:
        compare(random_kernel(Random(seed), depth), folder, 200)
    except UnsupportedError:
        return


@pytest.mark.slow
@pytest.mark.parametrize("most", [30, slow(100), slow(300)])
def test_a_prefilter_of_few_gates_lets_the_rest_through(
    folder: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(bitsliced_prefilter, "MOST_GATES", most)
    kernel = load("kafka/membership", None, {}).kernel
    found = bitsliced_prefilter.PrefilterWriter(kernel, row_layout(kernel.variables), frozenset()).sieve(
        kernel.properties[:1]
    )
    assert found.decided is None
    assert 0 < sum(each is None for each in found.actions) <= len(kernel.next)
    assert compare(kernel, folder, 500)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spec", "model"),
    [("kafka/replication/kip320", "r3l2m2e2"), ("kafka/cluster", None), ("kafka/kraft/quorum", None), ("kafka/membership", None)],
)  # fmt: skip
def test_models_of_kafka(folder: Path, spec: str, model: str | None) -> None:
    assert compare(load(spec, model, {}).kernel, folder, 3000) > 3000 // TILE - 2
