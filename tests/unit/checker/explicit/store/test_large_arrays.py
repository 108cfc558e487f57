"""Arrays of the graph beyond the memory budget lie in files, and the answer stays the same."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from assay.checker.engines.engine_selection import compile_kernel, with_behaviours
from assay.checker.explicit.bfs import BlockSearch
from assay.checker.explicit.liveness import state_graph
from assay.checker.explicit.liveness.state_graph import decisions_of
from assay.checker.explicit.store.large_arrays import Column, Room
from assay.checker.interpreter.compiled_model import Model
from assay.checker.liveness.confirm import Counterexample, Decisions, NotViolated
from assay.checker.options import SearchOptions
from assay.grammar.load import load_text

RING = """\
module ring
state:
    at: 0 .. 99 = 0
    round: 0 .. 9 = 0
    seen: bool = false
action step fair:
    at := if at == 99 then 0 else at + 1
    round := if at == 99 and round < 9 then round + 1 else round
action look strong fair:
    when at == 50 and round == 9
    seen := true
property seen_at_last: eventually always seen
property rests: eventually always at == 7
"""


def decided(folder: Path) -> Decisions:
    kernel, options = load_text(RING).kernel, SearchOptions(check_deadlock=False, threads=1)
    code = with_behaviours(kernel, compile_kernel(kernel, options, folder), options, folder)
    assert code.behaviours is not None
    with closing(BlockSearch(Model(kernel), options, code)) as search:
        search.run()
        return decisions_of(search, code.behaviours, {})


@pytest.mark.slow
def test_a_graph_beyond_the_budget_lies_in_files_and_is_decided_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    roomy = decided(tmp_path)
    rooms: list[Room] = []

    class Narrow(Room):
        def __init__(self, _budget: int) -> None:
            super().__init__(2_000)
            rooms.append(self)

    monkeypatch.setattr(state_graph, "Room", Narrow)
    narrow = decided(tmp_path)
    assert narrow == roomy
    assert isinstance(narrow["seen_at_last"], NotViolated)
    assert isinstance(narrow["rests"], Counterexample)
    assert rooms[0].spilled > 1_100 * 20


def test_files_of_a_room_go_with_it() -> None:
    room = Room(100)
    column = Column(room, np.uint32)
    column.append(np.arange(100_000, dtype=np.uint32))
    folder = room._folder
    assert folder is not None
    assert list(folder.iterdir())
    assert column.numbers.tolist() == list(range(100_000))
    del room, column
    assert not folder.exists()


def test_a_column_widens_and_takes_no_more_than_it_holds() -> None:
    column = Column(Room(1 << 20), np.uint16, np.uint32)
    column.append(np.arange(9_000))
    assert column.numbers.dtype == np.uint16
    assert column.numbers.nbytes == 18_000
    column.append(np.array([70_000]))
    assert column.numbers.tolist() == [*range(9_000), 70_000]
    assert column.numbers.dtype == np.uint32


def test_room_is_given_again_that_was_taken_back_and_files_are_no_room() -> None:
    room = Room(100)
    first, spilled = room.empty(80, np.uint8), room.empty(80, np.uint8)
    room.take_back(spilled)
    assert room.spilled == 80
    room.empty(80, np.uint8)
    assert room.spilled == 160
    room.take_back(first)
    room.empty(80, np.uint8)
    assert room.spilled == 160
