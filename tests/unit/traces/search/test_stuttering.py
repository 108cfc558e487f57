"""Of lines that repeat what all slices share, the first and the last of a stretch are compared; nothing else is left out."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import numpy as np
import pytest

from assay.grammar import kernel as k
from assay.grammar.load import Loaded, load_text
from assay.traces.event import Event, LogPosition, LogRecord, ProcessRun
from assay.traces.observe.binding import EventBinder, bind
from assay.traces.observe.model_size import sized_kernel
from assay.traces.result import TraceVerdict, Validation
from assay.traces.search.stuttering import compared_events, compared_order, is_repeatable, without_stuttering
from assay.traces.search.transition_system import TraceModel
from assay.traces.table.event_selection import Selection
from assay.traces.table.event_table import EventTable
from assay.traces.validate import validate


def left(loaded: Loaded, events: list[Event]) -> list[int]:
    """The lines that are compared."""
    kernel, plan = sized_kernel(loaded, events, len(events), None)
    seen = bind(plan, events, lambda rule, values: True).observations
    kept = without_stuttering(kernel, seen, lambda each: each.event.run)
    assert [each for each in seen if each in kept] == kept
    return [each.event.record.place.line for each in kept]


def test_the_ends_of_a_stretch_are_kept(election: Callable[..., Loaded], line: Callable[..., Event]) -> None:
    said: list[tuple[str, dict[str, int]]] = [
        ("Joined", {}),
        *[("Leading", {"number": 0})] * 4,
        ("Elected", {"number": 1}),
        *[("Leading", {"number": 1})] * 3,
    ]
    events = [line("n1", number, 100 + number, kind, **fields) for number, (kind, fields) in enumerate(said, 1)]
    assert left(election(), events) == [1, 2, 5, 6, 7, 9]


def test_an_action_that_writes_something_else_each_time_is_always_compared(election: Callable[..., Loaded]) -> None:
    kernel = election().kernel
    rules: dict[str, k.TraceRule] = {rule.event: rule for rule in kernel.traces[0].rules}
    assert is_repeatable(kernel, rules["Leading"])
    assert not any(is_repeatable(kernel, rules[kind]) for kind in ("Joined", "Elected", "Left"))


def test_an_action_with_an_argument_that_no_line_tells_is_always_compared() -> None:
    kernel = load_text(TOLD.replace("on Rose: rise\n", "on Rose: rise\n    on Some: say(_)\n")).kernel
    rules: dict[str, k.TraceRule] = {rule.event: rule for rule in kernel.traces[0].rules}
    assert is_repeatable(kernel, rules["Said"])
    assert not is_repeatable(kernel, rules["Some"])


def test_two_equal_lines_are_both_compared(election: Callable[..., Loaded], line: Callable[..., Event]) -> None:
    events = [line("n1", number, 100, "Leading", number=0) for number in (1, 2)]
    assert left(election(), events) == [1, 2]


LOOP = """\
module turns

state:
    ours: bool = true

action serve:
    when ours
    ours := false

action return_:
    when not ours
    ours := true

trace log:
    from events
    on Serve: serve
    on Return: return_
    order: file
"""


def played(kinds: str) -> Validation:
    """What is said of turns in one file, by their first letters."""
    names = {"s": "Serve", "r": "Return"}
    events = [
        Event(names[each], names[each], {}, LogRecord(LogPosition("x", at, 0), 100 + at, "INFO", "", None, ""), RUN)
        for at, each in enumerate(kinds, 1)
    ]
    return validate(load_text(LOOP), events)


RUN = ProcessRun("n1", 1)


def test_no_step_of_a_service_is_taken_for_a_repetition_of_the_step_before_the_last() -> None:
    assert played("srsrsrsr").verdict is TraceVerdict.CONSISTENT
    assert [each.place.line for each in played("srssrssr").violations] == [4, 7]


TOLD = """\
module told

size param Max: int = 3

state:
    said: 0 .. Max = 0
    epoch: 0 .. Max = 0

action say(v: 0 .. Max):
    said := v

action rise:
    epoch := epoch + 1

next: say, rise

trace log:
    from toy
    on Said(number: 0 .. Max): say(number)
    on Rose: rise
    on Epoch(number: 0 .. Max): observe epoch == number
    on Both(number: 0 .. Max): say(number)
    on Both(number: 0 .. Max): observe epoch == number
    ignore Noise "says nothing"
    order: file; skew 0 ms
"""


@pytest.mark.parametrize("seed", range(20))
def test_in_columns_the_same_events_are_compared(line: Callable[..., Event], seed: int) -> None:
    random = Random(seed)
    said = random.choices(["Said", "Both", "Epoch", "Rose", "Noise"], [8, 4, 8, 1, 4], k=200)
    events = [
        line(
            node,
            at,
            100 + at,
            kind,
            **({} if kind in {"Rose", "Noise"} else {"number": random.randrange(1 + seed % 3)}),
        )
        for node in ("n1", "n2")
        for at, kind in enumerate(said, 1)
    ]
    kernel, plan = sized_kernel(load_text(TOLD), events, len(events), None)
    model = TraceModel(kernel, plan)
    stated: dict[object, int] = {}
    numbers = [stated.setdefault((each.kind, each.fields.get("number")), len(stated)) for each in events]
    selection = Selection(EventTable([events[:200], events[200:]]), np.arange(400), np.array(numbers, np.int32))
    binder = EventBinder(plan, model.applies)
    compared = compared_events(model, selection, binder.read(selection)).items
    expected = compared_order(model, binder.bind(events).observations).items
    assert [each.observation.event for each in compared] == [each.observation.event for each in expected]
    assert [each.observation.rule for each in compared] == [each.observation.rule for each in expected]
    assert len(compared) < len(events)
