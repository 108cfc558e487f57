"""A limit that passes while compiled code is busy with one state ends the search all the same."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from threading import Event, Timer

import numpy as np
import pytest

from assay.checker.engines.engine_selection import check, compile_kernel
from assay.checker.engines.native_engine import check as explicit
from assay.checker.explicit.expansion.cancellation import halting
from assay.checker.options import SearchOptions
from assay.checker.report import ExitCode, Report
from assay.checker.search_interface.protocols import Stopped
from assay.checker.simulate.random_walks import Walks
from assay.checker.simulate.simulate import simulate
from assay.cli.terminal.interrupt import stoppable
from assay.grammar.kernel import Kernel
from assay.grammar.load import load_text

SLOW = """
type P = 0 .. 99
state:
    x: P = 0
    done: bool = false
action go:
    when x < 9
    x := x + 1
action slow:
    when reached: x == 3
    when late: forall a in P, b in P, c in P, d in P, e in P: a * b * c * d * e + x != 99 * 99 * 99 * 99 * 100
    done := true
"""
"""It takes a minute to take the second action once, and to say that nothing but its first guard is in the way."""
ENDLESS_INIT = """
type F = map[0 .. 5, 0 .. 9]
state:
    x: F in F
    y: F in F
    z: F in F
init:
    when never: x[0] + y[0] + z[0] == 90
action stop:
    x := y
"""


def searched(kernel: Kernel, options: SearchOptions, folder: Path) -> Report:
    return check(kernel, options, engine="native", cache=folder).report


@pytest.mark.everyday(1)
@pytest.mark.parametrize("text", [SLOW, ENDLESS_INIT])
@pytest.mark.parametrize("threads", [1, 2])
def test_the_time_limit_is_heeded_inside_compiled_code(text: str, threads: int, tmp_path: Path) -> None:
    report = searched(load_text(text).kernel, SearchOptions(timeout=0.3, threads=threads), tmp_path)
    assert report.stopped is not None
    assert report.stopped.startswith("the time limit of 0.3 s was reached")
    assert report.exit_code is ExitCode.INCONCLUSIVE


@pytest.mark.slow
def test_so_is_an_interruption(tmp_path: Path) -> None:
    asked = Event()
    timer = Timer(0.3, asked.set)
    timer.start()
    report = searched(load_text(SLOW).kernel, SearchOptions(interrupted=asked.is_set, threads=1), tmp_path)
    timer.join()
    assert report.interrupted


@pytest.mark.slow
def test_a_signal_is_heard_while_the_main_thread_is_in_compiled_code(tmp_path: Path) -> None:
    kernel = load_text(SLOW).kernel
    compiled = compile_kernel(kernel, SearchOptions(), tmp_path)
    timer = Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    with stoppable() as asked:
        timer.start()
        report = explicit(kernel, compiled, SearchOptions(interrupted=asked, threads=1))
        timer.join()
    assert report.interrupted


@pytest.mark.slow
def test_a_simulation_ends_too(tmp_path: Path) -> None:
    options = SearchOptions(timeout=0.3, threads=1)
    report = simulate(load_text(SLOW).kernel, Walks(10, 10, 0), options, engine="native", cache=tmp_path).report
    assert report.stopped is not None
    assert report.stopped.startswith("the time limit of 0.3 s was reached")


@pytest.mark.slow
def test_code_that_was_halted_runs_again(tmp_path: Path) -> None:
    machine = compile_kernel(load_text(SLOW.replace("99 * 100", "0")).kernel, SearchOptions(), tmp_path).machine

    row = np.zeros((1, 1), np.uint64)

    def stop() -> None:
        raise Stopped

    def halted() -> None:
        with halting(machine, lambda: False, stop):
            machine.halt(True)
            machine.judge(row)

    with pytest.raises(Stopped):
        halted()
    machine.judge(row)
