"""A lease, a queue and a replicated register with a seeded bug each: how soon `assay.testing` finds it, and by which run.

`python -m benchmarks seeded_bugs [NAME…]` prints for each the seconds of the processor, and the shortest failing run.
"""

# ruff: noqa: D101, D102 - a driver's methods are the actions of its model

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

from assay.testing import DepartureError, Refused, run

Line = dict[str, object]

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


SHORTEST = {"lease": 2, "queue": 5, "register": 2}
"""The fewest steps that show each bug, found by hand."""
EXAMPLES: dict[str, tuple[str, type]] = {
    "lease": (LEASE, BrokenLease),
    "queue": (QUEUE, BrokenQueue),
    "register": (REGISTER, BrokenRegister),
}


def lines(arguments: Sequence[str]) -> Iterator[Line]:
    """One line for each example that is named, by default for all."""
    strange = set(arguments) - EXAMPLES.keys()
    if strange:
        raise ValueError(f"there is no example `{min(strange)}`; the examples are {', '.join(EXAMPLES)}")
    for name in arguments or EXAMPLES:
        text, driver = EXAMPLES[name]
        with tempfile.TemporaryDirectory() as folder:
            spec = Path(folder) / f"{name}.assay"
            spec.write_text(text, encoding="utf-8")
            begun = time.process_time()
            try:
                run(spec, driver, runs=100, steps=15)
            except DepartureError as found:
                why, _, steps = str(found).replace(f"{folder}/", "").partition("\nthe run:\n")
                taken = [each.strip() for each in steps.splitlines()]
            else:
                raise AssertionError(f"the bug of {name} was not found")
        yield {
            "benchmark": "seeded_bugs",
            "example": name,
            "cpu_s": round(time.process_time() - begun, 2),
            "target_s": 60,
            "steps": len(taken),
            "shortest": SHORTEST[name],
            "why": why,
            "run": taken,
        }
