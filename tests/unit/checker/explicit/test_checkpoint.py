"""A search that was killed at any moment goes on as if it had not been. A damaged or foreign checkpoint is refused,
with the reason.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from assay.checker.engines.engine_selection import compile_kernel
from assay.checker.engines.native_engine import check
from assay.checker.explicit.expansion.compiled_interface import Compiled
from assay.checker.explicit.store import levels
from assay.checker.explicit.store.level_file import CHUNK
from assay.checker.explicit.visited_set import VisitedSet
from assay.checker.options import SearchOptions
from assay.checker.report import Outcome, Report
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.kernel import Kernel
from assay.grammar.load import load_text

from .conftest import prepared
from .searched import GRID, answer


def go_on(model: tuple[Kernel, Compiled], folder: Path, **more: Any) -> Report:
    return check(*model, SearchOptions(checkpoint=folder, resume=True, **more))


# ------------------------------------------------------------------------------------------------- any moment


def snapshots(folder: Path, into: Path, every: int, monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Copies the folder, as a kill would leave it, before every so many calls that write; the function given counts the copies."""
    taken, calls = 0, 0

    def before(original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            nonlocal taken, calls
            calls += 1
            if calls % every == 0 and (folder / "checkpoint.json").exists():
                shutil.copytree(folder, into / str(taken))
                taken += 1
            return original(*arguments)

        return call

    monkeypatch.setattr(levels.Levels, "_put", before(levels.Levels._put))
    monkeypatch.setattr(os, "fsync", before(os.fsync))
    return lambda: taken


@pytest.mark.everyday(1)
@pytest.mark.parametrize("chunk", [64, CHUNK])
def test_any_moment_is_good_for_going_on(
    grid: tuple[Kernel, Compiled], tmp_path: Path, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (
        "store.levels",
        "expansion.parallel_round",
        "checkpoint",
        "store.level_file",
        "expansion.narrow_levels",
    ):
        monkeypatch.setattr(f"assay.checker.explicit.{module}.CHUNK", chunk)
    expected = answer(check(*grid, SearchOptions()))
    folder, copies = tmp_path / "kept", tmp_path / "copies"
    with monkeypatch.context() as patch:
        count = snapshots(folder, copies, 113 if chunk == 64 else 29, patch)
        first = check(*grid, SearchOptions(checkpoint=folder, checkpoint_every=0.0, threads=2))
    assert answer(first) == expected
    assert count() >= 5
    for number in range(count()):
        assert answer(go_on(grid, copies / str(number), threads=1 + number % 3)) == expected


@pytest.mark.slow
def test_limits_end_a_search_and_a_later_one_goes_on(kip320: tuple[Kernel, Compiled], tmp_path: Path) -> None:
    expected = check(*kip320, SearchOptions())
    stopped = check(*kip320, SearchOptions(checkpoint=tmp_path / "kept", max_depth=9))
    assert (stopped.checkpoint, stopped.statistics.depth) == (tmp_path / "kept", 9)
    again = go_on(kip320, tmp_path / "kept", max_depth=14)
    assert again.statistics.depth == 14
    rounds = iter(range(1000))
    interrupted = go_on(kip320, tmp_path / "kept", interrupted=lambda: next(rounds) > 6, threads=1)
    assert interrupted.interrupted
    assert answer(go_on(kip320, tmp_path / "kept")) == answer(expected)


@pytest.mark.parametrize("fingerprints", ["exact", "64", "96", "128"])
def test_every_kind_of_key_gives_the_same_counts_and_goes_on(
    grid: tuple[Kernel, Compiled], tmp_path: Path, fingerprints: Any
) -> None:
    plain = check(*grid, SearchOptions())
    chosen = SearchOptions(fingerprints=fingerprints, checkpoint=tmp_path / "kept")
    check(*grid, replace(chosen, max_depth=12))
    report = check(*grid, replace(chosen, resume=True))
    assert replace(report.statistics, seconds=0, collision=0) == replace(plain.statistics, seconds=0)
    assert report.properties == plain.properties
    assert (report.statistics.collision == 0) is (fingerprints == "exact")


def test_keys_change_as_states_become_many(
    grid: tuple[Kernel, Compiled], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = check(*grid, SearchOptions())
    monkeypatch.setattr("assay.checker.explicit.visited_set.EXACT_BYTES", 16_000)
    report = check(*grid, SearchOptions(checkpoint=tmp_path / "kept", max_depth=24))
    assert '"keys": "96"' in (tmp_path / "kept" / "checkpoint.json").read_text()
    report = go_on(grid, tmp_path / "kept")
    assert report.properties == plain.properties
    assert report.statistics.distinct == plain.statistics.distinct
    assert 0 < report.statistics.collision < 1e-20


def test_rows_that_grow_too_large_in_the_last_round_were_still_compared(
    grid: tuple[Kernel, Compiled], monkeypatch: pytest.MonkeyPatch
) -> None:
    distinct = check(*grid, SearchOptions()).statistics.distinct
    monkeypatch.setattr(VisitedSet, "_is_exact_enough", lambda _, states: states < distinct)
    assert check(*grid, SearchOptions()).statistics.collision == 0


def test_large_levels_go_to_files_which_are_gone_at_the_end(
    grid: tuple[Kernel, Compiled], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = check(*grid, SearchOptions())
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("assay.checker.explicit.store.levels.Levels.__init__.__defaults__", (4096, None, levels.WHOLE))
    seen: set[Path] = set()
    report = check(*grid, SearchOptions(progress=lambda _: seen.update(tmp_path.glob("assay-*/level-*"))))
    assert answer(report) == answer(plain)
    assert len(seen) == report.statistics.depth
    assert not list(tmp_path.iterdir())


# ---------------------------------------------------------------------------------------------------- refused


@pytest.fixture
def kept(grid: tuple[Kernel, Compiled], tmp_path: Path) -> Path:
    """A checkpoint in the midst of a search."""
    check(*grid, SearchOptions(checkpoint=tmp_path / "kept", max_depth=12))
    return tmp_path / "kept"


def refusal(model: tuple[Kernel, Compiled], folder: Path, **more: Any) -> str:
    with pytest.raises(SpecError) as caught:
        go_on(model, folder, **more)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "E822"
    return diagnostic.message


def flip(path: Path, at: int) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= 4
    path.write_bytes(content)


def test_a_changed_byte_anywhere_is_found(grid: tuple[Kernel, Compiled], kept: Path) -> None:
    files = sorted(path for path in kept.iterdir() if path.name != "lock")
    random = Random(7)
    for path in files:
        whole = path.read_bytes()
        for at in {0, len(whole) - 3, random.randrange(len(whole)), random.randrange(len(whole))}:
            flip(path, at)
            assert "is damaged" in refusal(grid, kept) or "version" in refusal(grid, kept)
            path.write_bytes(whole)
    assert answer(go_on(grid, kept)) == answer(check(*grid, SearchOptions()))


def test_a_file_cut_off_or_lost_is_named(grid: tuple[Kernel, Compiled], kept: Path) -> None:
    path = kept / "level-000007"
    os.truncate(path, path.stat().st_size - 8)
    assert "`level-000007`" in refusal(grid, kept)
    os.truncate(path, 40)
    assert "`level-000007`: it is cut off" in refusal(grid, kept)
    path.unlink()
    assert "`level-000007`: No such file" in refusal(grid, kept)


def test_a_file_of_another_level_is_refused(grid: tuple[Kernel, Compiled], kept: Path) -> None:
    shutil.copy(kept / "level-000006", kept / "level-000007")
    assert "`level-000007`: it is of another search" in refusal(grid, kept)


def test_the_checkpoint_of_another_spec_is_refused(kept: Path, tmp_path: Path) -> None:
    another = prepared(load_text(GRID.replace("module grid", "module other")).kernel, tmp_path)
    assert "is the checkpoint of another search" in refusal(another, kept)


def test_the_checkpoint_of_other_initial_states_is_refused(kept: Path, tmp_path: Path) -> None:
    another = prepared(load_text(GRID.replace("phase: 0 .. 3 = 0", "phase: 0 .. 3 = 1")).kernel, tmp_path)
    assert "it has other initial states" in refusal(another, kept)


@pytest.mark.parametrize(("saved", "wanted"), [(CHUNK, CHUNK + 1), (CHUNK + 1, CHUNK)])
def test_a_checkpoint_of_more_or_fewer_initial_states_is_refused(tmp_path: Path, saved: int, wanted: int) -> None:
    """Initial states are compared chunk by chunk, and the first chunks of these two are equal."""
    text = "module many\nstate:\n    a: 0 .. 99999 in 1 .. {}\n    b: 0 .. 1 = 0\naction up:\n    b := 1\n"
    first, second = (prepared(load_text(text.format(n)).kernel, tmp_path) for n in (saved, wanted))
    check(*first, SearchOptions(checkpoint=tmp_path / "kept", max_depth=1))
    assert "it has other initial states" in refusal(second, tmp_path / "kept")


def test_another_choice_of_properties_is_another_search(
    grid: tuple[Kernel, Compiled], kept: Path, tmp_path: Path
) -> None:
    options = SearchOptions(properties=frozenset({"corner"}))
    other = grid[0], compile_kernel(grid[0], options, tmp_path / "objects")
    assert "is the checkpoint of another search" in refusal(other, kept)


def test_another_choice_of_fingerprints_is_refused(grid: tuple[Kernel, Compiled], kept: Path) -> None:
    assert "`--fingerprints auto`" in refusal(grid, kept, fingerprints="128")


def test_a_folder_without_a_checkpoint_is_refused(grid: tuple[Kernel, Compiled], tmp_path: Path) -> None:
    assert "holds no checkpoint" in refusal(grid, tmp_path)


def test_a_checkpoint_is_not_overwritten(grid: tuple[Kernel, Compiled], kept: Path) -> None:
    with pytest.raises(SpecError, match="earlier search"):
        check(*grid, SearchOptions(checkpoint=kept))


def test_two_searches_do_not_share_a_folder(grid: tuple[Kernel, Compiled], kept: Path) -> None:
    inner: list[str] = []

    def once() -> bool:
        if not inner:
            inner.append(refusal(grid, kept))
        return False

    go_on(grid, kept, interrupted=once)
    assert inner == [f"`{kept}` is being used by another search"]


@pytest.mark.parametrize("threads", [1, 2])
def test_a_full_disk_ends_the_search_and_says_so(
    grid: tuple[Kernel, Compiled], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, threads: int
) -> None:
    original, written = levels.Levels._write, 0

    def write(self: levels.Levels, words: Any, level: int) -> None:
        nonlocal written
        written += words.nbytes
        if 60_000 < written < 90_000:  # later there is room again
            raise OSError(28, "No space left on device")
        original(self, words, level)

    with monkeypatch.context() as patch:
        patch.setattr(levels.Levels, "_write", write)
        report = check(*grid, SearchOptions(checkpoint=tmp_path / "kept", checkpoint_every=0.0, threads=threads))
    assert report.stopped is not None
    assert "No space left" in report.stopped
    assert report.properties[0].outcome is Outcome.UNKNOWN
    assert answer(go_on(grid, tmp_path / "kept")) == answer(check(*grid, SearchOptions()))


# ----------------------------------------------------------------------------------------------------- kill -9


def run_until_killed(arguments: list[str], manifest: Path, seconds: float | None) -> str:
    """Run a search in another process; kill it so long after its first checkpoint, and say what it answered if it was faster."""
    command = [sys.executable, "-m", "assay", "check", *arguments, "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        while seconds is not None and not manifest.exists() and child.poll() is None:
            pass
        try:
            out, _ = child.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGKILL)
            child.communicate()
            return ""
        return out


def answer_of(text: str) -> dict[str, Any]:
    """An answer without what speaks of time and memory."""
    found: dict[str, Any] = json.loads(text)
    return {key: value for key, value in found.items() if key not in {"seconds", "effort", "checkpoint"}}


def kill_again_and_again(arguments: list[str], folder: Path, kills: int, random: Random, most: float) -> None:
    expected = answer_of(run_until_killed(arguments, folder, None))
    manifest = folder / "checkpoint.json"
    begin = [*arguments, "--checkpoint-every", "0", "--checkpoint", str(folder)]
    resume = [*arguments, "--checkpoint-every", "0", "--resume", str(folder)]
    for number in range(kills):
        run_until_killed(resume if manifest.exists() else begin, manifest, random.uniform(0, most))
        assert manifest.exists(), number
    assert answer_of(run_until_killed(resume, manifest, None)) == expected


@pytest.mark.slow
def test_after_kill_9_the_answer_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    (tmp_path / "grid.assay").write_text(GRID)
    kill_again_and_again([str(tmp_path / "grid.assay")], tmp_path / "kept", 2, Random(), 0.6)


@pytest.mark.slow
def test_after_ten_kills_the_answer_is_the_same(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    spec = str(checkout / "spec" / "kafka" / "replication" / "kip320.assay")
    kill_again_and_again([spec, "--model", "r3l2m2e2"], tmp_path / "kept", 10, Random(), 2.5)
