"""A search whose visited states do not fit in memory gives the answer of one in memory.

Where its files are damaged, or the disk is full, the answer says how far it came.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.little_memory import make_memory_little

from assay.checker.engines.engine_selection import check as check_by_name
from assay.checker.engines.engine_selection import compile_kernel
from assay.checker.engines.native_engine import check
from assay.checker.explicit.expansion.compiled_interface import Compiled
from assay.checker.explicit.expansion.visited_on_disk import VisitedOnDisk
from assay.checker.explicit.store import sorted_run
from assay.checker.options import SearchOptions
from assay.checker.report import DiskEffort, ExitCode, Outcome, Report
from assay.grammar.kernel import Kernel
from assay.grammar.load import load_text

from .conftest import prepared
from .searched import GRID, answer

Model = tuple[Kernel, Compiled]


@pytest.fixture
def little(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Little memory; the folder in which temporary files are."""
    make_memory_little(monkeypatch, 4000)
    files = tmp_path / "files"
    files.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(files))
    yield files
    assert not list(files.iterdir())


@pytest.fixture(scope="session")
def expected(grid: Model) -> tuple[object, ...]:
    return answer(check(*grid, SearchOptions()))


def on_disk(report: Report) -> DiskEffort:
    effort = report.statistics.effort
    assert effort is not None
    assert effort.visited is not None
    return effort.visited


@pytest.mark.parametrize(
    ("fingerprints", "threads"), [("auto", 3), ("exact", 1), ("64", 3), ("96", 1), ("128", 3), ("96", 2)]
)
def test_the_answer_is_that_of_a_search_in_memory(
    grid: Model, expected: tuple[object, ...], little: Path, monkeypatch: pytest.MonkeyPatch, threads: int, fingerprints: Any
) -> None:  # fmt: skip
    monkeypatch.setattr("assay.checker.explicit.expansion.parallel_round.AMONG_THREADS", 64)
    report = check(*grid, SearchOptions(threads=threads, fingerprints=fingerprints))
    sizes = replace(report.statistics, collision=0)
    assert answer(replace(report, statistics=sizes)) == expected
    went = on_disk(report)
    assert went.runs >= 4
    assert went.merges >= went.levels >= 10
    slot = {"auto": 16, "exact": 16, "64": 8, "96": 12, "128": 16}[fingerprints]
    assert slot * (sizes.distinct - 5000) < went.bytes < slot * sizes.distinct + 8 * sizes.distinct // 16


def test_a_violation_is_found_in_its_level_with_a_shortest_run(little: Path, tmp_path: Path) -> None:
    model = prepared(load_text(GRID.replace("x + y + z < 36", "x + y + z < 30")).kernel, tmp_path / "objects")
    report = check(*model, SearchOptions(keep_going=True, violations=3))
    assert on_disk(report).runs > 2
    found = {each.name: each for each in report.properties}["inside"]
    assert found.outcome is Outcome.VIOLATED
    assert found.trace is not None
    assert len(found.trace) == 31


def test_temporal_properties_are_decided_on_the_states_of_levels(little: Path, tmp_path: Path) -> None:
    text = GRID.split("invariant inside", maxsplit=1)[0].replace("action turn:", "action turn fair:")
    kernel = load_text(f"{text}property third: eventually phase == 3\nproperty up: eventually y > 0\n").kernel
    report = check_by_name(kernel, SearchOptions(), engine="native", cache=tmp_path / "objects").report
    assert on_disk(report).runs > 2
    found = {each.name: each.outcome for each in report.properties if each.name in {"third", "up"}}
    assert found == {"third": Outcome.UP_TO_BOUND, "up": Outcome.VIOLATED}


# ------------------------------------------------------------------------------------------- checkpoints and limits


