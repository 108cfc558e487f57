"""From which time on logs are checked whose files begin at different times.

After a mismatch that a file which begins later might have explained, the check starts again at that beginning. Earlier
lines are left out and counted (docs/design/late-start.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from assay.traces.attribution.attribution import RunStream
from assay.traces.diagnosis.missing_logs import lost_starts
from assay.traces.durations import moment
from assay.traces.event import Event, Notice
from assay.traces.log_reader import LogReading
from assay.traces.store.packed_records import NEVER
from assay.traces.table.event_table import EventTable

TRIED = 4
"""How many later beginnings are tried."""


def beginnings(reading: LogReading) -> list[int]:
    """The times, in milliseconds, at which logs begin whose runs do not log their start; sorted."""
    lost = {run for run, _ in lost_starts(reading)}
    times = (EventTable.of(stream.events).times for stream in reading.streams if stream.run in lost)
    logged = (own[own != NEVER] for own in times)
    return sorted({int(own[0]) for own in logged if len(own)})


def later(begun: Sequence[int], stuck: float, tried: int) -> int | None:
    """The next beginning after an unexplained line; at the last attempt the last one; None if there is none."""
    after = [time for time in begun if time > stuck]
    if not after or tried >= TRIED:
        return None
    # From the last beginning on no file lacks its beginning any more.
    return after[-1] if tried == TRIED - 1 else after[0]


def since(reading: LogReading, time: int) -> LogReading:
    """The logs from a time on: of each stream what follows its first line at or after the time."""
    streams = (_since(stream, time) for stream in reading.streams)
    return replace(reading, streams=tuple(stream for stream in streams if len(stream.events)))


def _since(stream: RunStream, time: int) -> RunStream:
    table = EventTable.of(stream.events)
    reached = np.flatnonzero(table.times >= time)
    # Cut at a position, not by times: later lines with an earlier time keep their place in the order of the file.
    first = int(reached[0]) if len(reached) else len(table)
    return replace(stream, events=table.only(np.arange(first, len(table)))[0]) if first else stream


def left_out(whole: LogReading, kept: LogReading, time: int, unexplained: Sequence[Event]) -> Notice:
    """A notice about how much is not checked because it is earlier; placed at the first unexplained line, if one is
    known.
    """
    count = len(whole.events) - len(kept.events)
    shown = moment(time).strftime("%Y-%m-%d %H:%M:%S")
    text = (
        f"{count:,} events before {shown} were left out: until then the beginnings of files are missing, and not every line "
        "has an explanation without them"
    )
    return Notice("left out", next(iter((*unexplained, *islice(whole.events, 1)))).record.place, text)
