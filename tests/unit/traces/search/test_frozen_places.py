"""Histories of calls: a call that took effect with another result than its return states is seen at once."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path
from random import Random

import pytest

from assay.grammar.load import Loaded, load_text
from assay.traces.log_reader import read_logs
from assay.traces.result import TraceVerdict
from assay.traces.validate import validate

REGISTER = """module register
param Proc: set = {p1, p2}
size param Most: int = 3
type Value = 0 .. Most
enum Op: Idle, Reading, Writing(v: Value), DoneRead(r: Value), DoneWrite
state:
    reg: Value = 0
    op: map[Proc, Op] = [p -> Idle]
action call_read(p: Proc):
    when idle: op[p] == Idle
    op[p] := Reading
action call_write(p: Proc, v: Value):
    when idle: op[p] == Idle
    op[p] := Writing(v)
action lin_read(p: Proc):
    when reading: op[p] == Reading
    op[p] := DoneRead(reg)
action lin_write(p: Proc):
    when writing: op[p] is Writing(v)
    op[p] := DoneWrite
    reg := v
action return_read(p: Proc, v: Value):
    when read_it: op[p] == DoneRead(v)
    op[p] := Idle
action return_write(p: Proc):
    when wrote: op[p] == DoneWrite
    op[p] := Idle
trace history:
    from events
    on CallRead(p: Proc): call_read(p)
    on CallWrite(p: Proc, v: Value): call_write(p, v)
    on ReturnRead(p: Proc, v: Value): return_read(p, v)
    on ReturnWrite(p: Proc): return_write(p)
    hidden lin_read, lin_write; at most 8 between two pinned events
    order: file
"""

Call = tuple[int, int, str, int]
"""When it begins and ends, and whether it reads or writes which value."""


@pytest.fixture(scope="module")
def spec() -> Loaded:
    return load_text(REGISTER)


def history(random: Random) -> list[Call]:
    """At most five calls, each by a process of its own, at distinct moments."""
    moments = random.sample(range(100), 10)
    pairs = [sorted(moments[at : at + 2]) for at in range(0, 2 * random.randint(2, 5), 2)]
    return [(begin, end, random.choice(("Read", "Write")), random.randint(0, 2)) for begin, end in pairs]


def is_linearizable(calls: list[Call]) -> bool:
    """Whether some order of the calls that keeps what was over before explains all values read."""
    for order in permutations(calls):
        if any(later[1] < earlier[0] for at, earlier in enumerate(order) for later in order[at + 1 :]):
            continue
        held, fits = 0, True
        for _, _, what, value in order:
            fits = fits and (what == "Write" or value == held)
            held = value if what == "Write" else held
        if fits:
            return True
    return False


def lines(calls: list[Call]) -> list[dict[str, object]]:
    rows: list[tuple[int, dict[str, object]]] = []
    for number, (begin, end, what, value) in enumerate(calls):
        own: dict[str, object] = {"p": f"p{number}"}
        written, read = (own | {"v": value}, own) if what == "Write" else (own, own | {"v": value})
        rows += [(begin, {"event": f"Call{what}", **written}), (end, {"event": f"Return{what}", **read})]
    return [line for _, line in sorted(rows, key=lambda row: row[0])]


@pytest.mark.everyday(6)
@pytest.mark.parametrize("seed", range(25))
def test_a_history_is_consistent_if_and_only_if_it_is_linearizable(spec: Loaded, tmp_path: Path, seed: int) -> None:
    calls = history(Random(seed))
    (tmp_path / "h.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines(calls)), encoding="utf-8")
    found = validate(spec, list(read_logs([tmp_path / "h.jsonl"]).events))
    assert (found.verdict is TraceVerdict.CONSISTENT) == is_linearizable(calls)
