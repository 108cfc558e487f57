"""Reads facts off lines about things that were never logged, and makes inferred events of them
(docs/design/inferred-events.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from assay.traces.event import INFERRED, Event, Field, LogPosition, LogRecord, ProcessRun
from assay.traces.log_reader import LogReading
from assay.traces.patterns.rule_files import rule_file
from assay.traces.store.packed_records import NEVER
from assay.traces.table.statement_ids import EveryKind

NEAR = 1_000
"""Milliseconds between two lines about one change of the members."""


class Fact(NamedTuple):
    """A fact that lines report, and the first line that does."""

    event: Event
    time: int

    def get(self, field: str) -> Field:
        """The value of a field of the fact; None if it has none."""
        return self.event.fields.get(field)


class UntimedEvent(NamedTuple):
    """An inferred event before its time is adjusted to its stream."""

    kind: str
    fields: Mapping[str, Field]
    time: int
    place: LogPosition
    text: str


def all_facts(reading: LogReading, names: frozenset[str]) -> list[Fact]:
    """The distinct facts that lines report in some fields, by the time of the first report."""
    events = reading.events
    statements = events.statements(EveryKind(names | {"run"}))
    never = np.iinfo(np.int64).max
    times = np.where(events.times == NEVER, never, events.times.astype(np.int64))
    first = np.minimum.reduceat(times[statements.order], statements.begins[:-1]) if len(times) else times
    rows = zip(events.at(statements.examples), first.tolist(), strict=True)
    return sorted((Fact(event, time) for event, time in rows if event.pattern and time != never), key=_time)


def _time(fact: Fact) -> int:
    return fact.time


def stream(name: str, events: Sequence[UntimedEvent]) -> Iterator[Event]:
    """Inferred events as one stream. Times are lowered so that none is later than those after it."""
    run = ProcessRun(INFERRED, 1)
    latest = np.minimum.accumulate([event.time for event in events][::-1])[::-1].tolist() if events else []
    for event, time in zip(events, latest, strict=True):
        record = LogRecord(event.place, time, "INFO", "", None, event.text)
        yield Event(event.kind, "", event.fields, record, run, f"{INFERRED} {name}")


@cache
def data() -> Mapping[str, Any]:
    """Which facts are read off which lines (``patterns/rules/inferred_events.toml``)."""
    return rule_file("inferred_events.toml")
