"""What is read off lines about things of which no line tells, and how it becomes events (docs/design/inferred-events.md)."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np

from assay.traces.event import SUPPOSED, Event, Field, LogPosition, LogRecord, ProcessRun
from assay.traces.log_reader import LogReading
from assay.traces.store.packed_records import NEVER
from assay.traces.table.statement_ids import Everywhere

NEAR = 1_000
"""Milliseconds between two lines about one change of the members."""


class Said(NamedTuple):
    """Something that lines say, and when the first of them does."""

    event: Event
    time: int

    def get(self, field: str) -> Field:
        """What they say of a field; None where nothing."""
        return self.event.fields.get(field)


class Guess(NamedTuple):
    """An event to be supposed, without its time's correction."""

    kind: str
    fields: Mapping[str, Field]
    time: int
    place: LogPosition
    text: str


def all_said(reading: LogReading, names: frozenset[str]) -> list[Said]:
    """Each thing that lines say in some fields, by the time when the first of them does."""
    events = reading.events
    statements = events.statements(Everywhere(names | {"run"}))
    never = np.iinfo(np.int64).max
    times = np.where(events.times == NEVER, never, events.times.astype(np.int64))
    first = np.minimum.reduceat(times[statements.order], statements.begins[:-1]) if len(times) else times
    rows = zip(events.at(statements.examples), first.tolist(), strict=True)
    return sorted((Said(event, time) for event, time in rows if event.shape and time != never), key=_time)


def _time(said: Said) -> int:
    return said.time


def stream(name: str, guesses: Sequence[Guess]) -> Iterator[Event]:
    """The guesses as events of one stream, whose times do not go backwards: none is later than those after it."""
    run = ProcessRun(SUPPOSED, 1)
    latest = np.minimum.accumulate([guess.time for guess in guesses][::-1])[::-1].tolist() if guesses else []
    for guess, time in zip(guesses, latest, strict=True):
        record = LogRecord(guess.place, time, "INFO", "", None, guess.text)
        yield Event(guess.kind, "", guess.fields, record, run, f"{SUPPOSED} {name}")


@cache
def data() -> dict[str, Any]:
    """What is read off which lines (``patterns/rules/inferred_events.toml``)."""
    return tomllib.loads((files("assay.traces.patterns.rules") / "inferred_events.toml").read_text(encoding="utf-8"))
