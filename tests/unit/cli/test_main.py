"""What becomes of a program that fails or is interrupted."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest

import assay.cli.main as program
from assay.api.codes import ALL_CODES
from assay.checker.engines import engine_selection
from assay.cli.main import SUMMARIES, cli
from assay.cli.terminal.interrupt import stoppable

CHECKOUT = Path(__file__).resolve().parents[3]


def broken(*_: object, **__: object) -> None:
    raise ZeroDivisionError("a mistake of ours")


def test_an_unexpected_exception_exits_70_without_a_traceback(assay: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_selection, "check", broken)
    ran = assay("check", "counter.assay", "--json")
    assert ran.code == 70
    assert ran.json["verdict"] == "internal error"
    assert "ZeroDivisionError" in ran.err
    assert "issue tracker" in ran.err


def test_the_traceback_is_shown_on_request(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_DEBUG", "1")
    monkeypatch.setitem(program.cli.commands, "doctor", click.Command("doctor", callback=broken))
    assert program.invoke(["doctor"]) == 70
    assert "Traceback" in capsys.readouterr().err


def test_a_second_interruption_exits_130(assay: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(engine_selection, "check", interrupted)
    ran = assay("check", "counter.assay", "--json")
    assert (ran.code, ran.json["verdict"]) == (130, "interrupted")


def test_the_first_interruption_ends_the_search_with_what_was_reached(
    assay: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check(*arguments: Any) -> Any:
        kernel, options, sources, _ = arguments
        os.kill(os.getpid(), signal.SIGINT)
        return original(kernel, options, sources, "reference")

    original = engine_selection.check
    monkeypatch.setattr(engine_selection, "check", check)
    ran = assay("check", "counter.assay", "--json")
    assert (ran.code, ran.json["verdict"]) == (130, "interrupted")
    assert "interrupted" in ran.json["stopped"]
    assert {p["verdict"] for p in ran.json["properties"]} == {"unknown"}


def test_an_interruption_while_code_is_made_is_heeded_before_the_first_step(
    assay: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def compile_kernel(*arguments: Any, **more: Any) -> Any:
        os.kill(os.getpid(), signal.SIGINT)
        return original(*arguments, **more)

    original = engine_selection.compile_kernel
    monkeypatch.setattr(engine_selection, "compile_kernel", compile_kernel)
    ran = assay("check", "counter.assay", "--json", "--engine", "native")
    assert (ran.code, ran.json["verdict"]) == (130, "interrupted")
    assert ran.json["states"]["distinct"] == 0


LATE = """
import os, signal, sys
from assay.cli import start

def interrupted():
    exec("os.kill(os.getpid(), signal.{name})")

signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started the tests may ignore it
start._run = interrupted
sys.argv = ["assay", "check", "--json"]
start.run()
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_an_interruption_while_the_program_is_loaded_exits_130(name: str) -> None:
    done = subprocess.run([sys.executable, "-c", LATE.format(name=name)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "interrupted\n")
    assert json.loads(done.stdout) == {"assay": "1", "verdict": "interrupted"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_signal_handler_is_put_back(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with stoppable() as asked:
        assert not asked()
        os.kill(os.getpid(), number)
        assert asked()
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), number)
    assert signal.getsignal(number) is before


@pytest.mark.slow
def test_a_search_that_is_told_to_end_leaves_nothing_behind(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "assay", "check", "kafka/replication/kip320", "--model", "r3l2m2e3", "--json"]
    limits = ["--threads", "1", "--memory", "250M"]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen([*command, *limits], env=environment, stdout=subprocess.PIPE, text=True) as running:
        while not any(tmp_path.glob("assay-*/*")) and running.poll() is None:
            pass
        running.terminate()
        answer, _ = running.communicate()
    assert (running.returncode, json.loads(answer)["verdict"]) == (130, "interrupted")
    assert not list(tmp_path.glob("assay-*"))


def test_help_lists_every_command(assay: Any) -> None:
    ran = assay("--help")
    assert ran.code == 0
    assert [name for name in program.COMMANDS if name not in ran.out] == []


def test_no_command_at_all_shows_the_help_and_exits_2(assay: Any) -> None:
    ran = assay()
    assert ran.code == 2
    assert ran.err == assay("--help").out


def test_explain_knows_every_code(assay: Any) -> None:
    for code in ALL_CODES:
        ran = assay("explain", code.lower())
        assert ran.code == 0
        assert ran.out.startswith(f"{code}: ")


def test_explain_suggests_a_code_that_is_near(assay: Any) -> None:
    ran = assay("explain", "E03")
    assert ran.code == 2
    assert "did you mean" in ran.err


def test_doctor_finds_what_it_needs(assay: Any) -> None:
    answer = assay("doctor", "--json")
    assert answer.code == 0
    assert answer.json["verdict"] == "ok"
    needed = [finding for finding in answer.json["findings"] if finding["needed"]]
    assert {finding["name"] for finding in needed} >= {"python", "folders", "bundled specs", "lark"}


def test_doctor_exits_3_where_a_dependency_is_missing(assay: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.cli.setup.doctor.DEPENDENCIES", ("no-such-distribution",))
    ran = assay("doctor")
    assert ran.code == 3
    assert "MISSING no-such-distribution" in ran.out


STUCK = """
import os, signal, sys, threading
import numpy as np
from assay.checker.jit.jit_function import ArrayFunction
from assay.cli.terminal import interrupt

@ArrayFunction
def spin(words):
    at = 0
    while words[0] == 0:
        at += 1
    return at

def send():
    for _ in range(2):
        os.kill(os.getpid(), signal.SIGINT)
        threading.Event().wait(0.05)

interrupt.GRACE = 0.1
spin(np.ones(1, np.uint64))
with interrupt.stoppable():
    threading.Timer(0.2, send).start()
    spin(np.zeros(1, np.uint64))
"""


def test_machine_code_that_does_not_end_is_ended_by_a_second_interruption(tmp_path: Path) -> None:
    program_file = tmp_path / "stuck.py"
    program_file.write_text(STUCK)
    done = subprocess.run([sys.executable, program_file], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (130, "interrupted: what was reached cannot be told\n")


def test_the_list_of_commands_says_what_each_says_of_itself() -> None:
    context = click.Context(cli)
    own = {name: cli.get_command(context, name) for name in cli.list_commands(context)}
    assert {name: each.get_short_help_str(400) for name, each in own.items() if each is not None} == SUMMARIES
