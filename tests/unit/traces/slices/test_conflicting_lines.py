"""Lines about one version that no update satisfies together contradict each other, by their conditions alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from assay.grammar.load import load_text
from assay.traces.shared_search import check
from assay.traces.slices.slice_lines import slice_item
from assay.traces.slices.slice_validator import Joiner
from assay.traces.slices.versions.conflicting_lines import contradicted

SHELVES = (
    (Path(__file__).parents[1] / "shelves.txt")
    .read_text(encoding="utf-8")
    .replace("GUARD", "bound room: t.items < Max")
)
CALLED = SHELVES.replace(
    "trace log:", "def holds(s: Shelf, n: Count): bool = stand[s] is some(t) and t.items == n\n\ntrace log:"
).replace(
    "observe stand[slice] is some(t) and t.items == items and",
    "observe holds(slice, items) and stand[slice] is some(t) and",
)
"""The same where a condition is that of a function."""

Line = Callable[..., Any]


def numbers(events: list[Any], text: str = SHELVES) -> frozenset[int]:
    checked = check(load_text(text), events)
    assert checked.joint is not None
    joiner = Joiner(checked.joint)
    (own,) = checked.parts.slices.values()
    items = [slice_item(number, seen) for number, seen in enumerate(joiner.lines(own).observations)]
    return frozenset(contradicted(joiner.model, items, {"stand", "marked"}))


def test_lines_that_agree_and_lines_of_different_writes_do_not_contradict_each_other(line: Line, shelf: Line) -> None:
    events = [
        line("n0", 1, 0, "Unlocked"),
        shelf(1, 10, "Made", version=0),
        shelf(2, 20, "Put", items=1, version=1),
        shelf(3, 30, "Seen", items=1, version=1),
        shelf(4, 40, "Seen", items=0, version=2),
        shelf(5, 50, "Counted", items=3),
    ]
    assert numbers(events) == frozenset()


def test_two_values_of_one_place_after_one_write_are_a_contradiction(line: Line, shelf: Line) -> None:
    events = [
        line("n0", 1, 0, "Unlocked"),
        shelf(1, 10, "Made", version=0),
        shelf(2, 20, "Put", items=1, version=1),
        shelf(3, 30, "Seen", items=2, version=1),
    ]
    assert numbers(events) == {1}


def test_what_a_function_compares_is_compared(line: Line, shelf: Line) -> None:
    events = [
        line("n0", 1, 0, "Unlocked"),
        shelf(1, 10, "Made", version=0),
        shelf(2, 20, "Seen", items=1, version=1),
        shelf(3, 30, "Seen", items=2, version=1),
    ]
    assert numbers(events, CALLED) == {1}
