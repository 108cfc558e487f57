"""Real code beside its model: a mistake is found with the shortest run, and code without one passes."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from benchmarks.seeded_bugs import (
    LEASE,
    QUEUE,
    REGISTER,
    BrokenLease,
    BrokenQueue,
    BrokenRegister,
    LeaseDriver,
    QueueDriver,
    RegisterDriver,
)

import assay
from assay.testing import DepartureError, ModelRun, SubprocessDriver, run, state_machine
from assay.testing.supervised import child_processes, command_line


def spec(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "spec.assay"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(("text", "driver"), [(LEASE, LeaseDriver), (QUEUE, QueueDriver), (REGISTER, RegisterDriver)])
def test_code_that_does_what_the_model_does_passes(text: str, driver: type, tmp_path: Path) -> None:
    found = run(spec(tmp_path, text), driver, runs=10, steps=10)
    assert min(found.taken.values()) > 0, str(found)
    assert found.refused
    assert found.undriven == ()


def test_runs_end_when_they_exercise_nothing_new(tmp_path: Path) -> None:
    made = 0

    def driver() -> LeaseDriver:
        nonlocal made
        made += 1
        return LeaseDriver()

    found = run(spec(tmp_path, LEASE), driver, runs=100_000, steps=10, settled=10)
    assert min(found.taken.values()) > 0
    assert {("acquire", "free"), ("release", "holds")} <= found.exercised
    assert made < 1_000


@pytest.mark.everyday(2)
@pytest.mark.parametrize(
    ("text", "driver", "steps", "why"),
    [
        (LEASE, BrokenLease, 2, "the code did it, and the model refuses it: guard holds is false: holder == c"),
        (QUEUE, BrokenQueue, 5, "the answer is "),
        (REGISTER, BrokenRegister, 2, "guard newer is false: seen[from] > seen[to]"),
    ],
)
def test_a_mistake_is_found_with_a_shortest_run(text: str, driver: type, steps: int, why: str, tmp_path: Path) -> None:
    with pytest.raises(DepartureError) as caught:
        run(spec(tmp_path, text), driver, runs=100, steps=15)
    assert why in str(caught.value)
    assert f"\n  {steps}. " in str(caught.value)
    assert f"\n  {steps + 1}. " not in str(caught.value)


def test_a_machine_is_a_test_case_and_says_what_it_exercised(tmp_path: Path) -> None:
    machine = state_machine(spec(tmp_path, LEASE), BrokenLease)
    with pytest.raises(DepartureError):
        machine.TestCase("runTest").runTest()
    assert machine.coverage.taken["acquire"] > 0


class Silent(LeaseDriver):
    """Raises, or does without being asked."""

    def expire(self) -> None:
        raise ValueError("no such lease")


class Forgetful:
    """Has one method only, and leaves open what the model picks."""

    def toss(self) -> None:
        """Nothing that is seen."""


COIN = """module coin
enum Side: Heads, Tails
state:
    side: Side = Heads
action toss:
    pick s in Side
    side := s
action lose:
    side := Heads
"""


def test_what_a_driver_cannot_tell_is_said(tmp_path: Path) -> None:
    stepper = assay.load(spec(tmp_path, COIN)).stepper()
    run_ = ModelRun(stepper, Forgetful())
    assert run_.coverage.undriven == ("lose",)
    with pytest.raises(DepartureError, match="leaves open which step it was: toss with s = Heads, toss with s = Tails"):
        run_.perform(run_.calls()[0])


def test_an_exception_of_the_code_departs_from_the_model(tmp_path: Path) -> None:
    stepper = assay.load(spec(tmp_path, LEASE)).stepper()
    run_ = ModelRun(stepper, Silent())
    for name in ("acquire", "expire"):
        call = next(each for each in run_.calls() if each.action == name)
        if name == "acquire":
            run_.perform(call)
            continue
        with pytest.raises(DepartureError, match="the code raised ValueError: no such lease"):
            run_.perform(call)


PROGRAM = """
import json, sys
holder = None
for line in sys.stdin:
    asked = json.loads(line)
    if "observe" in asked:
        answer = {"holder": holder}
    elif asked["action"] == "acquire" and holder is None:
        holder, answer = asked["arguments"]["c"], {}
    elif asked["action"] == "release" and holder == asked["arguments"]["c"]:
        MISTAKE
        holder, answer = None, {}
    else:
        answer = {"refused": True}
    print(json.dumps(answer), flush=True)
