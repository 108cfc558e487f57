"""All slices of a log together: guards that read across them, and one execution that suits all of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.grammar.load import load_text
from assay.traces.options import Options
from assay.traces.result import TraceVerdict, Validation
from assay.traces.validate import ALLOWS_LESS, LACKS_LINES, validate

SHELVES = (Path(__file__).parents[1] / "shelves.txt").read_text(encoding="utf-8")
ROOM = "bound room: t.items < Max"
ALONE = "when alone: forall r in Shelf: r == s or stand[r] == none"
TOGETHER = Options(whole=True)

Line = Callable[..., Any]


def answer(events: list[Any], guard: str = ROOM, options: Options = TOGETHER) -> Validation:
    return validate(load_text(SHELVES.replace("GUARD", guard)), events, options=options)


def test_a_guard_that_reads_across_slices_is_checked_together(line: Line, shelf: Line) -> None:
    events = [line("n0", 1, 0, "Unlocked"), shelf(1, 10, "Made", version=0), shelf(2, 20, "Put", items=1, version=1)]
    found = answer(events, ALONE)
    assert (found.verdict, found.relaxed) == (TraceVerdict.CONSISTENT, ())
    assert found.whole is not None
    assert found.whole.guards == (("put", "alone"),)


@pytest.mark.slow
def test_what_breaks_a_guard_across_slices_is_found_together_and_only_so(line: Line, shelf: Line) -> None:
    events = [
        line("n0", 1, 0, "Unlocked"),
        shelf(1, 10, "Made", version=0),
        shelf(2, 11, "Made", 2, version=0),
        shelf(3, 500, "Put", items=1, version=1),
    ]
    assert answer(events, ALONE, Options()).verdict is TraceVerdict.CONSISTENT
    found = answer(events, ALONE)
    assert found.verdict is TraceVerdict.INCONSISTENT
    (violation,) = found.violations
    assert violation.place.line in {2, 3}
    assert "alone" in {part.label for blame in violation.blame for part in blame.parts}


def test_slices_that_only_seem_to_contradict_a_guard_are_put_in_another_order(line: Line, shelf: Line) -> None:
    events = [
        line("n0", 1, 0, "Unlocked"),
        shelf(1, 10, "Made", version=0),
        shelf(1, 11, "Made", 2, node="n2", version=0),
        shelf(2, 12, "Put", items=1, version=1),
    ]
    found = answer(events, ALONE)
    assert found.verdict is TraceVerdict.CONSISTENT


def test_a_slice_that_was_made_anew_is_one_of_its_own(line: Line, shelf: Line) -> None:
    events = [
        line("n0", 1, 0, "Unlocked"),
        shelf(1, 10, "Made", version=0),
        shelf(2, 20, "Put", items=1, version=1),
        shelf(3, 500, "Made", version=0),
        shelf(4, 520, "Seen", items=0, version=0),
    ]
    found = answer(events)
    assert (found.verdict, [each.name for each in found.slices]) == (TraceVerdict.CONSISTENT, ["a-1", "a-1#2"])
    assert found.whole is not None
    assert found.whole.lines == 5


def test_a_write_with_several_lines_is_one_step(line: Line, shelf: Line) -> None:
    events = [
        line("n0", 1, 0, "Unlocked"),
        shelf(1, 10, "Made", version=0),
        shelf(2, 20, "Put", items=1, version=1),
        shelf(3, 25, "Put", items=1, version=1),
        shelf(4, 60, "Seen", items=1, version=1),
        shelf(5, 80, "Seen", items=2, version=2),
    ]
    assert answer(events).verdict is TraceVerdict.CONSISTENT


def test_lines_that_are_missing_are_missing_from_the_whole_too(line: Line, shelf: Line) -> None:
    events = [line("n0", 1, 0, "Unlocked"), shelf(1, 10, "Made", version=0), shelf(2, 20, "Seen", items=1, version=3)]
    found = answer(events)
    assert found.verdict is TraceVerdict.INCONCLUSIVE
    assert found.whole is not None
    assert (found.whole.verdict, found.whole.reason) == (TraceVerdict.INCONCLUSIVE, f"a-1: {LACKS_LINES}")


def test_a_mismatch_of_a_slice_is_one_of_the_whole(line: Line, shelf: Line) -> None:
    events = [line("n0", 1, 0, "Unlocked"), shelf(1, 10, "Made", version=0), shelf(2, 20, "Put", items=2, version=1)]
    found = answer(events)
    assert found.verdict is TraceVerdict.INCONSISTENT
    assert found.whole is not None
    assert (found.whole.verdict, found.whole.reason) == (TraceVerdict.INCONSISTENT, ALLOWS_LESS)
    assert len(found.violations) == len(answer(events, options=Options()).violations)


def test_a_search_that_is_given_too_little_says_so_with_its_size(line: Line, shelf: Line) -> None:
    """The second shelf is made after the first is filled: line by line, in the order of times, there is no way."""
    events = [
        line("n0", 1, 0, "Unlocked"),
        shelf(1, 10, "Made", version=0),
        shelf(1, 11, "Made", 2, node="n2", version=0),
        shelf(2, 12, "Put", items=1, version=1),
    ]
    found = answer(events, ALONE, Options(whole=True, nodes=1))
    assert found.verdict is TraceVerdict.INCONCLUSIVE
    assert "of 4 lines of 2 slices together" in str(found.reason)
