"""`assay check --watch` checks again what a save has left open, and says what is different."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.api.answers import CheckAnswer, check
from assay.api.spec import Spec, load
from assay.checker.options import SearchOptions
from assay.cli.specs.watch import WatchedCheck, watch

SPEC = """\
module m
state:
    x: 0 .. 3 = 0
action up:
    when low: x < 3
    x := x + 1
terminal full: x == 3
invariant small: x <= 3
invariant low: x < 9
reachable top: x == 3
"""


@pytest.fixture
def watched(tmp_path: Path) -> Any:
    """A check that is asked after each save; gives the lines, and what was searched."""
    path = tmp_path / "m.assay"
    searched: list[frozenset[str] | None] = []

    def search(spec: Spec, names: frozenset[str] | None) -> CheckAnswer:
        searched.append(names)
        return check(spec, engine="reference", options=SearchOptions(properties=names))

    own = WatchedCheck(lambda: load(path), search)

    def save(text: str) -> tuple[list[str], frozenset[str] | str | None]:
        path.write_text(text)
        before = len(searched)
        lines = [line.text for line in own.check()]
        return lines, searched[-1] if len(searched) > before else "nothing"

    return save, own


def test_at_first_the_whole_answer_is_given(watched: Any) -> None:
    save, own = watched
    lines, names = save(SPEC)
    assert lines[0] == "holds"
    assert names is None
    assert own.exit_code == 0


def test_where_only_a_property_changed_only_it_is_checked(watched: Any) -> None:
    save, own = watched
    save(SPEC)
    lines, names = save(SPEC.replace("x < 9", "x < 2"))
    assert names == {"low"}
    assert "  low: holds -> violated" in lines
    assert "  4 as before, 4 of them not checked again" in lines
    assert own.exit_code == 1
    lines, names = save(SPEC)
    assert names == {"low"}
    assert "  low: violated -> holds" in lines
    assert own.exit_code == 0


def test_where_nothing_but_words_changed_nothing_is_checked(watched: Any) -> None:
    save, own = watched
    save(SPEC)
    lines, names = save(SPEC + "# a comment\n")
    assert (lines, names) == (["nothing that the answer depends on has changed"], "nothing")
    assert own.exit_code == 0


def test_where_the_model_changed_everything_is_checked(watched: Any) -> None:
    save, own = watched
    save(SPEC)
    lines, names = save(SPEC.replace("x < 3\n", "x < 2\n").replace("terminal full: x == 3", "terminal full: x >= 2"))
    assert names is None
    assert "  top: holds -> violated" in lines
    assert own.exit_code == 1


def test_what_a_violation_left_open_is_checked_again(watched: Any) -> None:
    save, own = watched
    lines, _ = save(SPEC.replace("x <= 3", "x <= 1"))
    assert lines[0].startswith("VIOLATED")
    lines, names = save(SPEC)
    assert names is None or {"small", "low", "top"} <= names
    assert "  small: violated -> holds" in lines
    assert own.exit_code == 0


def test_properties_come_and_go(watched: Any) -> None:
    save, _ = watched
    save(SPEC)
    lines, names = save(SPEC.replace("invariant low: x < 9\n", "invariant odd: x != 2\n"))
    assert names == {"odd"}
    assert "  odd: violated (new)" in lines
    assert "  low: no longer there" in lines


def test_a_violated_property_that_is_gone_is_no_part_of_the_answer(tmp_path: Path) -> None:
    path = tmp_path / "m.assay"
    options = SearchOptions(keep_going=True)
    own = WatchedCheck(
        lambda: load(path),
        lambda spec, names: check(spec, engine="reference", options=replace(options, properties=names)),
    )
    path.write_text(SPEC.replace("x < 9", "x < 2"))
    own.check()
    assert own.exit_code == 1
    path.write_text(SPEC.replace("invariant low: x < 9\n", ""))
    lines = [line.text for line in own.check()]
    assert "  low: no longer there" in lines
    assert own.exit_code == 0


def test_after_a_mistake_the_exit_code_is_again_that_of_the_answer(watched: Any) -> None:
    save, own = watched
    save(SPEC)
    own.exit_code = 2  # as `watch` leaves it after a mistake
    assert save(SPEC)[0] == ["nothing that the answer depends on has changed"]
    assert own.exit_code == 0


def test_a_module_with_a_mistake_is_watched_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "part.assay").write_text("module part\nstate:\n    y: bool =\n")
    path = tmp_path / "m.assay"
    path.write_text(SPEC.replace("module m", "module m\nuse part"))
    watched: list[Any] = []

    def ended(checked: Any, files: Any) -> None:
        watched.extend(files)
        raise KeyboardInterrupt

    monkeypatch.setattr("assay.cli.specs.watch._await_change", ended)
    assert watch(WatchedCheck(lambda: load(path), lambda *_: pytest.fail("there is nothing to search")), str(path)) == 2
    assert [Path(each).name for each in watched] == ["m.assay", "part.assay"]


def test_what_writes_one_answer_is_refused(assay: Any) -> None:
    for option in ("--json", "--html=x.html", "--checkpoint=dir"):
        ran = assay("check", "counter.assay", "--watch", option)
        assert ran.code == 2
        assert "--watch goes with neither" in ran.err


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="ends it by a signal")
def test_the_command_goes_on_after_a_mistake_and_ends_with_ctrl_c(tmp_path: Path) -> None:
    path = tmp_path / "m.assay"
    path.write_text(SPEC)
    command = [sys.executable, "-u", "-m", "assay", "check", str(path), "--watch", "--engine", "reference"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None

        def until(text: str) -> None:
            assert process.stdout is not None
            while text not in (line := process.stdout.readline()):
                assert line, f"it ended before it said: {text}"

        until("watching")
        path.write_text(SPEC.replace("x < 9", "y < 9"))
        until("unknown name `y`")
        until("watching")
        path.write_text(SPEC.replace("x < 9", "x < 1"))
        until("low: holds -> violated")
        until("watching")
        process.send_signal(signal.SIGINT)
        assert process.wait() == 1
