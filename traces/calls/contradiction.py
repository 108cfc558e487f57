"""A contradiction among calls, as a violation that a report shows: which calls, when, and what they say."""

from __future__ import annotations

from collections.abc import Sequence

from assay.checker.interpreter.values.show import show_value
from assay.traces.calls.call import BoundCall
from assay.traces.calls.window import Window
from assay.traces.event import Event
from assay.traces.observe.observation import fields_of
from assay.traces.result import Blame, LineContradiction, LogViolation, Repair

MOST_LISTED = 12
"""How many calls of a contradiction are listed."""


def violation_of_window(name: str, calls: Sequence[BoundCall], window: Window, until: int) -> LogViolation:
    """The violation at the return of the call ``until``; ``name`` is the key of the calls, if they are of one."""
    event, rule = event_of_return(calls[until]), calls[until].observation.rule
    action = rule.steps[0][0].action if rule.steps else "observe"
    listed = [calls[at] for at in window.calls[-MOST_LISTED:]]
    contradiction = LineContradiction(
        tuple(event_of_return(each) for each in listed), _sentence(name, window), (), tuple(map(call_text, listed))
    )
    return LogViolation(event, action, (Blame(event, action, ()),), Repair("none", "", None), contradiction)


def event_of_return(each: BoundCall) -> Event:
    """The line that reports the outcome of a call."""
    return each.call.closing or each.call.shown or each.call.event


def _sentence(name: str, window: Window) -> str:
    count = len(window.calls)
    which = "this call" if count == 1 else f"these {count:,} calls"
    of = f" of {name}" if name else ""
    since = "whatever the state before" if window.whatever else "from the initial state on"
    overlap = "overlaps, and helps" if window.others == 1 else "overlap, and help"
    more = f"; {window.others:,} more {overlap} as little" if window.others else ""
    listed = f" (the last {MOST_LISTED} are listed)" if count > MOST_LISTED else ""
    return f"no order explains {which}{of}, {since}{more}{listed}"


def call_text(each: BoundCall) -> str:
    """``history.jsonl:3 to 7  write(value = 3), process 2``."""
    call = each.call
    first, last = (call.shown or call.event).record.place, event_of_return(each).record.place
    to = "" if last == first else f" to {last.line if last.file == first.file else last}"
    types = {own.field: own.binder.type for own in each.observation.rule.fields}
    values = ", ".join(
        f"{name} = {show_value(value, types[name])}"
        for name, value in each.observation.values
        if call.shown is None or call.event.fields.get(name) == fields_of(call.shown).get(name)
    )
    who = "" if call.caller is None or len(call.caller) != 2 else f", process {call.caller[1]}"
    outcome = " failed" if call.failed else "" if call.returned else " has not returned"
    return f"{first}{to}  {call.event.kind}({values}){outcome}{who}"
