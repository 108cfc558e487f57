"""Processes that were started under an id with which another process was running.

A cluster refuses the second, or lets it take the id over where the first does not answer for a while; what either of them does then is explained line by line. That
there were two is what an operator has to know first. It is told by the directories that they write to: a broker that starts again writes to its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterator

from assay.traces.event import Event, ProcessRun
from assay.traces.log_reader import LogReading
from assay.traces.patterns.pattern import BEGINNINGS
from assay.traces.result import Remark
from assay.traces.store.packed_records import NEVER
from assay.traces.table.event_table import times

APART = 5_000
"""For so many milliseconds at least the other process writes lines before the start and after it: clocks differ, and a broker may be moved from host to host."""


def twins(reading: LogReading) -> Iterator[Remark]:
    """Each start of a process under an id with which a process was running whose own start the logs hold."""
    ids = {node.name: set(node.brokers) for node in reading.nodes}
    started: dict[ProcessRun, Event] = {}
    for event in reading.of_role(*BEGINNINGS):
        started.setdefault(event.run, event)
    spans = _spans(reading, started)
    for run, event in started.items():
        if (time := event.record.time) is None:
            continue
        for other, (begin, end) in spans.items():
            shared = ids[run.node] & ids[other.node]
            if run.node != other.node and shared and begin + APART < time < end - APART:
                text = f"{run} is started with id {min(shared)}, under which {other} is running"
                yield Remark("risk", text, event)


def _spans(reading: LogReading, runs: Container[ProcessRun]) -> dict[ProcessRun, tuple[int, int]]:
    """From when to when the lines of these runs are."""
    found: dict[ProcessRun, list[int]] = defaultdict(list)
    for stream in reading.streams:
        own = times(stream.events)
        own = own[own != NEVER]
        if stream.run in runs and len(own):
            found[stream.run] += (int(own.min()), int(own.max()))
    return {run: (min(ends), max(ends)) for run, ends in found.items()}
