"""What is known of the order of lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from assay.grammar.kernel import Ordering, TraceRule
from assay.traces.event import Event
from assay.traces.observe.observation import Observation
from assay.traces.observe.partial_order import OrderedObservation, PartialOrder, order

Line = Callable[..., Event]


def ordered(events: Sequence[Event], within: int | None = None, skew: int = 0) -> PartialOrder:
    """The order of the events, each seen by a rule that says nothing."""
    rule = TraceRule("rule", "Joined", (), None, (), None, None)
    return order([Observation(event, rule, {}, ()) for event in events], Ordering("file", within, skew))


def item(found: PartialOrder, place: str) -> OrderedObservation:
    """The item of a line."""
    return next(each for each in found.items if str(each.observation.event.record.place) == place)


def test_lines_of_one_file_are_one_stream_in_the_order_of_the_file(line: Line) -> None:
    found = ordered([line("n1", 1, 20, "Joined"), line("n1", 2, 10, "Joined"), line("n2", 1, 5, "Joined")])
    assert [[each.observation.event.record.place.line for each in s.items] for s in found.streams] == [[1, 2], [1]]


def test_without_a_declared_window_times_order_nothing(line: Line) -> None:
    found = ordered([line("n1", 1, 0, "Joined"), line("n2", 1, 1_000_000, "Joined")])
    assert not found.precedes(item(found, "n1/a.log:1"), item(found, "n2/a.log:1"))


@pytest.mark.parametrize(("time", "certain"), [(115, False), (116, True)])
def test_a_line_precedes_another_if_window_and_skew_leave_no_doubt(line: Line, time: int, certain: bool) -> None:
    found = ordered([line("n1", 1, 100, "Joined"), line("n2", 1, time, "Joined")], within=10, skew=5)
    assert found.precedes(item(found, "n1/a.log:1"), item(found, "n2/a.log:1")) is certain


def test_there_is_no_skew_within_a_node(line: Line) -> None:
    found = ordered([line("n1", 1, 100, "Joined"), line("n1", 1, 112, "Joined", file="b.log")], within=10, skew=5)
    assert found.precedes(item(found, "n1/a.log:1"), item(found, "n1/b.log:1"))


def test_times_that_go_backwards_in_a_file_make_no_circle(line: Line) -> None:
    found = ordered(
        [line("n1", 1, 200, "Joined"), line("n1", 2, 100, "Joined"), line("n2", 1, 150, "Joined")], within=10
    )
    other = item(found, "n2/a.log:1")
    for place in ("n1/a.log:1", "n1/a.log:2"):
        assert not found.precedes(item(found, place), other)
        assert not found.precedes(other, item(found, place))


def test_a_later_run_of_a_node_comes_after_all_files_of_an_earlier_one(line: Line) -> None:
    found = ordered(
        [line("n1", 1, 10, "Joined"), line("n1", 1, 10, "Joined", file="b.log"), line("n1", 2, 20, "Joined", run=2)]
    )
    assert [stream.after for stream in found.streams] == [(), (), (0, 1)]


def test_a_line_without_a_time_takes_that_of_the_line_before(line: Line) -> None:
    found = ordered([line("n1", 1, 10, "Joined"), line("n1", 2, None, "Joined"), line("n1", 3, 30, "Joined")], within=1)
    assert [each.time for each in found.items] == [10, 10, 30]


def test_a_file_without_times_is_ordered_by_nothing_but_itself(line: Line) -> None:
    found = ordered([line("n1", 1, None, "Joined"), line("n2", 1, 10, "Joined")], within=1)
    first, second = item(found, "n1/a.log:1"), item(found, "n2/a.log:1")
    assert not found.precedes(first, second)
    assert not found.precedes(second, first)
