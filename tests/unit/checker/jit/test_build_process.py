"""Code made in a hurry is exchanged for better code, built by another process, while the program runs."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from assay.checker.engines.engine_selection import compile_kernel
from assay.checker.engines.native_engine import check
from assay.checker.native import compile as machine_code
from assay.checker.native.compile import NativeProgram, cache_key, compile_object
from assay.checker.native.program import Program, program
from assay.checker.options import SearchOptions
from assay.grammar.load import load_text

TURNS = "state:\n    x: 0 .. 5 = 0\naction turn:\n    x := (x + 1) % 6\ninvariant low: x < 6\n"
PATIENCE = 60


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Program:
    monkeypatch.setattr(machine_code, "FIRST_SECONDS", 0)
    monkeypatch.setattr(machine_code, "SECONDS_A_CHARACTER", 0)
    return program(load_text(TURNS).kernel)


def test_better_code_comes_while_the_program_runs_and_is_kept(made: Program, tmp_path: Path) -> None:
    running, late = NativeProgram(made, tmp_path, hurry=True), time.monotonic() + PATIENCE
    first = running.addresses
    while running.addresses == first:
        assert time.monotonic() < late
        time.sleep(0.01)
    assert (tmp_path / f"{cache_key(made)}.o").read_bytes()[32:] == compile_object(made)
    # What is kept is used at once, in a hurry too.
    again = NativeProgram(made, tmp_path, hurry=True)
    assert again.hurries is running.hurries is False


def test_without_another_process_the_program_goes_on_as_it_is(
    made: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "nothing"))
    running = NativeProgram(made, tmp_path, hurry=True)
    first = running.addresses
    for _ in range(100):
        assert running.addresses == first
    assert not running.hurries


def test_hurried_code_gives_the_same_answer(tmp_path: Path) -> None:
    kernel, options = load_text(TURNS.replace("x < 6", "x < 5")).kernel, SearchOptions(threads=1)
    reports = [check(kernel, compile_kernel(kernel, options, tmp_path, hurry=each), options) for each in (True, False)]
    assert reports[0].properties == reports[1].properties
    assert reports[0].statistics.distinct == 6
