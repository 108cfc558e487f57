"""Values of any type are shown in a contradiction as people write them."""

from __future__ import annotations

import pytest

from assay.grammar.values import Atom, FrozenMap, RecordValue, Some, Value, VariantValue
from assay.traces.event import Event, LogPosition, LogRecord, ProcessRun
from assay.traces.explain.contradiction import _text, _time


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (Some(3), "3"),
        (None, "none"),
        (True, "true"),
        ((Some(1), 2), "[1, 2]"),
        (frozenset({Atom("Node", 1, "b"), Atom("Node", 0, "a")}), "[a, b]"),
        (VariantValue("Free", ()), "Free"),
        (VariantValue("Held", (Atom("Node", 0, "a"), 7)), "Held(a, 7)"),
        (RecordValue((1, False)), "(1, false)"),
        (FrozenMap({Atom("Node", 0, "a"): Some(1)}), "[a -> 1]"),
    ],
)
def test_a_value_is_shown_without_what_python_wraps_it_in(value: Value, shown: str) -> None:
    assert _text(value) == shown


@pytest.mark.parametrize(("time", "shown"), [(None, "no stated time"), (-(10**14), "00:00:00"), (61_000, "00:01:01")])
def test_a_time_that_no_calendar_has_is_shown_as_the_nearest(time: int | None, shown: str) -> None:
    record = LogRecord(LogPosition("a.log", 1, 0), time, "INFO", "", None, "")
    assert _time(Event("A", "", {}, record, ProcessRun("n", 1))) == shown
