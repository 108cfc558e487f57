"""Measures and notes of a trace clause on the execution that was found, with what the lines leave open as bounds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf

from tests.measuring import measured as of_events

from assay.grammar.kernel import Ordering
from assay.grammar.load import load_text
from assay.traces.event import Event, Field
from assay.traces.impact.step_times import timeline
from assay.traces.result import ExecutedStep, Execution, Impact, Validation

DESKS = """\
module desks

param Clerk: set = {c}
param Desk: set = {d}
size param Max: int = 3

state:
    at_work: set[Clerk] = {}
    holder: map[Desk, Clerk?] = [x -> none]
    queue: map[Desk, 0 .. Max] = [x -> 0]

action come(k: Clerk):
    at_work := at_work + {k}

action leave(k: Clerk):
    when here: k in at_work
    at_work := at_work - {k}

action take(x: Desk, k: Clerk):
    when here: k in at_work
    holder[x] := k

action line_up(x: Desk, n: 0 .. Max):
    queue[x] := n

next: come, leave, take, line_up

trace log:
    from toy
    slice Desk by room, desk
    on Came(node: Clerk): come(node)
    on Left(who: Clerk): leave(who)
    on Seen(who: Clerk): observe who in at_work
    on Taken(slice: Desk, who: Clerk): take(slice, who)
    on Queue(slice: Desk, waiting: 0 .. Max): line_up(slice, waiting)
    ignore Spilt, Told "told apart"
    ends leave
    measure empty_house "nobody is there": at_work == {}
    measure unserved(slice: Desk) "nobody serves": holder[slice] is some(k) and k not in at_work
    measure crowded(slice: Desk, most: int) "too many wait": queue[slice] > most
    note Spilt(slice: Desk, cups: int) as risk "{cups} cups are lost": queue[slice] > 1
    order: file; commit before line within 10 ms; skew 0 ms
