"""Which clusters the logs belong to: one, one after another in the same place, or several at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from assay.traces.event import LogPosition, Notice, ProcessRun
from assay.traces.log_reader import LogReading
from assay.traces.store.packed_records import NEVER
from assay.traces.table.event_table import times

FIELD = "cluster"
"""The event field that holds the id of a cluster."""


@dataclass(slots=True)
class ClusterSpan:
    """A cluster: its id, the first line with the id, and the first and last time of the process runs that log it."""

    name: str
    place: LogPosition
    begin: int
    end: int


def cluster_spans(reading: LogReading) -> list[ClusterSpan]:
    """The clusters in the logs, by their beginning."""
    runs: dict[ProcessRun, tuple[int, int]] = {}
    for stream in reading.streams:
        own = times(stream.events)
        own = own[own != NEVER]
        if len(own):
            begin, end = runs.get(stream.run, (int(own[0]), int(own[0])))
            runs[stream.run] = min(begin, int(own.min())), max(end, int(own.max()))
    stated: dict[str, dict[ProcessRun, tuple[int, LogPosition]]] = {}
    for event in reading.of_patterns(lambda pattern: FIELD in pattern.fields or FIELD in pattern.constants):
        time = event.record.time
        if FIELD in event.fields and time is not None:
            stated.setdefault(str(event.fields[FIELD]), {}).setdefault(event.run, (time, event.record.place))
    spans = [
        ClusterSpan(name, min(first.values(), key=lambda at: at[0])[1], *_around(runs[run] for run in first))
        for name, first in stated.items()
    ]
    return sorted(spans, key=lambda span: (span.begin, span.name))


def _around(spans: Iterable[tuple[int, int]]) -> tuple[int, int]:
    begins, ends = zip(*spans, strict=True)
    return min(begins), max(ends)


def new_incarnations(spans: Iterable[ClusterSpan]) -> Iterator[Notice]:
    """Notices about clusters that began after the one before had ended: the servers' data was emptied."""
    for earlier, later in pairwise(spans):
        if earlier.end < later.begin:
            text = f"from here on this is another cluster, {later.name} after {earlier.name}: its metadata begins anew"
            yield Notice("new cluster incarnation", later.place, text)


def simultaneous(spans: Iterable[ClusterSpan]) -> Iterator[Notice]:
    """Notices about clusters that began before the one before had ended: these are different clusters."""
    for earlier, later in pairwise(spans):
        if earlier.end >= later.begin:
            text = (
                f"logs of two clusters at one time, {earlier.name} and {later.name}: each is to be validated by itself"
            )
            yield Notice("several clusters", later.place, text)
