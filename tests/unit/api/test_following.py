"""A log that is followed: the answer while lines come, and at the end the one of `validate`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

import assay
from assay.api import following
from assay.api.following import FollowedAnswer, answers
from assay.api.log_answers import LogQuestion
from assay.api.tail import FollowedFile
from assay.cli.main import invoke

SPEC = """module shop
param Order: set = {o1, o2}
state:
    paid: map[Order, bool] = [o -> false]
    open: bool = false
action start:
    open := true
action pay(o: Order):
    when fresh: not paid[o]
    when opened: open
    paid[o] := true
trace log:
    from events
    slice Order by order
    on Started: start
    on Paid(order: Order): pay(order)
    order: file
"""


def line(event: str, time: int, **fields: object) -> bytes:
    return json.dumps({"event": event, "time": time, **fields}).encode() + b"\n"


STARTED, PAID, AGAIN = line("Started", 1), line("Paid", 2, order="a"), line("Paid", 3, order="a")


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "shop.assay"
    path.write_text(SPEC, encoding="utf-8")
    return path


LONGEST = 20.0
"""Seconds within which there is an answer; else a test would wait for ever."""


class Fed:
    """A source that has what a test gives it."""

    def __init__(self) -> None:
        self.given: list[bytes] = []
        self.ended = False
        self.remarks: list[str] = []
        self.asked = monotonic()

    def read(self, patience: float) -> bytes:
        if self.given:
            self.asked = monotonic()
            return self.given.pop(0)
        assert monotonic() - self.asked < LONGEST, "no answer to what was given"
        return b""

    def close(self) -> None:
        """Nothing is open."""


@pytest.fixture
def fed(monkeypatch: pytest.MonkeyPatch) -> Fed:
    source = Fed()
    monkeypatch.setattr(following, "_source", lambda _: source)
    return source


def followed(path: Path, spec: Path, over: Callable[[], bool] = lambda: False) -> Iterator[FollowedAnswer]:
    return answers(LogQuestion((str(path),), assay.load(spec)), over)


def test_there_is_an_answer_when_it_says_something_new(spec: Path, fed: Fed, tmp_path: Path) -> None:
    path, steps = tmp_path / "log.jsonl", []
    found = followed(path, spec)
    for new in (STARTED, PAID[:7], PAID[7:] + line("Paid", 2, order="b") + AGAIN):
        fed.given.append(new)
        if new != PAID[:7]:
            answer = next(found)
            steps.append((answer.lines, answer.verdict.value, [each.place.line for each in answer.mismatches]))
        path.write_bytes((path.read_bytes() if path.exists() else b"") + new)
    fed.ended = True
    (last,) = found
    assert steps == [(1, "consistent", []), (4, "inconsistent", [4])]
    assert last.final is not None
    assert last.mismatches == ()
    assert timeless(last.final.to_object()) == timeless(assay.validate(path, spec).to_object())


def timeless(answer: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in answer.items() if key not in {"seconds", "visited"}}


def test_a_last_line_without_its_end_counts_at_the_end_alone(spec: Path, fed: Fed, tmp_path: Path) -> None:
    over: list[bool] = []
    found = followed(tmp_path / "log.jsonl", spec, lambda: bool(over) and not fed.given)
    fed.given = [STARTED]
    assert next(found).verdict.value == "consistent"
    fed.given, over = [PAID[:9]], [True]
    (last,) = found
    assert (last.lines, last.verdict.value) == (2, "inconclusive")


def test_a_file_is_followed_under_its_name(tmp_path: Path) -> None:
    path = tmp_path / "log"
    source = FollowedFile(path)
    assert source.read(0) == b"", "it is not there yet"
    path.write_bytes(b"one\ntw")
    assert source.read(0) == b"one\ntw"
    with path.open("ab") as stream:
        stream.write(b"o\nthr")
    path.rename(tmp_path / "log.1")
    assert source.read(0) == b"o\nthr", "what was written before the rotation"
    assert source.read(0) == b"", "there is no new file yet"
    path.write_bytes(b"four\n")
    assert source.read(0) == b"\nfour\n"
    path.write_bytes(b"5\n")
    assert source.read(0) == b"5\n", "it was cut"
    source.close()
    assert [each.removeprefix(f"{path} was ").partition(" ")[0] for each in source.remarks] == ["rotated,", "cut"]


def test_what_is_written_just_before_a_rotation_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "node.log"
    path.write_bytes(b"one\n")
    source = FollowedFile(path)
    assert source.read(0) == b"one\n"
    status_of = os.fstat

    def rotated_before(descriptor: int) -> os.stat_result:
        """The state of a file to which a line comes after the last read, and which is renamed then."""
        monkeypatch.undo()
        with path.open("ab") as log:
            log.write(b"two\n")
        path.rename(tmp_path / "node.log.1")
        path.write_bytes(b"three\n")
        return status_of(descriptor)

    monkeypatch.setattr(os, "fstat", rotated_before)
    assert [source.read(0), source.read(0), source.read(0)] == [b"two\n", b"three\n", b""]
    source.close()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["a", "b", "--follow"], "--follow follows one file"),
        (["a", "--follow", "--redact"], "does not go together with --redact"),
        (["a", "--follow", "--spark", "local[*]"], "`--follow` asks of one process alone"),
        (["FOLDER", "--follow"], "a folder cannot be followed"),
    ],
)
def test_what_cannot_be_followed_is_refused(
    arguments: list[str], text: str, spec: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = [str(spec.parent) if each == "FOLDER" else each for each in arguments]
    assert invoke(["validate", *asked, "--spec", str(spec)]) == 2
    assert text in capsys.readouterr().err


@pytest.mark.slow
def test_ctrl_c_gives_the_answer_so_far(spec: Path, tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(STARTED + PAID)
    command = [sys.executable, "-m", "assay", "validate", str(path), "--spec", str(spec), "--follow", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        first = json.loads(process.stdout.readline())
        with path.open("ab") as stream:
            stream.write(AGAIN)
        second = json.loads(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        last = json.loads(process.stdout.read())
    assert (first["lines"], first["verdict"], second["lines"], second["verdict"]) == (
        2,
        "consistent",
        3,
        "inconsistent",
    )
    assert (process.returncode, last["verdict"], last["events"]["read"]) == (1, "inconsistent", 3)
