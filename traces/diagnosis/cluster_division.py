"""Logs of several clusters divided into those of each, before anything is validated.

The unit is the process run. A run that names a cluster belongs to it. Where the start of a process was not read, a run
may be of two clusters, one after the other. Any other belongs where its ZooKeeper sessions, its node's other runs, its
folder or its time put it, in this order. Servers of ZooKeeper may belong to several. What
can be put nowhere is a part of its own, without a name (docs/design/several-clusters.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import inf
from pathlib import PurePath

import numpy as np

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.attribution.attribution import RunStream
from assay.traces.diagnosis.cluster_ids import Change, LoggedCluster, changes, logged_clusters, run_times, spans_of
from assay.traces.diagnosis.missing_logs import UNREAD
from assay.traces.event import LogPosition, Notice, ProcessRun
from assay.traces.input.file_reader import CUT_OFF
from assay.traces.input.lines.trouble_tally import TroubleGroup
from assay.traces.log_reader import LogReading, NodeTrouble, kinds_of
from assay.traces.table.event_table import EventTable, traits
from assay.traces.table.statement_ids import StatementMemory

SESSION = "session"
NAMELESS = ""
"""The name of the part that belongs to no known cluster."""

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class ClusterLogs:
    """The logs of one cluster; its name is its id, or empty if it is not known."""

    cluster: str
    reading: LogReading


def divided_by_cluster(reading: LogReading) -> list[ClusterLogs]:
    """The logs of each cluster, by their beginning; one entry with the whole reading where there is one cluster."""
    logged, changed = logged_clusters(reading), changes(reading)
    names = {each.name for each in logged.values()}.union(
        *((each.before.name, each.after.name) for each in changed.values())
    )
    if len(names) < 2:
        return [ClusterLogs(next(iter(names), NAMELESS), reading)]
    division = _Division(reading, logged, changed)
    order = [span.name for span in division.spans]
    # Spans are of named clusters alone, so the nameless part is added, behind all others.
    if any(NAMELESS in homes for homes in division.homes.values()):
        order.append(NAMELESS)
    return [ClusterLogs(name, division.part(name)) for name in order]


class _Division:
    """To which clusters each process run belongs, and what of a reading follows from that."""

    def __init__(
        self, reading: LogReading, logged: Mapping[ProcessRun, LoggedCluster], changed: Mapping[ProcessRun, Change]
    ) -> None:
        self._reading, self._logged, self._changed = reading, logged, changed
        self._runs = run_times(reading)
        self.spans = spans_of(logged, self._runs, changed)
        self._files: dict[ProcessRun, PurePath] = {stream.run: _folder(stream.file) for stream in reading.streams}
        self._sessions = self._clusters_of_sessions()
        every = dict.fromkeys(stream.run for stream in reading.streams)
        self.homes: dict[ProcessRun, frozenset[str]] = {run: self._home(run) for run in every}
        self._of_node: dict[str, list[tuple[int, ProcessRun]]] = {}
        for run in every:
            self._of_node.setdefault(run.node, []).append((self._runs.get(run, (0, 0))[0], run))
        for runs in self._of_node.values():
            runs.sort(key=lambda each: (each[0], each[1].number))

    # ------------------------------------------------------------------------------------------------- process runs

    def _clusters_of_sessions(self) -> dict[ProcessRun, frozenset[str]]:
        """The clusters with which a run shares sessions of ZooKeeper."""
        runs: dict[object, set[ProcessRun]] = {}
        for event in self._reading.of_patterns(lambda pattern: SESSION in pattern.fields):
            runs.setdefault(event.fields.get(SESSION), set()).add(event.run)
        found: dict[ProcessRun, set[str]] = {}
        for sharing in runs.values():
            # Session ids hold the server's start time, so two clusters do not have one by chance.
            names = {self._logged[run].name for run in sharing if run in self._logged}
            for run in sharing:
                found.setdefault(run, set()).update(names)
        return {run: frozenset(names) for run, names in found.items()}

    def _home(self, run: ProcessRun) -> frozenset[str]:
        """The clusters of a run: one, several for a server that they share, or the nameless one."""
        if run in self._changed:
            return frozenset({self._changed[run].before.name, self._changed[run].after.name})
        if run in self._logged:
            return frozenset({self._logged[run].name})
        # From the surest to the least sure: a shared session, the same node before or after, the same time, the same
        # folder.
        return self._sessions.get(run) or self._of_neighbours(run) or self._nearest(run) or frozenset({NAMELESS})

    def _of_neighbours(self, run: ProcessRun) -> frozenset[str] | None:
        """The cluster of the node's run before, else of its run after, unless another one alone was there in its time."""
        own = [(each.number, logged.name) for each, logged in self._logged.items() if each.node == run.node]
        before = max((each for each in own if each[0] < run.number), default=None)
        after = min((each for each in own if each[0] > run.number), default=None)
        # A node stays in its cluster until it is moved, so the run before says more.
        found = before or after
        if found is None:
            return None
        in_time = self._in_time(run)
        # Servers that were emptied are another cluster, of whose id the node's lines in hand need not tell.
        return None if len(in_time) == 1 and found[1] not in in_time else frozenset({found[1]})

    def _in_time(self, run: ProcessRun) -> frozenset[str]:
        """The clusters in whose time a run is."""
        begin, end = self._runs.get(run, (-inf, inf))
        return frozenset(span.name for span in self.spans if span.begin <= end and begin <= span.end)

    def _nearest(self, run: ProcessRun) -> frozenset[str] | None:
        """The one cluster in whose time, or else beside whose files, the run is."""
        in_time = self._in_time(run)
        if len(in_time) == 1:
            return in_time
        return _beside(self._files[run], self._folders(in_time or {span.name for span in self.spans}))

    def _folders(self, names: Iterable[str]) -> dict[str, list[PurePath]]:
        wanted = set(names)
        found: dict[str, list[PurePath]] = {}
        for run, logged in self._logged.items():
            if logged.name in wanted:
                found.setdefault(logged.name, []).append(self._files[run])
        return found

    # ------------------------------------------------------------------------------------------- parts of a reading

    def part(self, name: str) -> LogReading:
        """The reading of one cluster."""
        streams = tuple(self._streams(name))
        runs = {stream.run for stream in streams}
        nodes = tuple(
            replace(node, runs=max(1, len({run for run in runs if run.node == node.name})))
            for node in self._reading.nodes
            if any(run.node == node.name for run in runs)
        )
        return replace(
            self._reading,
            streams=streams,
            nodes=nodes,
            files=len({stream.file for stream in streams}),
            records=sum(len(stream.events) for stream in streams),
            kinds=kinds_of(streams),
            unmapped=tuple(each for each in self._reading.unmapped if self._is_at(name, each.place)),
            notices=tuple(each for each in self._reading.notices if self._concerns(name, each)),
            memory=StatementMemory(),
            trouble=tuple(self._trouble(name)),
            loggers=self._loggers(name, streams),
        )

    def _streams(self, name: str) -> Iterator[RunStream]:
        """The streams of a cluster; of a server that several clusters share, what was written in the cluster's time."""
        for stream in self._reading.streams:
            homes = self.homes[stream.run]
            # A run of several clusters is divided by time: a server of ZooKeeper that served one after the other.
            if name in homes:
                own = stream if len(homes) == 1 else _within(stream, self._time_of(name, stream.run))
                if len(own.events):
                    yield own

    def _time_of(self, name: str, run: ProcessRun) -> Interval:
        """From the beginning of a cluster, if others had ended by then, to that of the next one after its end. In a run
        that is of two clusters, to or from the change.
        """
        if run in self._changed:
            change = self._changed[run]
            return (-inf, change.time) if name == change.before.name else (change.time, inf)
        own = next(span for span in self.spans if span.name == name)
        begin = own.begin if any(span.end < own.begin for span in self.spans) else -inf
        return begin, min((span.begin for span in self.spans if span.begin > own.end), default=inf)

    def _loggers(self, name: str, streams: Sequence[RunStream]) -> dict[str, LogPosition]:
        """The loggers of a cluster's lines, as far as that is known, each with the place of its first."""
        found = {logger: place for logger, place in self._reading.loggers.items() if self._is_at(name, place)}
        for stream in streams:
            wanted = {each.logger for each in traits(stream.events)} - found.keys()
            for event in stream.events if wanted else ():
                if event.record.logger in wanted:
                    found[event.record.logger] = event.record.place
                    wanted.discard(event.record.logger)
                if not wanted:
                    break
        return found

    def _trouble(self, name: str) -> Iterator[NodeTrouble]:
        """The lines of trouble of a cluster's nodes, in its time where the node had several clusters."""
        for each in self._reading.trouble:
            group = self._own_lines(name, each)
            if group is not None:
                yield NodeTrouble(each.node, group)

    def _own_lines(self, name: str, each: NodeTrouble) -> TroubleGroup | None:
        """The lines of a group that are a cluster's. Of lines that are only counted, all but the last are with the
        first.
        """
        group = each.group
        first, last = (self._at(each.node, record.time, record.place) for record in (group.first, group.last))
        if name in first and name in last:
            return group
        lines = [record for record in group.lines if name in self._at(each.node, record.time, record.place)]
        if lines:
            return replace(group, count=len(lines), first=lines[0], last=lines[-1], lines=lines)
        if group.lines or not (name in first or name in last):
            return None
        # Only the first and the last of counted lines are known. The cluster of the first gets all between.
        own = group.first if name in first else group.last
        return replace(group, count=group.count - 1 if name in first else 1, first=own, last=own)

    def _at(self, node: str, time: int | None, place: LogPosition) -> frozenset[str]:
        """The clusters of what a node wrote at a time."""
        runs = self._of_node.get(node)
        if not runs:
            return self._of_folder(place)
        begun = [run for begin, run in runs if time is None or begin <= time]
        return self.homes[begun[-1] if begun else runs[0][1]]

    def _concerns(self, name: str, notice: Notice) -> bool:
        """Whether a notice is about a cluster. Unread lines are counted by file, and named by the first of them."""
        place = notice.place
        if place is None or self._is_at(name, place):
            return True
        own = (stream for stream in self._reading.streams if name in self.homes[stream.run])
        return notice.kind in UNREAD | {CUT_OFF} and any(
            stream.events[0].record.place.file == place.file for stream in own
        )

    def _is_at(self, name: str, place: LogPosition) -> bool:
        """Whether a place in a file is in lines of a cluster."""
        begun = [
            (first.line, self.homes[stream.run])
            for stream in self._reading.streams
            if (first := stream.events[0].record.place).file == place.file
        ]
        # The parts of a file begin at the first line of each run, and each lasts until the next begins.
        before = [homes for line, homes in sorted(begun, key=lambda each: each[0]) if line <= place.line]
        if before or begun:
            return name in (before[-1] if before else min(begun, key=lambda each: each[0])[1])
        return name in self._of_folder(place)

    def _of_folder(self, place: LogPosition) -> frozenset[str]:
        """The clusters of the runs in the folder of a file, else the first one's."""
        folder = _folder(place.file)
        found = [homes for run, homes in self.homes.items() if self._files[run] == folder]
        beside = _beside(folder, self._folders({span.name for span in self.spans}))
        return frozenset().union(*found) if found else beside or frozenset({self.spans[0].name})


def _folder(file: str) -> PurePath:
    # What is in an archive is named `logs.zip!broker/server.log`: the archive counts as a folder.
    return PurePath(file.replace("!", "/")).parent


def _beside(folder: PurePath, of_clusters: Mapping[str, Sequence[PurePath]]) -> frozenset[str] | None:
    """The only cluster with whose folders a folder shares the most parents."""
    shared = {
        name: max((_shared(folder, other) for other in folders), default=0) for name, folders in of_clusters.items()
    }
    most = max(shared.values(), default=0)
    nearest = frozenset(name for name, count in shared.items() if count == most)
    return nearest if len(nearest) == 1 else None


def _shared(one: PurePath, other: PurePath) -> int:
    """How many parents two folders share."""
    return next(
        (at for at, (mine, its) in enumerate(zip(one.parts, other.parts, strict=False)) if mine != its),
        min(len(one.parts), len(other.parts)),
    )


def _within(stream: RunStream, time: Interval) -> RunStream:
    table = EventTable.of(stream.events)
    own = np.flatnonzero((table.times >= time[0]) & (table.times < time[1]))
    return replace(stream, events=table.only(own)[0]) if len(own) < len(table) else stream
