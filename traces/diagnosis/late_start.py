"""From which time on logs are checked whose files begin at different times.

docs/design/late-start.md: Files are rotated apart: one begins at noon and another at three. Between the two everything is checked that the first one
tells, with what is supposed to have come before. Where a line has no explanation then, what the second would have said may be why, and so nothing
is learned from it; but everything after it would go unchecked too. So the logs are checked again from the next beginning of a file after that line on, and
what was written before is left out, and counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice

import numpy as np

from assay.traces.attribution.attribution import RunStream
from assay.traces.diagnosis.missing_logs import lost_starts
from assay.traces.event import Event, Notice
from assay.traces.log_reader import LogReading
from assay.traces.store.packed_records import NEVER
from assay.traces.table.event_table import EventTable

TRIED = 4
"""From how many later beginnings logs are checked."""


def beginnings(reading: LogReading) -> list[int]:
    """When the logs begin of runs whose start they do not tell of: a time for each file, in milliseconds, in order."""
    lost = {run for run, _ in lost_starts(reading)}
    times = (EventTable.of(stream.events).times for stream in reading.streams if stream.run in lost)
    stated = (own[own != NEVER] for own in times)
    return sorted({int(own[0]) for own in stated if len(own)})


def later(begun: Sequence[int], stuck: float, tried: int) -> int | None:
    """The next beginning after a line that has no explanation, at the last attempt the last one; None if there is none."""
    after = [time for time in begun if time > stuck]
    if not after or tried >= TRIED:
        return None
    return after[-1] if tried == TRIED - 1 else after[0]


def since(reading: LogReading, time: int) -> LogReading:
    """The logs from a time on: of each stream what follows the first line of that time or later."""
    streams = (_since(stream, time) for stream in reading.streams)
    return replace(reading, streams=tuple(stream for stream in streams if len(stream.events)))


def _since(stream: RunStream, time: int) -> RunStream:
    table = EventTable.of(stream.events)
    reached = np.flatnonzero(table.times >= time)
    first = int(reached[0]) if len(reached) else len(table)
    return replace(stream, events=table.only(np.arange(first, len(table)))[0]) if first else stream


def left_out(whole: LogReading, kept: LogReading, time: int, unexplained: Sequence[Event]) -> Notice:
    """How much is not checked because it was written before a time; at the first line without an explanation, if one is known."""
    count = len(whole.events) - len(kept.events)
    shown = datetime.fromtimestamp(time / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")
    text = (
        f"{count:,} events before {shown} were left out: until then the beginnings of files are missing, and not every line "
        "has an explanation without them"
    )
    return Notice("left out", next(iter((*unexplained, *islice(whole.events, 1)))).record.place, text)
