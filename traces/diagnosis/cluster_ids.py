"""Which clusters the logs belong to: one, one after another in the same place, or several at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.event import LogPosition, Notice, ProcessRun
from assay.traces.log_reader import LogReading
from assay.traces.store.packed_records import NEVER
from assay.traces.table.event_table import times

FIELD = "cluster"
"""The event field that holds the id of a cluster."""

_OF_SENDER = "candidate"
"""A line with this field repeats a request of another node: the id in it is the sender's, who may be of elsewhere."""


@dataclass(slots=True)
class ClusterSpan:
    """A cluster: its id, the first line with the id, and the first and last time of the process runs that log it."""

    name: str
    place: LogPosition
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class StatedCluster:
    """The cluster that a process run names as its own, with the time and the place of the first such line."""

    name: str
    time: int
    place: LogPosition


def run_times(reading: LogReading) -> dict[ProcessRun, tuple[int, int]]:
    """The first and the last time of each process run, in milliseconds since the epoch."""
    runs: dict[ProcessRun, tuple[int, int]] = {}
    for stream in reading.streams:
        own = times(stream.events)
        own = own[own != NEVER]
        if len(own):
            begin, end = runs.get(stream.run, (int(own[0]), int(own[0])))
            runs[stream.run] = min(begin, int(own.min())), max(end, int(own.max()))
    return runs


def stated_clusters(reading: LogReading) -> dict[ProcessRun, StatedCluster]:
    """The cluster of each process run that names one; of several, the one that it names most often as its own."""
    own: dict[ProcessRun, Counter[str]] = {}
    first: dict[tuple[ProcessRun, str], StatedCluster] = {}
    for event in reading.of_patterns(lambda pattern: FIELD in pattern.fields or FIELD in pattern.constants):
        time = event.record.time
        if FIELD in event.fields and event.fields[FIELD] is not None and time is not None:
            name = str(event.fields[FIELD])
            weight = 1 if _OF_SENDER in event.fields else 1_000
            own.setdefault(event.run, Counter())[name] += weight
            first.setdefault((event.run, name), StatedCluster(name, time, event.record.place))
    return {run: first[run, counts.most_common(1)[0][0]] for run, counts in own.items()}


def cluster_spans(reading: LogReading) -> list[ClusterSpan]:
    """The clusters in the logs, by their beginning."""
    return spans_of(stated_clusters(reading), run_times(reading))


def spans_of(
    stated: Mapping[ProcessRun, StatedCluster], runs: Mapping[ProcessRun, tuple[int, int]]
) -> list[ClusterSpan]:
    """The clusters that process runs name, by their beginning."""
    by_name: dict[str, dict[ProcessRun, StatedCluster]] = {}
    for run, each in stated.items():
        by_name.setdefault(each.name, {})[run] = each
    spans = [
        ClusterSpan(name, min(own.values(), key=lambda each: each.time).place, *_around(runs[run] for run in own))
        for name, own in by_name.items()
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
