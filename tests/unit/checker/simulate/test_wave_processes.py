"""Waves made by several processes are those that one process makes."""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from assay.checker.engines.engine_selection import Engine
from assay.checker.options import SearchOptions
from assay.checker.simulate import random_walks
from assay.checker.simulate.random_walks import Walks
from assay.checker.simulate.simulate import Simulated, simulate
from assay.checker.simulate.wave_processes import Made, WaveCounts, made_by_copies, processes
from assay.grammar.load import load_text

SPEC = """
state:
    x: 0 .. 30 = 0
    y: 0 .. 3 in 0 .. 3
action up:
    when small: x < 30
    x := x + 1
action down(by: 1 .. 3):
    when enough: x >= by
    bound odd: y != 3
    x := x - by
action turn:
    when rare: x % 7 == 6
    y := (y + 1) % 4
invariant low: x < 14
reachable eleven: x == 11 and y == 2
transition slow: x <= old(x) + 1
"""
MADE = WaveCounts(1, 2, 3, 4, 5, Counter(), Counter(), (), (), True)


@pytest.fixture(autouse=True)
def _small_waves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(random_walks, "WAVE", 8)


def walked(threads: int, engine: Engine, folder: Path, walks: Walks, *, keep_going: bool) -> Simulated:
    options = SearchOptions(threads=threads, keep_going=keep_going)
    return simulate(load_text(SPEC).kernel, walks, options, None, engine, folder)


def essence(found: Simulated) -> tuple[object, ...]:
    report = replace(found.report, statistics=replace(found.report.statistics, seconds=0.0))
    return report, found.walks, found.ended, found.more_states


@pytest.mark.parametrize("keep_going", [False, True])
@pytest.mark.parametrize("walks", [Walks(90, 25, 3), Walks(70, 12, 8), Walks(1, 15, 5, plateau=60)])
def test_the_answer_does_not_depend_on_the_number_of_processes(tmp_path: Path, walks: Walks, keep_going: bool) -> None:
    one, two, three = (walked(n, "native", tmp_path, walks, keep_going=keep_going) for n in (1, 2, 3))
    assert essence(two) == essence(one)
    assert essence(three) == essence(one)
    if keep_going:
        assert one.walks >= 60


def test_the_reference_engine_walks_in_processes_too(tmp_path: Path) -> None:
    one, three = (walked(n, "reference", tmp_path, Walks(40, 15, 1), keep_going=True) for n in (1, 3))
    assert essence(three) == essence(one)


def test_the_longest_walk_of_all_waves_counts(tmp_path: Path) -> None:
    text = """
state:
    x: 0 .. 99 = 0
    alive: bool = true
action go:
    when alive and x < 99
    x := x + 1
action stop:
    when alive
    alive := false
terminal: not alive
"""
    kernel = load_text(text).kernel
    options = [SearchOptions(threads=n, keep_going=True) for n in (1, 3)]
    one, three = (simulate(kernel, Walks(160, 50, 2), each, None, "reference", tmp_path) for each in options)
    assert three.report.statistics.depth == one.report.statistics.depth


def _never() -> bool:
    return False


def test_waves_are_made_by_copies_and_in_order() -> None:
    first = os.getpid()

    def make(wave: int, _is_over: Callable[[], bool]) -> Made:
        return None if os.getpid() == first else replace(MADE, walks=wave)

    made = [None if each is None else each.walks for each in made_by_copies(3, range(10, 17), make, _never)]
    assert made == [None, 11, 12, None, 14, 15, None]


def test_a_copy_that_fails_or_ends_leaves_its_waves_to_the_first_process() -> None:
    def make(wave: int, _is_over: Callable[[], bool]) -> Made:
        if wave == 1:
            raise ValueError(wave)
        if wave == 3:
            os._exit(1)
        return MADE

    assert list(made_by_copies(2, range(6), make, _never)) == [None, None, None, None, None, None]


def test_copies_end_when_the_time_is_over() -> None:
    def patient(_wave: int, is_over: Callable[[], bool]) -> Made:
        while not is_over():
            time.sleep(0.01)
        return replace(MADE, is_whole=False)

    def deaf(_wave: int, _is_over: Callable[[], bool]) -> Made:
        time.sleep(60)
        return MADE

    begun = time.monotonic()
    found = [*made_by_copies(2, range(2), patient, lambda: True)]
    assert found[1] is not None
    assert not found[1].is_whole
    assert [*made_by_copies(2, range(2), deaf, lambda: True)] == [None, None]
    assert time.monotonic() - begun < 30


def test_no_copies_are_made_of_another_thread_or_of_a_copy() -> None:
    assert processes(4) == 4
    found: list[int] = []
    thread = threading.Thread(target=lambda: found.append(processes(4)))
    thread.start()
    thread.join()
    assert found == [1]

    def make(_wave: int, _is_over: Callable[[], bool]) -> Made:
        return replace(MADE, walks=processes(4))

    (_, counted) = made_by_copies(2, range(2), make, _never)
    assert counted is not None
    assert counted.walks == 1
