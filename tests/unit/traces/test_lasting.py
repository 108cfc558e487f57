"""What hidden steps rule out for good is not tried, however far ahead the line is that tells of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.grammar.load import Loaded, load_text
from assay.traces.log_reader import read_logs
from assay.traces.result import TraceVerdict
from assay.traces.shared_search import check
from assay.traces.validate import validate

SPEC = """\
module eras

param Era: set = {e1}
param Process: set = {a}

state:
    now: Era in Era
    past: set[Era] = {}
    wound: 0 .. 3 = 0

action wind:
    when wound < 3
    wound := wound + 1

action turn(e: Era):
    when e != now and e not in past
    past := past + {now}
    now := e

action tick(p: Process):
    wound := 0

trace log:
    from toy
    on Ticked(run: Process): tick(run)
    on InEra(era: Era): observe wound == 3 and now == era and ABSENT
    hidden turn, wind; at most 12 between two pinned events
    order: file
"""

ERAS = 9


def spec(absent: str = "era not in past") -> Loaded:
    return load_text(SPEC.replace("ABSENT", absent))


def log(folder: Path, eras: list[int]) -> list[object]:
    lines = [
        json.dumps({"event": kind, "node": "a", "run": 1, "time": 10 * at + more, **fields})
        for at, era in enumerate(eras, 1)
        for more, (kind, fields) in enumerate((("Ticked", {}), ("InEra", {"era": f"e{era}"})))
    ]
    (folder / "events.jsonl").write_text("\n".join(lines) + "\n")
    return list(read_logs([folder]).events)


def supposed(loaded: Loaded, events: list[object]) -> int:
    """How many states were looked at that hidden steps lead to."""
    search = check(loaded, events).search  # type: ignore[arg-type]
    return sum(len(closure.seen) for closure in search.dead_ends().closures.values())


def test_eras_are_supposed_in_the_order_in_which_lines_tell_of_them(tmp_path: Path) -> None:
    events = log(tmp_path, list(range(1, ERAS + 1)))
    assert validate(spec(), events).verdict is TraceVerdict.CONSISTENT  # type: ignore[arg-type]
    assert supposed(spec(), events) < 10 * ERAS**2


def test_a_place_that_only_later_lines_read_is_left_as_it_is_until_then(tmp_path: Path) -> None:
    """Where no line rules an era out for good, eras are not supposed in other orders either."""
    events = log(tmp_path, list(range(1, ERAS + 1)))
    assert supposed(spec("era in {era}"), events) < 10 * ERAS**2


@pytest.mark.slow
@pytest.mark.everyday(1)
@pytest.mark.parametrize("again", [1, 3, 8])
def test_an_era_that_comes_again_is_a_mismatch(tmp_path: Path, again: int) -> None:
    events = log(tmp_path, [*range(1, ERAS + 1), again])
    assert validate(spec(), events).verdict is TraceVerdict.INCONSISTENT  # type: ignore[arg-type]


RUNS = """\
module runs

param Process: set = {a}
type Number = 0 .. 9
enum Life: Down, Up(number: Number)

state:
    life: map[Process, Life] = [p -> Down]

action start(p: Process, n: Number):
    when down: life[p] == Down
    life[p] := Up(n)

action crash(p: Process):
    when life[p] != Down
    life[p] := Down

trace log:
    from toy
    on Started(node: Process, number: Number): start(node, number)
    on Said(node: Process, number: Number): observe life[node] == Up(number)
    hidden crash; at most 2 between two pinned events
    order: file
"""


def test_a_line_that_was_never_possible_is_blamed_itself(tmp_path: Path) -> None:
    said = [("Started", 1), ("Said", 1), ("Started", 2), ("Said", 2), ("Started", 3), ("Said", 4), ("Said", 3)]
    lines = [
        json.dumps({"event": kind, "node": "a", "time": 10 * at, "number": number})
        for at, (kind, number) in enumerate(said)
    ]
    (tmp_path / "events.jsonl").write_text("\n".join(lines) + "\n")
    found = validate(load_text(RUNS), read_logs([str(tmp_path)]).events)
    assert found.verdict is TraceVerdict.INCONSISTENT
    (violation,) = found.violations
    assert violation.event.record.place.line == 6
    assert (violation.repair.field, violation.repair.old, violation.repair.new) == ("number", "4", "3")
    assert found.hidden == {"crash": 2}