"""

Line = Callable[..., Event]


def measured(events: Sequence[Event], settings: dict[str, Field] | None = None, since: int | None = None) -> Validation:
    return of_events(load_text(DESKS), events, settings or {}, since)


def of(found: Validation, measure: str) -> Impact:
    return next(each for each in found.impact if each.measure == measure)


def test_a_condition_is_measured_from_line_to_line_with_the_delay_of_lines_as_bounds(line: Line) -> None:
    events = [line("a", 1, 0, "Came"), line("b", 1, 1_000, "Left", who="a"), line("a", 2, 3_000, "Came")]
    (spell,) = of(measured([*events, line("a", 3, 9_000, "Told")]), "empty_house").spells
    assert (spell.begin, spell.end, spell.at_least, spell.at_most) == (1_000, 3_000, 1_990, 2_010)
    assert spell.begun is not None
    assert spell.begun.kind == "Left"
    assert not spell.lasting


def test_what_a_late_line_saw_before_a_step_does_not_make_the_step_late(line: Line) -> None:
    events = [
        line("a", 1, 0, "Came"),
        line("a", 2, 1_000, "Told"),
        line("b", 1, 1_000, "Left", who="a"),
        line("e", 1, 1_005, "Came"),
        line("e", 2, 9_000, "Told"),
    ]
    (spell,) = of(measured([*events, line("g", 1, 1_008, "Seen", who="a")]), "empty_house").spells
    assert (spell.begin, spell.end) == (1_000, 1_005)
    assert (spell.at_least, spell.at_most) == (0, 7)


def test_what_began_and_ended_by_lines_of_one_time_is_no_less_measured(line: Line) -> None:
    events = [
        line("a", 1, 0, "Came"),
        line("b", 1, 100, "Taken", who="a", room="r", desk=1),
        line("b", 2, 4_000, "Left", who="a"),
        line("e", 1, 4_000, "Came"),
        line("b", 3, 4_000, "Taken", who="e", room="r", desk=1),
    ]
    (spell,) = of(measured(events), "unserved").spells
    assert (spell.begin, spell.end, spell.at_least) == (100, 4_000, 0)


def test_a_line_from_long_after_a_step_does_not_make_what_follows_late(line: Line) -> None:
    """Such as one of somebody who reads all changes again when it starts."""
    steps = [(9_000, "replayed"), (1_000, "first"), (2_000, "second"), (9_500, "third")]
    run = Execution((), tuple(ExecutedStep(line("n", at, at, "Put"), name, (), ()) for at, name in steps))
    found = timeline(run, Ordering(commit_before_line=10), 0.0)[1:]
    assert [(each.at, each.early, each.late) for each in found] == [
        (1_000, -inf, 1_000),
        (1_000, 990, 1_000),
        (2_000, 1_990, 2_000),
        (9_500, 9_490, 9_500),
    ]


def test_what_holds_at_the_end_of_the_log_is_said_to_last(line: Line) -> None:
    events = [line("a", 1, 0, "Came"), line("b", 1, 1_000, "Left", who="a"), line("b", 2, 5_000, "Told")]
    spell = of(measured(events), "empty_house").spells[-1]
    assert (spell.lasting, spell.ended, spell.at_least) == (True, None, 4_000)


def test_a_process_that_wrote_its_last_line_may_have_ended_then(line: Line) -> None:
    events = [
        line("a", 1, 0, "Came"),
        line("b", 1, 0, "Came"),
        line("b", 2, 100, "Taken", who="a", room="r", desk=1),
        line("a", 2, 500, "Told"),
        line("b", 3, 4_000, "Left", who="a"),
        line("b", 4, 5_000, "Taken", who="b", room="r", desk=1),
    ]
    impact = of(measured(events), "unserved")
    assert impact.slice == "r-1"
    (spell,) = impact.spells
    assert (spell.begin, spell.end) == (500, 5_000)
    assert (spell.at_least, spell.at_most) == (990, 4_500)


def test_an_end_that_nothing_shows_is_not_supposed(line: Line) -> None:
    events = [
        line("a", 1, 0, "Came"),
        line("b", 1, 0, "Came"),
        line("b", 2, 100, "Taken", who="a", room="r", desk=1),
        line("b", 3, 9_000, "Told"),
    ]
    assert [each for each in measured(events).impact if each.measure == "unserved"] == []


def queues(line: Line) -> list[Event]:
    return [
        line("a", 1, 0, "Came"),
        line("a", 2, 100, "Queue", room="r", desk=1, waiting=2),
        line("a", 3, 200, "Queue", room="r", desk=1, waiting=0),
    ]


def test_a_field_of_a_measure_is_what_a_line_stated_or_else_the_configuration(line: Line) -> None:
    events = [*queues(line), line("a", 4, 300, "Told", room="r", desk=1, most=2)]
    assert [each for each in measured(events, {"most": 1}).impact if each.measure == "crowded"] == []
    assert of(measured(queues(line), {"most": "1"}), "crowded").at_least == 90


def test_a_measure_whose_field_nothing_states_says_so(line: Line) -> None:
    impact = of(measured(queues(line)), "crowded")
    assert (impact.spells, impact.unstated) == ((), ("most",))


def test_an_event_is_noted_where_its_condition_holds(line: Line) -> None:
    spilt = {"room": "r", "desk": 1, "cups": 3}
    events = [*queues(line), line("b", 1, 150, "Spilt", **spilt), line("b", 2, 250, "Spilt", **spilt)]
    (result,) = measured(events).slices
    assert [(each.severity, each.text, each.event.record.time) for each in result.remarks] == [
        ("risk", "3 cups are lost", 150)
    ]


def test_what_ended_before_the_time_that_is_asked_for_is_left_out(line: Line) -> None:
    events = queues(line)
    assert of(measured(events, {"most": 1}, since=150), "crowded").spells
    assert [each for each in measured(events, {"most": 1}, since=201).impact if each.measure == "crowded"] == []
