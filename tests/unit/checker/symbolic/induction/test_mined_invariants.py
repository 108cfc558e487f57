"""Mined candidates: what is kept is true of every reachable state, and helps IC3."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.checker.interpreter.compiled_model import Model
from assay.checker.options import SearchOptions
from assay.checker.reference.bfs import Search
from assay.checker.symbolic.encode.transition_system import System, encode_kernel
from assay.checker.symbolic.encode.verdict import Safe
from assay.checker.symbolic.induction.ic3 import Ic3
from assay.checker.symbolic.induction.mined_invariants import mined_cubes, sampled
from assay.checker.symbolic.sat.incremental import OutOfBudgetError
from assay.grammar.load import load_spec

SPECS = Path(__file__).parents[5] / "spec"


def searched(name: str) -> tuple[System, Search]:
    """The gates of a spec, and all its states."""
    kernel = load_spec(SPECS / f"{name}.assay").kernel
    search = Search(Model(kernel), SearchOptions(keep_going=True))
    search.run()
    assert search.stopped is None
    return encode_kernel(kernel), search


@pytest.mark.parametrize("name", ["classics/two_phase", "kafka/claim"])
def test_no_reachable_state_is_in_a_mined_cube(name: str) -> None:
    system, search = searched(name)
    rows = [system.row(state) for state in search.store.states]
    cubes = mined_cubes(system, rows[: search.initial])
    assert cubes
    assert not any(all(row[abs(p) - 1] == (p > 0) for p in cube) for row in rows for cube in cubes)


def test_walks_visit_reachable_states_only_and_most_of_them() -> None:
    system, search = searched("classics/two_phase")
    rows = {system.row(state) for state in search.store.states}
    first = [system.row(state) for state in search.store.states[: search.initial]]
    visited = {tuple(int(bit) for bit in row) for block in sampled(system, first) for row in block}
    assert visited <= rows
    assert 2 * len(visited) > len(rows)


def test_what_is_mined_proves_by_itself_that_two_phase_commit_is_consistent() -> None:
    system, search = searched("classics/two_phase")
    first = [system.row(state) for state in search.store.states[: search.initial]]
    answer = Ic3(system, first, system.question("consistent").wanted, mined_cubes(system, first)).run()
    assert isinstance(answer, Safe)


def test_mining_ends_when_the_time_is_over() -> None:
    system, search = searched("kafka/claim")
    with pytest.raises(OutOfBudgetError):
        mined_cubes(system, [system.row(search.store.states[0])], lambda: True)
