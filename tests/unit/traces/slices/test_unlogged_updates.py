"""Updates of a slice without a line: what is supposed in their place, and what is not where lines are missing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.grammar.load import load_text
from assay.traces.options import Options
from assay.traces.result import TraceVerdict
from assay.traces.slices import slice_validator
from assay.traces.slices.versions import findings
from assay.traces.validate import validate

SHELVES = (
    (Path(__file__).parents[1] / "shelves.txt")
    .read_text(encoding="utf-8")
    .replace("GUARD", "bound room: t.items < Max")
)
PUSHED = "    on Pushed(slice: Shelf, version: Count) at version: put(slice)\n"
"""A line that does not say how many there are now."""

Line = Callable[..., Any]


JOLT = """\
action jolt(s: Shelf):
    when made: stand[s] is some(t)
    bound room: t.items < Max
    stand[s] := Stand(t.items + 1, t.version + 1)

next: jolt, """
JOLTED = SHELVES.replace("next: ", JOLT).replace("numbered put, take", "numbered put, take, jolt")
HIDDEN = JOLTED.replace("take, jolt\n", "take, jolt\n    hidden jolt; at most 2 between two pinned events\n")
"""Shelves that are jolted, which puts something there: a logged action, or a hidden one."""


def test_a_write_without_a_line_that_another_line_has_shown_already_is_counted_once(line: Line, shelf: Line) -> None:
    events = [
        line("n0", 1, 0, "Unlocked"),
        shelf(1, 10, "Made", version=0),
        shelf(2, 20, "Counted", items=1),
        shelf(3, 30, "Seen", items=2, version=2),
    ]
    found = validate(load_text(HIDDEN), events)
    assert (found.verdict, found.reason, found.violations) == (TraceVerdict.CONSISTENT, None, ())
    assert found.hidden == {"jolt": 1}


SHAKEN = (
    SHELVES.replace(
        "action mark(",
        "action shake(s: Shelf):\n    when made: stand[s] is some(t)\n    pick n in {0, 1, 2}\n    stand[s] := Stand(n, t.version + 1)\n\naction mark(",
    )
    .replace("take, mark", "take, mark, shake")
    .replace("numbered put, take", "numbered put, take, shake\n    hidden shake; at most 2 between two pinned events")
    .replace("    on Marked", PUSHED + "    on Marked")
)
"""Shelves that are shaken without a line, so that how much is on them then is not known."""


@pytest.mark.parametrize(
    ("widths", "verdict"), [((1, 4), TraceVerdict.CONSISTENT), ((1, 1), TraceVerdict.INCONCLUSIVE)]
)
def test_ways_that_were_not_followed_are_followed_before_a_line_is_called_wrong(
    widths: tuple[int, int], verdict: TraceVerdict, line: Line, shelf: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only a shelf with two things on it holds three after the next is put there."""
    monkeypatch.setattr(slice_validator, "WIDTHS", widths)
    monkeypatch.setattr(findings, "WIDTHS", widths)
    logged = [line("n0", 1, 0, "Unlocked"), shelf(1, 10, "Made", version=0), shelf(2, 20, "Pushed", version=2)]
    found = validate(load_text(SHAKEN), [*logged, shelf(3, 30, "Counted", items=3)])
    assert (found.verdict, found.violations) == (verdict, ())
    if verdict is TraceVerdict.INCONCLUSIVE:
        assert "fits none of 1 histories that were followed" in str(found.reason)


@pytest.mark.parametrize("widths", [(1, 4), (4, 4)])
def test_a_line_that_fits_no_way_at_all_is_wrong(
    widths: tuple[int, int], line: Line, shelf: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slice_validator, "WIDTHS", widths)
    logged = [line("n0", 1, 0, "Unlocked"), shelf(1, 10, "Made", version=0), shelf(2, 20, "Pushed", version=2)]
    found = validate(load_text(SHAKEN), [*logged, shelf(3, 30, "Counted", items=4)])
    assert (found.verdict, len(found.violations)) == (TraceVerdict.INCONSISTENT, 1)


SNEAK = JOLT.replace("jolt", "sneak")