def test_limits_end_a_search_on_disk_and_a_later_one_goes_on(
    grid: Model, expected: tuple[object, ...], little: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "kept"
    looks = iter(range(10_000))
    first = check(*grid, SearchOptions(checkpoint=folder, threads=1, interrupted=lambda: next(looks) > 70))
    assert first.interrupted
    assert on_disk(first).runs > 0
    assert sorted(path.name for path in folder.iterdir() if path.is_dir()) == []
    second = check(*grid, SearchOptions(checkpoint=folder, resume=True))
    assert answer(second) == expected
    assert on_disk(second).runs > 0


@pytest.mark.parametrize("look", range(5, 105, 20))
def test_any_moment_is_good_for_ending(
    grid: Model, expected: tuple[object, ...], little: Path, tmp_path: Path, look: int
) -> None:
    folder = tmp_path / "kept"
    looks = iter(range(100_000))
    check(*grid, SearchOptions(checkpoint=folder, threads=1, interrupted=lambda: next(looks) > look))
    assert answer(check(*grid, SearchOptions(checkpoint=folder, resume=True))) == expected


def test_checkpoints_are_written_while_states_wait(
    grid: Model, expected: tuple[object, ...], little: Path, tmp_path: Path
) -> None:
    options = SearchOptions(checkpoint=tmp_path / "kept", checkpoint_every=0.0, threads=2)
    assert answer(check(*grid, options)) == expected


# ------------------------------------------------------------------------------------------------ disks that fail


def spoiled(monkeypatch: pytest.MonkeyPatch, spoil: Callable[[Path], None], after: int) -> None:
    """Spoil the first run before a merge."""
    merge = VisitedOnDisk.old
    merges = iter(range(1000))

    def old(self: VisitedOnDisk, level: int) -> Any:
        if next(merges) == after:
            spoil(self.folder / "run-000001")
        return merge(self, level)

    monkeypatch.setattr(VisitedOnDisk, "old", old)


def change_a_byte(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:1000])


@pytest.mark.parametrize(("spoil", "why"), [(change_a_byte, "is not what was written"), (cut, "is cut off")])
def test_a_damaged_run_ends_the_search_and_nothing_is_decided(
    grid: Model, expected: tuple[object, ...], little: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    spoil: Callable[[Path], None], why: str,
) -> None:  # fmt: skip
    with monkeypatch.context() as patch:
        spoiled(patch, spoil, after=4)
        report = check(*grid, SearchOptions(checkpoint=tmp_path / "kept"))
    assert report.stopped is not None
    assert "the visited states on disk cannot be read in level" in report.stopped
    assert why in report.stopped
    assert report.exit_code is ExitCode.INCONCLUSIVE
    assert 1000 < report.statistics.distinct < report.statistics.generated
    assert answer(check(*grid, SearchOptions(checkpoint=tmp_path / "kept", resume=True))) == expected


@pytest.mark.parametrize("room", [0, 30_000, 100_000])
def test_a_full_disk_ends_the_search_and_a_later_one_goes_on(
    grid: Model, expected: tuple[object, ...], little: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    append = sorted_run.SortedRun.append
    written = 0

    def full(self: sorted_run.SortedRun, keys: sorted_run.SortedKeys) -> None:
        nonlocal written
        written += len(keys.marks) * 24
        if written > room:
            raise OSError(28, "No space left on device")
        append(self, keys)

    with monkeypatch.context() as patch:
        patch.setattr(sorted_run.SortedRun, "append", full)
        report = check(*grid, SearchOptions(checkpoint=tmp_path / "kept"))
    assert report.stopped is not None
    assert "No space left" in report.stopped
    assert report.properties[0].outcome is Outcome.UNKNOWN
    assert report.statistics.distinct > 1000
    assert answer(check(*grid, SearchOptions(checkpoint=tmp_path / "kept", resume=True))) == expected


def test_runs_lie_in_the_folder_of_the_checkpoint_and_are_gone_at_the_end(grid: Model, little: Path, tmp_path: Path) -> None:  # fmt: skip
    folder, seen = tmp_path / "kept", set[str]()
    (folder / "visited").mkdir(parents=True)
    (folder / "visited" / "run-000001").write_bytes(b"left by a search that was killed")
    options = SearchOptions(
        checkpoint=folder, progress=lambda _: seen.update(path.name for path in folder.glob("visited/*"))
    )
    on_disk(check(*grid, options))
    assert "run-000002" in seen
    assert not (folder / "visited").exists()


@pytest.mark.parametrize("more", [{"order": "dfs"}, {"reduce": True}])
def test_a_search_that_must_know_at_once_what_is_new_ends_with_its_memory(
    little: Path, tmp_path: Path, more: dict[str, Any]
) -> None:
    kernel = load_text(GRID).kernel
    options = SearchOptions(**more)
    report = check(kernel, compile_kernel(kernel, options, tmp_path / "objects"), options)
    assert report.stopped is not None
    assert "the memory budget" in report.stopped
    assert "without `--reduce`, by one process, goes on on disk" in report.stopped
    assert report.exit_code is ExitCode.INCONCLUSIVE
