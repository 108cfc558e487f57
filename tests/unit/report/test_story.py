"""The story of a slice: its changes in words, each with its line, and the times that are measured between them."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from tests.measuring import measured

from assay.grammar.load import load_text
from assay.report.logs.impact import impact_lines, impact_object
from assay.report.logs.story import story_lines, story_object
from assay.traces.event import Event, LogPosition, LogRecord, ProcessRun
from assay.traces.result import Validation

DOORS = """\
module doors

param Door: set = {d}

state:
    awake: bool = false
    open: map[Door, bool] = [d -> false]

action move(d: Door):
    open[d] := not open[d]

action wake:
    awake := true

trace log:
    from toy
    slice Door by door
    on Woke: wake
    on Moved(slice: Door): move(slice)
    measure ajar(slice: Door) "the door is open": open[slice]
    order: file; commit before line within 10 ms
"""


def line(number: int, time: int, kind: str, **fields: str) -> Event:
    record = LogRecord(LogPosition("house/a.log", number, 0), time, "INFO", "toy", None, kind)
    return Event(kind, "", MappingProxyType(fields), record, ProcessRun("house", 1))


def answer() -> Validation:
    loaded = load_text(DOORS)
    moves = [line(number, time, "Moved", door="front") for number, time in enumerate((1_000, 4_000, 6_000), start=1)]
    events = [line(9, 0, "Woke"), *moves]
    return measured(loaded, events, {})


def said(lines: Any) -> list[str]:
    return [line.text for line in lines]


def test_each_change_stands_with_its_line_between_the_times_that_are_measured() -> None:
    assert said(story_lines(answer(), "front", lambda _: "the door moved")) == [
        "",
        "the story of front",
        "  consistent",
        "  00:00:01.000  ajar begins: the door is open, for 3.0 to 3.0 s",
        "  00:00:01.000  house: the door moved",
        "                  move(front), house/a.log:1",
        "                  open false → true",
        "  00:00:04.000  ajar ends",
        "  00:00:04.000  house: the door moved",
        "                  move(front), house/a.log:2",
        "                  open true → false",
        "  00:00:06.000  house: the door moved",
        "                  move(front), house/a.log:3",
        "                  open false → true",
    ]


def test_of_a_slice_that_there_is_not_nothing_is_told() -> None:
    assert said(story_lines(answer(), "back", lambda _: "")) == []
    assert story_object(answer(), "back", lambda _: "") == {"slice": "back", "steps": []}


def test_the_story_is_an_object_too() -> None:
    steps = story_object(answer(), "front", lambda _: "the door moved")["steps"]
    assert [(step["time_ms"], step["line"], step["changes"][0]["after"]) for step in steps] == [
        (1_000, 1, "true"),
        (4_000, 2, "false"),
        (6_000, 3, "true"),
    ]


def test_the_impact_names_the_measure_the_slice_and_the_bounds() -> None:
    found = answer()
    assert said(impact_lines(found)) == [
        "",
        "impact: for how long, at least and at most",
        "  ajar: the door is open",
        "    front: 3.0 to 3.0 s from 00:00:01.000 to 00:00:04.000 (house/a.log:2)",
    ]
    (impact,) = (impact_object(each) for each in found.impact)
    assert (impact["at_least_ms"], impact["at_most_ms"]) == (2_990, 3_010)
    assert impact["spells"][0]["ended"] == {"file": "house/a.log", "line": 2}


def test_no_name_is_no_slice() -> None:
    assert said(story_lines(answer(), "", lambda _: "")) == []
    assert story_object(answer(), "", lambda _: "") == {"slice": "", "steps": []}
