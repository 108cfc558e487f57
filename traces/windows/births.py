"""Whether a log shows the birth of a cluster: then it begins in the first state of its model."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from assay.traces.event import Event, Field
from assay.traces.patterns.rule_files import rule_file


@cache
def _births() -> dict[str, tuple[str, Field]]:
    """The field and the value at birth, by the kind of event."""
    return {each["kind"]: (each["field"], each["value"]) for each in rule_file("births.toml")["birth"]}


def shows_birth(events: Iterable[Event]) -> bool:
    """Whether the first event of some kind, by time, has the value that it has at birth alone."""
    first: dict[str, Event] = {}
    for event in events:
        if event.kind in _births() and not event.is_inferred and event.record.time is not None:
            known = first.setdefault(event.kind, event)
            if event.record.time < (known.record.time or 0):
                first[event.kind] = event
    return any(event.fields.get(_births()[kind][0]) == _births()[kind][1] for kind, event in first.items())
