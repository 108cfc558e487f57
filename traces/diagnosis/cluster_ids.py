"""Which clusters the logs belong to: one, one after another in the same place, or several at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.attribution.attribution import RunStream
from assay.traces.event import Event, LogPosition, Notice, ProcessRun
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
class LoggedCluster:
    """The cluster that a process run names as its own, with the time and the place of the first such line."""

    name: str
    time: int
    place: LogPosition


def run_times(reading: LogReading) -> dict[ProcessRun, tuple[int, int]]:
    """The first and the last time of each process run, in milliseconds since the epoch."""
    runs: dict[ProcessRun, tuple[int, int]] = {}
    for stream in reading.streams:
        own = times(stream.events)
        # The least and the greatest, not the first and the last: a clock may be set back in between.
        own = own[own != NEVER]
        if len(own):
            begin, end = runs.get(stream.run, (int(own[0]), int(own[0])))
            runs[stream.run] = min(begin, int(own.min())), max(end, int(own.max()))
    return runs


def logged_clusters(reading: LogReading) -> dict[ProcessRun, LoggedCluster]:
    """The cluster of each process run that names one; of several, the one that it names most often as its own."""
    own: dict[ProcessRun, Counter[str]] = {}
    first: dict[tuple[ProcessRun, str], LoggedCluster] = {}
    for event, name, time in _named(reading):
        # One line of its own outweighs a thousand requests of others, which count only where there is nothing else.
        weight = 1 if _OF_SENDER in event.fields else 1_000
        own.setdefault(event.run, Counter())[name] += weight
        first.setdefault((event.run, name), LoggedCluster(name, time, event.record.place))
    return {run: first[run, counts.most_common(1)[0][0]] for run, counts in own.items()}


def _named(reading: LogReading) -> Iterator[tuple[Event, str, int]]:
    """The lines that name a cluster, which one, and their times."""
    for event in reading.of_patterns(lambda pattern: FIELD in pattern.fields or FIELD in pattern.constants):
        name, time = event.fields.get(FIELD), event.record.time
        if name is not None and time is not None:
            yield event, str(name), time


@dataclass(frozen=True, slots=True)
class Change:
    """A process run that is one of a cluster (``before``) and, after a time, one of another, whose start was not read."""

    before: LoggedCluster
    after: LoggedCluster
    time: int


def changes(reading: LogReading) -> dict[ProcessRun, Change]:
    """The process runs in which a cluster was founded anew and the start of its process was not read.

    A process has one cluster all its life. So what a run wrote when all lines named an earlier cluster is no part of a
    process that names a later one. The change is taken in the longest silence of the run between the two.
    """
    names: dict[ProcessRun, list[tuple[int, str]]] = {}
    logs: dict[ProcessRun, str] = {}
    first: dict[str, LoggedCluster] = {}
    for event, name, time in _named(reading):
        names.setdefault(event.run, []).append((time, name))
        logs[event.run] = event.sequence
        if name not in first or time < first[name].time:
            first[name] = LoggedCluster(name, time, event.record.place)
    eras = _eras([each for own in names.values() for each in own])
    order = sorted(eras, key=eras.__getitem__)
    if any(eras[later][0] <= eras[earlier][1] for earlier, later in pairwise(order)):
        return {}  # clusters at one time
    runs, found = run_times(reading), dict[ProcessRun, Change]()
    eras_of = {run: _eras(own) for run, own in names.items()}
    for earlier, later in pairwise(order):
        # The change lies between the last line that names the earlier cluster and the first that names the later one.
        low, high = eras[earlier][1], eras[later][0]
        alone = [run for run, own in names.items() if {name for _, name in own} == {earlier}]
        begun = {run: named[later][0] for run, named in eras_of.items() if later in named}
        moved = not {run.node for run in alone}.isdisjoint(run.node for run in begun)
        # A run that names the earlier cluster alone can hold two processes only where a node went on in the later one.
        broken = {run: _resumption(reading, run, logs[run], high) for run in alone if moved}
        changed = {run: time for run, time in broken.items() if time is not None}
        # Any other run that names the earlier one alone was of it to its end.
        end = max([low, *(runs[run][1] for run in alone if run not in changed)])
        if end >= high:
            continue  # at one time
        for run, time in begun.items():
            if runs[run][0] <= end:
                last = max([end, *(time for time, name in names[run] if name == earlier)])
                # With the middle third of each file missing, lines of two clusters' controllers were taken for one run.
                changed[run] = _after_silence(reading, run, last, time)
        found |= {run: Change(first[earlier], first[later], time) for run, time in changed.items()}
    return found


def _eras(named: Sequence[tuple[int, str]]) -> dict[str, tuple[int, int]]:
    """The first and the last time at which each name occurs."""
    times: dict[str, list[int]] = {}
    for time, name in named:
        times.setdefault(name, []).append(time)
    return {name: (min(each), max(each)) for name, each in times.items()}


def _after_silence(reading: LogReading, run: ProcessRun, low: int, high: int) -> int:
    """The time of the first line of a run after its longest silence from its last line at one time to another."""
    written = _written(stream for stream in reading.streams if stream.run == run)
    between = written[np.searchsorted(written, low, side="right") - 1 :]
    between = between[between <= high]
    return int(between[int(np.argmax(np.diff(between))) + 1])


def _resumption(reading: LogReading, run: ProcessRun, log: str, change: int) -> int | None:
    """The time of a run's first line after a change of clusters. None unless the log that names its cluster was
    silent then for longer than ever. A part of that log is missing, in which the process ended and one of another
    cluster started.
    """
    streams = [stream for stream in reading.streams if stream.run == run]
    named = _written(stream for stream in streams if stream.file == log)
    if len(named) < 2:
        return None
    at = int(np.argmax(np.diff(named)))
    if not named[at] < change < named[at + 1]:
        return None
    written = _written(streams)
    return int(written[np.searchsorted(written, change, side="right")])


def _written(streams: Iterable[RunStream]) -> npt.NDArray[np.int64]:
    """The times of the lines of some streams in order, each once."""
    every = np.concatenate([times(stream.events) for stream in streams])
    return np.unique(every[every != NEVER])


def cluster_spans(reading: LogReading) -> list[ClusterSpan]:
    """The clusters in the logs, by their beginning."""
    return spans_of(logged_clusters(reading), run_times(reading))


def spans_of(
    logged: Mapping[ProcessRun, LoggedCluster],
    runs: Mapping[ProcessRun, tuple[int, int]],
    changed: Mapping[ProcessRun, Change] | None = None,
) -> list[ClusterSpan]:
    """The clusters that process runs name, by their beginning."""
    stays: dict[str, list[tuple[LoggedCluster, tuple[int, int]]]] = {}
    for run, each in logged.items():
        begin, end = runs[run]
        if changed and run in changed:
            change = changed[run]
            stays.setdefault(change.before.name, []).append((change.before, (begin, change.time - 1)))
            stays.setdefault(change.after.name, []).append((change.after, (change.time, end)))
        else:
            stays.setdefault(each.name, []).append((each, (begin, end)))
    spans = [
        ClusterSpan(
            name, min((each for each, _ in own), key=lambda each: each.time).place, *_around(time for _, time in own)
        )
        for name, own in stays.items()
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
