"""A validation that is stopped, by its limits or by Ctrl-C, answers with what it has, in whatever phase it is."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.cli.main import invoke
from assay.traces import log_reader, shared_search, spec_selection, validate
from assay.traces.samples import unpack_sample
from assay.traces.slices.slice_validator import Joiner
from assay.traces.stop import request

WHY = "the time limit of 5 s was reached"


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack_sample("elections", tmp_path_factory.mktemp("sample"))


def at_call(number: int, original: Callable[..., Any], stop: Callable[[], None]) -> Callable[..., Any]:
    """The function, but its call of this number requests the stop."""
    calls = 0

    def called(*arguments: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == number:
            stop()
        return original(*arguments, **options)

    return called


def in_time(*_: object) -> None:
    request(WHY)


def answer(capsys: pytest.CaptureFixture[str], logs: Path, *more: str) -> tuple[int, Any]:
    code = invoke(["validate", str(logs), "--json", "--jobs", "1", *more])
    return code, json.loads(capsys.readouterr().out)


def test_stopped_while_logs_are_read_it_tells_what_was_read(
    logs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_reader, "read_text", at_call(4, log_reader.read_text, in_time))
    code, found = answer(capsys, logs)
    assert (code, found["verdict"], found["events"]["used"]) == (3, "inconclusive", 0)
    assert found["reason"].startswith(WHY)
    assert found["events"]["read"] > 0
    assert [each for each in found["notices"] if f"{WHY} while logs were read" in each["text"]]


def test_stopped_in_the_search_it_tells_what_is_open(
    logs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(validate, "check", at_call(1, shared_search.check, in_time))
    monkeypatch.setattr("assay.traces.native_replay.threshold.WORTH_IT", 10**9)
    code, found = answer(capsys, logs)
    assert (code, found["verdict"], found["reason"]) == (3, "inconclusive", f"{WHY}; what is left was not checked")
    assert found["input"]["nodes"]


@pytest.mark.slow
def test_stopped_among_partitions_it_keeps_the_answers_about_the_first(
    logs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.traces.native_replay.compiled_slices.replay_slices", lambda *_: {})
    monkeypatch.setattr(Joiner, "of_slice", at_call(3, Joiner.of_slice, in_time))
    code, found = answer(capsys, logs)
    assert (code, found["verdict"]) == (3, "inconclusive")
    assert found["slices"]["consistent"] == 2
    assert {each["reason"] for each in found["undecided"]} == {f"not checked: {WHY}"}
    assert found["events"]["used"] > 0


@pytest.mark.slow
def test_ctrl_c_is_a_request_to_stop_and_exits_130(
    logs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def press() -> None:
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(Joiner, "of_slice", at_call(3, Joiner.of_slice, press))
    monkeypatch.setattr("assay.traces.native_replay.compiled_slices.replay_slices", lambda *_: {})
    code, found = answer(capsys, logs)
    assert (code, found["verdict"], found["slices"]["consistent"]) == (130, "inconclusive", 2)
    assert found["reason"] == "interrupted; what is left was not checked"


@pytest.mark.parametrize("option", [("--timeout", "0.001"), ("--memory", "1M")])
def test_a_limit_that_is_too_small_for_anything_says_so(
    logs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, option: tuple[str, str]
) -> None:
    def wait(*_: object, **__: object) -> None:
        while True:
            signal.pause()

    monkeypatch.setattr(spec_selection, "validate_in_scope", wait)
    monkeypatch.setattr("assay.api.log_answers.read_logs", wait)
    code, found = answer(capsys, logs, *option)
    assert (code, found["verdict"]) == (3, "inconclusive")
    assert "limit of" in found["reason"]