"""


def test_a_thread_that_ends_meanwhile_does_not_end_the_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "glob", lambda *_: [Path("/proc/self/task/0/children")])
    assert child_processes() == frozenset()


def test_a_driver_that_differs_in_the_initial_state_is_closed(tmp_path: Path) -> None:
    closed = []

    class Held(LeaseDriver):
        def observe(self) -> dict[str, str]:
            return {"holder": "a"}

        def close(self) -> None:
            closed.append(self)

    with pytest.raises(DepartureError, match="in the initial state: `holder` is a in the code"):
        ModelRun(assay.load(spec(tmp_path, LEASE)).stepper(), Held())
    assert len(closed) == 1


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("input(); os.close(1); time.sleep(60)", "the program closed its standard output"),
        ("os.close(0); print(flush=True); time.sleep(60)", "the program closed its standard input"),
        ("input(); print([1], flush=True); input()", r"the program wrote \[1\], which is no object"),
    ],
)
def test_a_program_that_goes_on_without_an_answer_departs_from_the_model(
    program: str, why: str, tmp_path: Path
) -> None:
    class Program(SubprocessDriver):
        command = (sys.executable, "-c", f"import os, time; {program}")
        actions = frozenset({"acquire", "release"})

    driver = Program()
    run_ = ModelRun(assay.load(spec(tmp_path, LEASE)).stepper(), driver)
    if "os.close(0)" in program:
        driver._process.stdout.readline()  # type: ignore[union-attr]
    try:
        with pytest.raises(DepartureError, match=why):
            run_.perform(run_.calls()[0])
    finally:
        run_.close()


@pytest.mark.parametrize(
    ("mistake", "why"),
    [
        ("pass", None),
        ("sys.exit(3)", "the program ended with exit code 3"),
        ("continue", "said nothing for 0.3 s"),
        ("sys.stdout.write('{'); sys.stdout.flush(); continue", "wrote b'{' alone"),
    ],
)
def test_a_program_is_driven_by_lines_of_json(mistake: str, why: str | None, tmp_path: Path) -> None:
    class Program(SubprocessDriver):
        command = (sys.executable, "-c", PROGRAM.replace("MISTAKE", mistake))
        actions = frozenset({"acquire", "release"})
        refuses = actions
        observes = True
        patience = 0.3 if "continue" in mistake else 10.0

    run_ = ModelRun(assay.load(spec(tmp_path, LEASE)).stepper(), Program())
    try:
        for text in ("acquire(a)", "acquire(b)", "release(a)"):
            call = next(each for each in run_.calls() if each.text == text)
            if why is None or text != "release(a)":
                run_.perform(call)
                continue
            with pytest.raises(DepartureError, match=why):
                run_.perform(call)
    finally:
        run_.close()


class Hanging(LeaseDriver):
    """Never answers, whatever it catches."""

    patience = 0.05

    def expire(self) -> None:
        while True:
            try:
                time.sleep(9)
            except Exception:  # noqa: BLE001 - code under test does so
                continue


class Leaking(LeaseDriver):
    """Starts a process that nobody ends."""

    def expire(self) -> None:
        super().expire()
        process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(99)"])
        process.returncode = 0  # else Python warns that nobody waits for it


class Blind(LeaseDriver):
    """Cannot say how it is."""

    def observe(self) -> dict[str, object]:
        if self.holder is not None:
            raise KeyError("holder")
        return super().observe()


class Leaving(LeaseDriver):
    """Ends the program that it is part of."""

    def expire(self) -> None:
        sys.exit(3)


class Unclosed(LeaseDriver):
    """Cannot be ended once it was used."""

    def close(self) -> None:
        if self.holder is not None:
            raise OSError("busy")


@pytest.mark.everyday(2)
@pytest.mark.parametrize(
    ("driver", "why", "steps"),
    [
        (Hanging, "the code did not return within 0.05 s", 2),
        (Silent, "the code raised ValueError: no such lease", 2),
        (Leaving, "the code raised SystemExit: 3", 2),
        (Leaking, "the code left processes running after `close`: step 2 started `", 2),
        (Blind, "`observe` raised KeyError: 'holder'", 1),
        (Unclosed, "`close` raised OSError: busy", 1),
    ],
)
def test_what_the_code_does_to_its_test_is_told_with_the_shortest_run(
    driver: type, why: str, steps: int, tmp_path: Path
) -> None:
    with pytest.raises(DepartureError) as caught:
        run(spec(tmp_path, LEASE), driver, runs=30, steps=5)
    assert why in str(caught.value)
    assert f"\n  {steps}. " in str(caught.value)
    assert f"\n  {steps + 1}. " not in str(caught.value)
    assert not [each for each in child_processes() if command_line(each)]
