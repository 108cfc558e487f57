"""Lines of a slice that the check along versions leaves open are asked of a solver, on what lines told of the shared state."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.grammar.load import load_text
from assay.traces.options import Options
from assay.traces.result import TraceVerdict, Validation
from assay.traces.validate import validate

SHELVES = (Path(__file__).parents[1] / "shelves.txt").read_text(encoding="utf-8")
LOCKS = """action lock:
    open := false

action unlock:"""
RULES = """    on Pushed(slice: Shelf, version: Count) at version: put(slice)
    on Locked: lock
    on Marked"""
TEXT = (
    SHELVES.replace("GUARD", "bound room: t.items < Max")
    .replace("action unlock:", LOCKS)
    .replace("next: unlock", "next: lock, unlock")
    .replace("    on Marked", RULES)
    .replace("from toy", "from kafka")
    .replace("since Made", 'since Made\n    thread Locked, Pushed "one thread of each process"')
    .replace("order: file; skew 0 ms", "order: file; commit before line within 5 ms; skew 0 ms")
)

Line = Callable[..., Any]

LACKING = Options(partial=True)
LOSSY = Options(partial=True, lossy=True)


def answer(events: list[Any], options: Options = LACKING) -> Validation:
    return validate(load_text(TEXT), events, options=options)


@pytest.fixture
def made(line: Line, shelf: Line) -> list[Any]:
    return [line("n0", 1, 0, "Unlocked"), shelf(1, 10, "Made", version=0)]


def rising_and_falling(made: list[Any], shelf: Line, apart: int) -> list[Any]:
    """A write of a version, and later one of a lower version, by one process."""
    return [*made, shelf(2, 20, "Put", items=3, version=3), shelf(3, 20 + apart, "Put", items=2, version=2)]


def test_versions_fall_in_one_file(made: list[Any], shelf: Line) -> None:
    found = answer(rising_and_falling(made, shelf, 2_000))
    (violation,) = found.violations
    assert found.verdict is TraceVerdict.INCONSISTENT
    assert violation.contradiction is not None
    assert [each.record.place.line for each in violation.contradiction.events] == [2, 3]


@pytest.mark.parametrize(
    ("options", "apart", "verdict"),
    [
        (LACKING, 4, TraceVerdict.CONSISTENT),  # one of the lines may be late
        (LACKING, 3_000, TraceVerdict.INCONCLUSIVE),  # another shelf of that name may have been made
        (LOSSY, 900, TraceVerdict.INCONSISTENT),  # no process starts so fast
        (LOSSY, 1_100, TraceVerdict.INCONCLUSIVE),  # it may have started, and told of old writes again
    ],
)
def test_where_falling_versions_may_be_otherwise(
    made: list[Any], shelf: Line, options: Options, apart: int, verdict: TraceVerdict
) -> None:
    assert answer(rising_and_falling(made, shelf, apart), options).verdict is verdict


def test_what_no_line_told_of_the_shared_state_is_open(line: Line, shelf: Line) -> None:
    """Before the log the shelves may have been unlocked."""
    held = [shelf(4, 10_000, "Put", items=1, version=4), shelf(5, 20_000, "Put", items=2, version=5)]
    events = [shelf(1, 10, "Made", version=0), shelf(2, 20, "Pushed", version=3)]
    found = answer([*events, line("n0", 1, 9_000, "Unlocked"), *held])
    assert found.verdict is TraceVerdict.CONSISTENT
    assert "explained by writes of which no line tells" in str(found.slices[0].rests_on)


def test_what_a_line_told_of_it_is_not(made: list[Any], line: Line, shelf: Line) -> None:
    found = answer([*made, line("n1", 2, 100, "Locked"), shelf(3, 10_000, "Pushed", version=3)])
    assert found.verdict is TraceVerdict.INCONCLUSIVE
    assert "n1/a.log:3 tells too little" in str(found.reason)