@pytest.mark.parametrize(("unlocked", "remarks"), [(30, []), (100, ["it was locked"])])
def test_what_can_be_explained_without_a_reported_action_is(
    unlocked: int, remarks: list[str], line: Line, shelf: Line
) -> None:
    """Something is put on the shelf: by whoever may, once it is unlocked, or at any time by whoever may not."""
    text = SHELVES.replace("next: ", SNEAK)
    text = text.replace("at version: put(slice)", "at version: sneak(slice) or put(slice)")
    text = text.replace("report mark", 'report sneak as known "it was locked"\n    report mark')
    text = text.replace("order: file;", "order: file; commit before line within 20 ms;")
    events = [
        line("n0", 1, unlocked, "Unlocked"),
        shelf(1, 10, "Made", version=0),
        shelf(2, 40, "Put", items=1, version=1),
    ]
    found = validate(load_text(text), events)
    assert found.verdict is TraceVerdict.CONSISTENT
    assert [remark.text for remark in found.slices[0].remarks] == remarks


@pytest.mark.parametrize("spec", [HIDDEN, JOLTED], ids=["hidden", "line lost"])
def test_an_update_without_a_line_of_its_own_may_be_restated_much_later(line: Line, shelf: Line, *, spec: str) -> None:
    events = [
        line("n0", 1, 0, "Unlocked"),
        shelf(1, 10, "Made", version=0),
        shelf(2, 30, "Seen", items=2, version=2),
        shelf(3, 20_000, "Seen", items=1, version=1, node="n2"),
    ]
    assert validate(load_text(spec), events).verdict is TraceVerdict.CONSISTENT


NUMBERED = "    on Refused(slice: Shelf, version: Count) at version: observe stand[slice] is some(t) and t.version == version\n"
"""A line that says of a write nothing but its number."""


@pytest.mark.parametrize(
    ("last", "verdict"), [("Refused", TraceVerdict.INCONCLUSIVE), ("Seen", TraceVerdict.INCONSISTENT)]
)
def test_a_line_that_says_nothing_but_its_number_restates_no_other_write(
    last: str, verdict: TraceVerdict, line: Line, shelf: Line
) -> None:
    text = SHELVES.replace("    on Marked", NUMBERED + "    on Marked")
    events = [
        line("n0", 1, 0, "Unlocked"),
        shelf(1, 10, "Made", version=0),
        shelf(2, 30, last, items=0, version=3),
    ]
    found = validate(load_text(text), events)
    assert (found.verdict, len(found.violations)) == (verdict, verdict is TraceVerdict.INCONSISTENT)


def test_where_lines_are_missing_no_write_is_supposed_in_their_place(line: Line, shelf: Line) -> None:
    events = [
        line("n0", 1, 0, "Unlocked"),
        shelf(1, 10, "Made", version=0),
        shelf(2, 30, "Seen", items=2, version=2),
    ]
    assert validate(load_text(HIDDEN), events).verdict is TraceVerdict.CONSISTENT
    found = validate(load_text(HIDDEN), events, options=Options(partial=True))
    assert (found.verdict, found.rests_on) == (TraceVerdict.CONSISTENT, ("a-1: no line tells of write 1",))


@pytest.mark.slow
def test_where_lines_are_missing_what_they_may_explain_is_no_mismatch(line: Line, shelf: Line) -> None:
    """Three things at once: the line that would say how is not there, and what comes after it may rest on that."""
    events = [
        line("n0", 1, 0, "Unlocked"),
        shelf(1, 10, "Made", version=0),
        shelf(2, 30, "Seen", items=3, version=1),
        shelf(3, 40, "Counted", items=3),
        shelf(4, 50, "Put", items=1, version=2),
    ]
    loaded = load_text(SHELVES)
    assert validate(loaded, events).verdict is TraceVerdict.INCONSISTENT
    found = validate(loaded, events, options=Options(partial=True))
    assert (found.verdict, found.violations, found.properties) == (TraceVerdict.INCONCLUSIVE, (), ())
    wrong = [*events[:2], shelf(2, 30, "Put", items=2, version=1)]
    (violation,) = validate(loaded, wrong, options=Options(partial=True)).violations
    assert violation.place.line == 2


def test_a_write_of_which_a_later_line_tells_is_not_supposed_before(line: Line, shelf: Line) -> None:
    """Another node counts what is on a shelf before the line about it is written: that was no jolt; version 2 was."""
    events = [
        line("n0", 1, 0, "Unlocked"),
        shelf(1, 10, "Made", version=0),
        shelf(1, 20, "Counted", node="n2", items=1),
        shelf(2, 25, "Put", items=1, version=1),
        shelf(3, 40, "Put", items=3, version=3),
    ]
    found = validate(load_text(HIDDEN), events)
    assert (found.verdict, found.violations, found.hidden) == (TraceVerdict.CONSISTENT, (), {"jolt": 1})
