"""Lines of a slice that follow unlogged writes, and do not state the whole state themselves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from assay.grammar.load import load_text
from assay.traces.options import Options
from assay.traces.result import TraceVerdict, Validation
from assay.traces.validate import validate

SHELVES = (Path(__file__).parents[1] / "shelves.txt").read_text(encoding="utf-8")
PUSHED = "    on Pushed(slice: Shelf, version: Count) at version: put(slice)\n"
"""A line that does not say how many there are now."""
TEXT = SHELVES.replace("GUARD", "bound room: t.items < Max").replace("    on Marked", PUSHED + "    on Marked")

Line = Callable[..., Any]


CLAUSE = "order: file; commit before line within 5 ms; skew 0 ms"


LACKING = Options(partial=True)


def answer(events: list[Any], options: Options = LACKING) -> Validation:
    return validate(load_text(TEXT.replace("order: file; skew 0 ms", CLAUSE)), events, options=options)


BEGUN = Options(partial=True, begun=True)


def test_a_line_after_unlogged_writes_is_a_step_from_some_state(line: Line, shelf: Line) -> None:
    events = [line("n0", 1, 0, "Unlocked"), shelf(1, 10, "Made", version=0), shelf(2, 40_000, "Pushed", version=3)]
    found = answer(events)
    assert (found.verdict, found.reason) == (TraceVerdict.CONSISTENT, None)
    assert "no line tells of write 1, 2" in str(found.slices[0].rests_on)


def test_where_files_begin_late_such_writes_are_supposed_of_what_began_before(line: Line, shelf: Line) -> None:
    """Since a slice's creation all is logged of it, and a write without a line is wanting."""
    pushed = shelf(2, 40_000, "Pushed", version=3)
    unlocked = line("n0", 1, 0, "Unlocked")
    found = answer([unlocked, shelf(1, 10, "Seen", items=0, version=1), pushed], BEGUN)
    assert (found.verdict, found.reason) == (TraceVerdict.CONSISTENT, None)
    assert answer([unlocked, shelf(1, 10, "Made", version=0), pushed], BEGUN).verdict is TraceVerdict.INCONCLUSIVE


def test_such_a_line_is_held_against_what_all_share(line: Line, shelf: Line) -> None:
    """Nothing was unlocked before it: no state of the shelf allows it to be filled."""
    events = [shelf(1, 10, "Made", version=0), shelf(2, 20, "Pushed", version=3), line("n0", 1, 40_000, "Unlocked")]
    found = answer(events)
    assert found.verdict is TraceVerdict.INCONCLUSIVE
    assert "tells too little to go on from" in str(found.reason)


def test_what_it_leaves_open_later_lines_decide(line: Line, shelf: Line) -> None:
    events = [
        line("n0", 1, 0, "Unlocked"),
        shelf(1, 10, "Made", version=0),
        shelf(2, 40_000, "Pushed", version=4),
        shelf(3, 40_010, "Seen", items=2, version=4),
        shelf(4, 40_020, "Put", items=3, version=5),
    ]
    found = answer(events)
    assert (found.verdict, found.violations) == (TraceVerdict.CONSISTENT, ())


def test_a_line_without_a_version_may_follow_a_write_after_the_last_one(line: Line, shelf: Line) -> None:
    """Three more were put there: more than the writes that are tried one by one."""
    events = [
        line("n0", 1, 0, "Unlocked"),
        shelf(1, 10, "Made", version=0),
        shelf(2, 40_000, "Counted", items=5),
    ]
    found = answer(events)
    assert found.verdict is not TraceVerdict.INCONSISTENT
    assert not found.violations


def test_a_line_out_of_order_does_not_end_the_check_of_a_slice_that_lacks_lines(line: Line, shelf: Line) -> None:
    """A line states a version before lines of lower ones, and a later line is wrong."""
    events = [
        line("n0", 1, 0, "Unlocked"),
        shelf(1, 10, "Made", version=0),
        shelf(2, 20, "Put", items=3, version=3),
        shelf(3, 60_000, "Put", items=1, version=1),
        shelf(4, 120_000, "Put", items=7, version=2),
    ]
    found = answer(events)
    assert found.verdict is TraceVerdict.INCONSISTENT
    assert 4 in {violation.place.line for violation in found.violations}
