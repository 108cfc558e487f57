"""A command ends at its time limit and at Ctrl-C whatever it is doing, and says what that was."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from assay.checker.report import ExitCode
from assay.cli.terminal import supervisor

HUGE = """module m
state:
    x: 0 .. 3 = 0
param N: int = 10
action a:
    x := 0
def s0(y: int): int = y * y
def s1(y: int): int = s0(s0(y))
def s2(y: int): int = s1(s1(y))
def s3(y: int): int = s2(s2(y))
def s4(y: int): int = s3(s3(y))
invariant i: s4(s4(N)) > 0
"""

DOUBLING = "\n".join(
    [
        "module m",
        "state:",
        "    x: 0 .. 3 = 0",
        "def f0(y: int): int = y + y",
        *(f"def f{n}(y: int): int = f{n - 1}(y) + f{n - 1}(y)" for n in range(1, 30)),
        "action a:",
        "    x := 0",
        "invariant i: f29(x) >= 0",
        "",
    ]
)


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "assay", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.everyday(1)
@pytest.mark.parametrize("text", [HUGE, DOUBLING])
def test_the_time_limit_ends_one_endless_computation_and_says_where(tmp_path: Path, text: str) -> None:
    (tmp_path / "m.assay").write_text(text, encoding="utf-8")
    done = run("check", "m.assay", "--timeout", "2", "--json", cwd=tmp_path)
    assert done.returncode == ExitCode.INCONCLUSIVE
    answer = json.loads(done.stdout)
    assert answer["verdict"] == "unknown"
    assert answer["stopped"].startswith("the time limit of 2 s was reached while ")
    assert "is lost" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_process_that_runs_no_handlers(number: signal.Signals) -> None:
    endless = "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT, signal.SIGTERM])\n"
    with started(f"{endless}supervisor.note('a product was computed')\nos.write(1, b'!')\nwhile True: pass") as process:
        assert process.stdout is not None
        assert process.stdout.read(1) == "!"
        process.send_signal(number)
        output, _ = process.communicate()
    assert process.returncode == ExitCode.INTERRUPTED
    assert "nterrupted while a product was computed" in output


def test_what_ends_the_worker_from_outside_is_no_verdict() -> None:
    with started("supervisor.note('a state was expanded')\nos.kill(os.getpid(), signal.SIGKILL)") as process:
        output, _ = process.communicate()
    assert process.returncode == ExitCode.INCONCLUSIVE
    assert output.startswith("unknown\n")
    assert "want of memory, while a state was expanded" in output


def test_the_worker_ends_with_its_supervisor() -> None:
    with started("os.write(1, str(os.getpid()).encode() + b'\\n')\nwhile True: pass") as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.kill()
        assert process.stdout.read() == ""  # the pipe is closed once the worker is gone


def test_an_answer_that_is_being_made_has_its_time() -> None:
    # It answers before its clock begins: a slow machine may take longer from one to the other than there is time.
    work = "supervisor.answering()\nsupervisor.limit_time(0.05)\ntime.sleep(supervisor.GRACE + 0.3)\nos.write(1, b'!')"
    with started(work) as process:
        output, _ = process.communicate()
    assert (process.returncode, output) == (7, "!")


def test_the_clock_of_a_limit_begins_with_the_process() -> None:
    work = "time.sleep(0.4)\npassed = time.monotonic() - supervisor.limit_time(9)\nos.write(1, str(passed >= 0.4).encode())"
    with started(work) as process:
        told, _ = process.communicate()
    assert told == "True"


def test_its_exit_codes_are_those_of_reports() -> None:
    assert (supervisor.UNDECIDED, supervisor.INTERNAL, supervisor.INTERRUPTED) == (
        ExitCode.INCONCLUSIVE,
        ExitCode.INTERNAL,
        ExitCode.INTERRUPTED,
    )


def started(work: str) -> subprocess.Popen[str]:
    """A process whose supervised work is this code."""
    lines = "\n".join(f"    {line}" for line in work.splitlines())
    program = (
        "import os, signal, sys, time\nfrom assay.cli.terminal import supervisor\n"
        f"supervisor.GRACE = 0.2\ndef work():\n{lines}\n    return 7\nsys.exit(supervisor.supervised(work))"
    )
    return subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
