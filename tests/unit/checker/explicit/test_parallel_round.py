"""However a level is cut into blocks, and by however many threads it is searched, the answer is the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.stages import slow
from tests.unit.checker.explicit.searched import answer

from assay.checker.engines.native_engine import check
from assay.checker.engines.reference_engine import check as reference
from assay.checker.explicit.expansion.compiled_interface import Compiled
from assay.checker.explicit.store.levels import WHOLE
from assay.checker.options import SearchOptions
from assay.grammar.kernel import Kernel

Model = tuple[Kernel, Compiled]


@pytest.mark.parametrize("name", ["grid", slow("kip320")])
@pytest.mark.parametrize("threads", [slow(1), slow(2), 4, slow(7)])
def test_threads_change_no_answer(
    name: str, threads: int, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    model: Model = request.getfixturevalue(name)
    monkeypatch.setattr("assay.checker.explicit.expansion.parallel_round.AMONG_THREADS", 0)
    for keep_going in (False, True):
        one = check(*model, SearchOptions(threads=1, keep_going=keep_going))
        many = check(*model, SearchOptions(threads=threads, keep_going=keep_going))
        assert answer(one) == answer(many)


@pytest.mark.slow
@pytest.mark.parametrize("room", [1, 3, 16, 100])
def test_lanes_that_overflow_change_no_answer(grid: Model, room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = answer(check(*grid, SearchOptions(threads=1)))
    monkeypatch.setattr("assay.checker.explicit.expansion.parallel_round.ROOM", room)
    monkeypatch.setattr("assay.checker.explicit.expansion.parallel_round.AMONG_THREADS", 0)
    for threads in (1, 2):
        assert answer(check(*grid, SearchOptions(threads=threads))) == expected


def test_the_counterexample_is_that_of_the_reference_engine(grid: Model) -> None:
    ours, theirs = check(*grid), reference(grid[0])
    assert ours.properties == theirs.properties
    assert (ours.bounds, ours.coverage) == (theirs.bounds, theirs.coverage)
    assert ours.statistics.distinct == theirs.statistics.distinct


def test_an_interrupted_search_leaves_no_files(grid: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("assay.checker.explicit.store.levels.Levels.__init__.__defaults__", (4096, None, WHOLE))

    def again() -> bool:
        if list(tmp_path.iterdir()):
            raise KeyboardInterrupt
        return False

    report = check(*grid, SearchOptions(interrupted=again))
    assert report.interrupted
    assert not list(tmp_path.iterdir())
