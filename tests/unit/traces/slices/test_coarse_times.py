"""Lines of two files whose times do not tell which was first."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

from assay.grammar.kernel import TraceRule
from assay.traces.event import Event, LogPosition, LogRecord, ProcessRun
from assay.traces.observe.observation import Observation
from assay.traces.observe.partial_order import OrderedObservation
from assay.traces.slices.coarse_times import moved_forward, without_versions_first


def line(number: int, file: str, second: int, *, resolution: int = 1000, at: object = None) -> OrderedObservation:
    place = LogPosition(file, number + 1, 0)
    record = LogRecord(place, second * 1000, "INFO", "a.B", None, str(number), resolution)
    event = Event("Seen", "seen", {}, record, ProcessRun(file, 0))
    rule = cast("TraceRule", SimpleNamespace(at=at))
    seen = cast("Observation", SimpleNamespace(event=event, rule=rule))
    time = second * 1000.0
    return OrderedObservation(number, seen, 0, number, time, time, time + resolution - 1)


def test_a_line_goes_before_those_of_other_files_with_those_of_its_own_before_it() -> None:
    lines = [line(0, "a", 1), line(1, "a", 2), line(2, "b", 2), line(3, "a", 2), line(4, "b", 2), line(5, "b", 3)]
    moved = moved_forward(lines, lines[4].observation.event)
    assert moved is not None
    assert [each.observation.event.record.message for each in moved] == ["0", "2", "4", "1", "3", "5"]
    assert [each.index for each in moved] == [0, 1, 2, 3, 4, 5]
    assert moved_forward(moved, moved[2].observation.event) is None


def test_a_line_with_milliseconds_has_its_place() -> None:
    lines = [line(0, "a", 1, resolution=1), line(1, "b", 1, resolution=1)]
    assert moved_forward(lines, lines[1].observation.event) is None
    assert without_versions_first(lines) == lines


def test_a_line_without_a_version_may_be_tried_before_an_update_of_its_second() -> None:
    first, update = without_versions_first([line(0, "a", 1), line(1, "b", 1, at="version")])
    assert first.time < update.time
