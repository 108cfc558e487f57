"""Processes that were started under a broker id that another running process had.

A cluster refuses the second process, or lets it take over the id where the first does not answer for a while. What
either does then is explained line by line; that there were two is what an operator has to know first. They are
distinguished by their log directories: a restarted broker writes to its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterator

from assay.traces.event import Event, ProcessRun, Remark
from assay.traces.log_reader import LogReading
from assay.traces.patterns.pattern import START_ROLES
from assay.traces.store.packed_records import NEVER
from assay.traces.table.event_table import times

APART = 5_000
"""The other process must log for at least this many milliseconds before and after the start. Clocks differ, and a
broker may move to another host.
"""


def duplicates(reading: LogReading) -> Iterator[Remark]:
    """A remark for each start of a process under an id whose other process, with a logged start, was running."""
    ids = {node.name: set(node.brokers) for node in reading.nodes}
    started: dict[ProcessRun, Event] = {}
    for event in reading.of_role(*START_ROLES):
        started.setdefault(event.run, event)
    spans = _spans(reading, started)
    for run, event in started.items():
        if (time := event.record.time) is None:
            continue
        for other, (begin, end) in spans.items():
            shared = ids[run.node] & ids[other.node]
            if run.node != other.node and shared and begin + APART < time < end - APART:
                text = f"{run.node} is started with id {min(shared)}, under which {other.node} is running"
                yield Remark("risk", text, event)


def _spans(reading: LogReading, runs: Container[ProcessRun]) -> dict[ProcessRun, tuple[int, int]]:
    """The first and last time of the lines of these runs."""
    found: dict[ProcessRun, list[int]] = defaultdict(list)
    for stream in reading.streams:
        own = times(stream.events)
        own = own[own != NEVER]
        if stream.run in runs and len(own):
            found[stream.run] += (int(own.min()), int(own.max()))
    return {run: (min(ends), max(ends)) for run, ends in found.items()}
