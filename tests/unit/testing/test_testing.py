"""Real code beside its model: a mistake is found with the shortest run, and code without one passes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, ClassVar

import pytest

import assay
from assay.testing import DepartureError, ModelRun, Refused, SubprocessDriver, run, state_machine

LEASE = """module lease
param Client: set = {a, b}
size param Most: int = 3
type Fence = 0 .. Most
state:
    holder: Client? = none
    fence: Fence = 0
action acquire(c: Client):
    when free: holder == none
    bound fences: fence < Most
    holder := c
    fence := fence + 1
action release(c: Client):
    when holds: holder == c
    holder := none
action expire:
    when taken: holder != none
    holder := none
accept bounds: fences
"""
QUEUE = """module queue
param Item: set = {x, y}
state:
    waiting: seq[Item, max 3] = []
    got: Item? = none
action put(i: Item):
    waiting := waiting + [i]
    got := none
action take:
    when some: count(waiting) > 0
    got := first(waiting)
    waiting := drop(waiting, 1)
accept bounds: capacity of waiting
"""
REGISTER = """module register
param Node: set = {n1, n2, n3}
type Number = 0 .. 3
state:
    seen: map[Node, Number] = [n -> 0]
action write(n: Node):
    bound numbers: max({seen[m] for m in Node}) < 3
    seen[n] := max({seen[m] for m in Node}) + 1
action copy(from: Node, to: Node):
    when newer: seen[from] > seen[to]
    seen[to] := seen[from]
accept bounds: numbers
"""


class LeaseDriver:
    """A lease service; ``broken`` forgets that whoever lost the lease cannot release it."""

    refuses = frozenset({"acquire", "release"})
    answers: ClassVar = {"acquire": "fence"}
    broken = False

    def __init__(self) -> None:
        self.holder: str | None = None
        self.fence = 0

    def acquire(self, c: str) -> int:
        if self.holder is not None:
            raise Refused
        self.holder, self.fence = c, self.fence + 1
        return self.fence

    def release(self, c: str) -> None:
        if self.holder is None or (self.holder != c and not self.broken):
            raise Refused
        self.holder = None

    def expire(self) -> None:
        self.holder = None

    def observe(self) -> dict[str, Any]:
        return {"holder": self.holder}


class BrokenLease(LeaseDriver):
    broken = True


class QueueDriver:
    """A queue of two lists; the broken one loses the order once both are in use."""

    answers: ClassVar = {"take": "got"}
    refuses = frozenset({"take"})
    broken = False

    def __init__(self) -> None:
        self.back: list[str] = []
        self.front: list[str] = []

    def put(self, i: str) -> None:
        self.back.append(i)

    def take(self) -> str:
        if not self.front or self.broken:
            self.front += reversed(self.back)
            self.back = []
        if not self.front:
            raise Refused
        return self.front.pop()


class BrokenQueue(QueueDriver):
    broken = True


class RegisterDriver:
    """Three copies of a register; in the broken one an older value may overwrite a newer one."""

    refuses = frozenset({"copy"})
    broken = False

    def __init__(self) -> None:
        self.seen = {"n1": 0, "n2": 0, "n3": 0}

    def write(self, n: str) -> None:
        self.seen[n] = max(self.seen.values()) + 1

    def copy(self, **names: str) -> None:
        source, target = names["from"], names["to"]
        if self.seen[source] == self.seen[target] or (self.seen[source] < self.seen[target] and not self.broken):
            raise Refused
        self.seen[target] = self.seen[source]

    def observe(self) -> dict[str, Any]:
        return {"seen": self.seen}


class BrokenRegister(RegisterDriver):
    broken = True


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


@pytest.mark.parametrize(
    ("mistake", "why"),
    [("pass", None), ("sys.exit(3)", "the program ended with exit code 3"), ("continue", "said nothing for 0.3 s")],
)
def test_a_program_is_driven_by_lines_of_json(mistake: str, why: str | None, tmp_path: Path) -> None:
    class Program(SubprocessDriver):
        command = (sys.executable, "-c", PROGRAM.replace("MISTAKE", mistake))
        actions = frozenset({"acquire", "release"})
        refuses = actions
        observes = True
        patience = 0.3 if why and "nothing" in why else 10.0

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
