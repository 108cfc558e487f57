"""Who wrote a line: the node, the process run, and the broker id.

The unit of order is the process run, not the broker id. Two processes may run with one id, and one directory holds the
runs of one process after another. A node is a directory, or what the lines name where one directory holds several
brokers. What cannot be determined stays unknown; nothing is guessed from the line before.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from itertools import pairwise
from math import inf

import numpy as np

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.attribution.colocated_zookeeper import separate_servers, shared_log_notices
from assay.traces.attribution.inferred_writers import inferred_writers
from assay.traces.attribution.outlier_broker_ids import without_outliers
from assay.traces.attribution.section import Section
from assay.traces.event import LogPosition, Notice, ProcessRun
from assay.traces.input.file_contents import FileReading
from assay.traces.input.rotation import logs_in_sequence
from assay.traces.patterns.rule_files import rule_file
from assay.traces.store.matched_record import MatchedRecord
from assay.traces.store.packed_records import NEVER, PackedRecords, concatenate
from assay.traces.store.record_block import Numbers

FILE_BOUNDARY_MS = 5_000
"""If times go back by more than this (milliseconds), another file begins; lines that several processes write in turns
are closer together.
"""


_AT_WORK = frozenset({"process running", "session start", "registration", "process end"})
"""The roles of lines that a process writes once its prelude is over."""
QUIET_AFTER_END_MS = 5_000
"""This long (milliseconds) after it has logged its end, a process writes nothing more."""


@dataclass(frozen=True, slots=True)
class ClusterNode:
    """One node: its name, the broker ids that it ran with, its Kafka versions, and how many runs its logs hold."""

    name: str
    brokers: tuple[int, ...]
    versions: tuple[str, ...]
    runs: int


@dataclass(slots=True)
class NodeFiles:
    """The records of one node by log, in the order of writing; ``unknown`` if it cannot be determined which node wrote
    them.
    """

    name: str
    unknown: bool = False
    logs: dict[str, PackedRecords] = field(default_factory=dict)

    def brokers(self) -> set[int]:
        """The broker ids that the node's own lines name."""
        return set().union(*(matches.writers for matches in self.logs.values()))


def node_names(folders: Iterable[str]) -> dict[str, str]:
    """A name for every folder: as many of its last parts as distinguish it from the others."""
    parts = {folder: tuple(part for part in folder.split("/") if part not in {"", "."}) for folder in folders}
    names: dict[str, str] = {}
    for folder, own in parts.items():
        others = [theirs for other, theirs in parts.items() if other != folder]
        # The last parts, for the first ones are where somebody unpacked the logs.
        # `b1/logs` and `b2/logs` are told apart by two parts. `node` is what a folder without parts is called.
        length = next((n for n in range(1, len(own)) if all(own[-n:] != theirs[-n:] for theirs in others)), len(own))
        names[folder] = "/".join(own[-length:]) or "node"
    return names


def group_by_node(readings: Sequence[FileReading], notices: list[Notice]) -> list[NodeFiles]:
    """The logs of each node. A folder with the lines of several brokers is divided by the ids that the lines name."""
    by_folder: dict[str, list[FileReading]] = {}
    for reading in readings:
        if reading.is_log:
            by_folder.setdefault(reading.origin.folder, []).append(reading)
    _join_containers(by_folder)
    alone = sum(map(len, by_folder.values())) == 1
    names = node_names(by_folder)
    nodes: dict[str, NodeFiles] = {}
    for folder, name in names.items():
        members = logs_in_sequence(by_folder[folder])
        rows = {
            stream: without_outliers(concatenate([reading.matches for reading in parts]), notices)
            for stream, parts in members.items()
        }
        rows, others = separate_servers(rows)
        for stream in rows:
            if any(stream in server_logs for server_logs in others.values()):
                notices += shared_log_notices(members[stream])
        writers = {stream: matches.writers for stream, matches in rows.items()}
        # Lines name their writers only now and then. A log without any is of the one broker that the folder has; with
        # several brokers that cannot be known.
        mixed = len(set().union(*writers.values())) > 1
        for stream, matches in rows.items():
            own, parts = writers[stream], members[stream]
            if mixed and len(own) > 1:
                _split_by_broker(stream, matches, name, nodes, notices)
                continue
            if mixed and not own:
                text = "several brokers have files here, and no line of this one names its broker"
                notices.append(Notice("node unknown", LogPosition(parts[0].file, 1, 0), text))
            label = f"{name}/{min(own)}" if mixed and own else name
            if alone and len(own) == 1 and not any(map(str.isdigit, name)):
                label = f"broker {min(own)}"  # of one file alone the folder names no node
            nodes.setdefault(label, NodeFiles(label, unknown=mixed and not own)).logs[stream] = matches
        for server, server_logs in others.items():
            nodes[f"{name}/{server}"] = NodeFiles(f"{name}/{server}", logs=server_logs)
    return list(nodes.values())


def _join_containers(by_folder: dict[str, list[FileReading]]) -> None:
    """Add what one container wrote, as prefixes of its lines say, to the files beside it where both name one broker.

    A directory may hold what docker printed of a broker and the broker's own files: that is one process, not two.
    """
    containers: dict[str, list[str]] = {}
    for folder, readings in by_folder.items():
        if all(each.origin.part for each in readings):
            containers.setdefault(folder.rpartition("/")[0], []).append(folder)
    for beside, folders in containers.items():
        if len(folders) == 1 and beside in by_folder:
            own, others = _writers(by_folder[folders[0]]), _writers(by_folder[beside])
            if own == others and len(own) == 1:
                by_folder[beside] += by_folder.pop(folders[0])


def _writers(readings: Sequence[FileReading]) -> set[int]:
    """The broker ids that files name as their writers."""
    return set().union(*(each.matches.writers for each in readings))


def _split_by_broker(
    stream: str, matches: PackedRecords, name: str, nodes: dict[str, NodeFiles], notices: list[Notice]
) -> None:
    """Distribute the records of a log that several brokers wrote to the nodes that they name."""
    pieces = _concatenated_files(matches)
    if pieces:
        for number, piece in enumerate(pieces, 1):
            own = piece.writers
            label = f"{name}/{min(own)}" if own else f"{name}/?"
            node = nodes.setdefault(label, NodeFiles(label, unknown=not own))
            node.logs[f"{stream}, part {number}"] = piece
        text = f"{len(pieces)} files of several brokers were put one behind another in this one"
        notices.append(Notice("joined files", LogPosition(matches[0].record.place.file, 1, 0), text))
        return
    # No concatenation, so that brokers wrote in turns, as into one standard output.
    ids = [match.writers for match in matches]
    inferred = inferred_writers(matches, ids)
    own_ids = [own or frozenset({inferred[at]} if at in inferred else ()) for at, own in enumerate(ids)]
    labels = [f"{name}/{min(own)}" if len(own) == 1 else f"{name}/?" for own in own_ids]
    for label in dict.fromkeys(labels):
        node = nodes.setdefault(label, NodeFiles(label, unknown=label == f"{name}/?"))
        own_rows = np.array([each == label for each in labels])
        node.logs[stream] = matches.take(own_rows)
    harmless = frozenset(rule_file("writers.toml")["unneeded"])
    unknown = sum(len(own) != 1 and not _is_unneeded(matches[at], harmless) for at, own in enumerate(own_ids))
    text = "several brokers wrote this file"
    text += f"; for {unknown:,} of its records it cannot be told which" if unknown else ""
    kind = "interleaved nodes" if unknown else "merged nodes"
    notices.append(Notice(kind, LogPosition(matches[0].record.place.file, 1, 0), text))


def _is_unneeded(match: MatchedRecord, kinds: frozenset[str]) -> bool:
    """Whether a record is of kinds whose writer no rule needs."""
    return all(each.pattern.kind in kinds for each in match.matches)


def _concatenated_files(matches: PackedRecords) -> list[PackedRecords]:
    """The files of which this one is a concatenation; empty where brokers wrote in turns.

    In a concatenation each file begins long before the previous one ends, and names at most one broker. Lines that
    several brokers write in turns satisfy neither.
    """
    times = matches.times
    if NEVER in times:
        return []
    cuts = [0, *(np.flatnonzero(times[1:] < times[:-1] - FILE_BOUNDARY_MS) + 1).tolist(), len(matches)]
    pieces = [matches[start:end] for start, end in pairwise(cuts)]
    return pieces if len(pieces) > 1 and all(len(piece.writers) <= 1 for piece in pieces) else []


@dataclass(frozen=True, slots=True)
class _Start:
    """The beginning of a process run, or the first line of a run without one."""

    time: int
    stream: str
    position: int


class RunSplitter:
    """Divides a node's records into process runs: by position in the log that holds the start banners, by time in the
    others.
    """

    def __init__(self, node: NodeFiles) -> None:
        logged = [start for stream, matches in node.logs.items() for start in _starts(stream, matches)]
        own = {stream: _certain_lines(matches) for stream, matches in node.logs.items()}
        inferred = _inferred_starts(node, own, sorted(start.time for start in logged))
        self._starts = sorted([*logged, *inferred], key=lambda start: (start.time, start.stream, start.position))
        self._times = np.array([start.time for start in self._starts], np.int64)
        self._local: dict[str, list[tuple[int, int]]] = {start.stream: [] for start in logged}
        for number, start in enumerate(self._starts, 1):
            # A banner divides its own log by position. An inferred start has no line of its own, and divides all by
            # time.
            for stream in self._local if start in inferred else (start.stream,):
                self._local[stream].append((_place(start, stream, node.logs[stream]), number))
        self._node = node
        self._before = {stream: self._starts_before(stream, matches) for stream, matches in node.logs.items()}
        # A line that a broker certainly wrote before the first start is of a run whose start was not read. That run is
        # number 1 then, and all others come one later.
        began_before = self._starts and any((self._before[stream][at] == 0).any() for stream, at in own.items())
        self._earlier = 1 if began_before else 0

    @property
    def count(self) -> int:
        """How many runs the node's logs hold."""
        return max(1, len(self._starts) + self._earlier)

    def divided(self) -> dict[ProcessRun, list[Section]]:
        """The records of each run, log by log in the order of writing."""
        found: dict[int, list[Section]] = {}
        for stream, matches in self._node.logs.items():
            # Lines before the first start, none of them certain, go to the first run: up to Kafka 0.11 they are its
            # settings.
            numbers = np.maximum(1, self._before[stream] + self._earlier)
            for positions in _positions_by_number(numbers):
                own = matches if len(positions) == len(matches) else matches.take(positions)
                found.setdefault(int(numbers[positions[0]]), []).append(Section(stream, positions, own))
        return {ProcessRun(self._node.name, number): sections for number, sections in found.items()}

    def _starts_before(self, stream: str, matches: PackedRecords) -> Numbers:
        """How many runs have started at or before each record of a log."""
        if not self._starts:
            return np.zeros(len(matches), np.int64)
        local = self._local.get(stream)
        if local is None:
            return np.searchsorted(self._times, matches.times, side="right").astype(np.int64)
        # An inferred start may lie out of order among the banners of a log; the running maximum keeps positions sorted.
        positions, numbers = np.maximum.accumulate(np.array(local, np.int64)).T
        at = np.searchsorted(positions, np.arange(len(matches)), side="right")
        last = np.minimum(self._continued(stream, matches), np.append(numbers, len(self._starts) + 1)[at] - 1)
        found: Numbers = np.where(at > 0, np.maximum(numbers[at - 1], last), last)
        return found

    def _continued(self, stream: str, matches: PackedRecords) -> Numbers:
        """The last run that had begun by each record, in this log or in one that does not tell how it ended.

        Between two banners of its own a log may go on in a run that began in another one. Parts of a rotated file do so
        if they were joined in a wrong order.
        """
        numbered = list(enumerate(self._starts, 1))
        known = [(each.time, n) for n, each in numbered if each.stream == stream or not self._has_ended(each)]
        times, numbers = np.array([(0, 0), *known], np.int64).T
        found: Numbers = numbers[np.maximum(1, np.searchsorted(times, matches.times, side="right")) - 1]
        return found

    def _has_ended(self, start: _Start) -> bool:
        """Whether the log in which a run began tells that it ended."""
        later = (each.time for each in self._starts if each.stream == start.stream and each.time > start.time)
        until = min(later, default=inf)
        return any(start.time <= time < until for time in _ends([self._node.logs[start.stream]]))


def _positions_by_number(numbers: Numbers) -> list[Numbers]:
    """The positions of each number, in order; the groups are in the order of their first positions."""
    order = np.argsort(numbers, kind="stable")
    found = np.split(order, np.flatnonzero(np.diff(numbers[order])) + 1) if len(order) else []
    return sorted(found, key=lambda positions: int(positions[0]))


def _inferred_starts(node: NodeFiles, own: Mapping[str, Numbers], begins: Sequence[int]) -> set[_Start]:
    """The first lines after the logged end of a process and before the next start: they belong to a run whose start was
    not read.

    ``own`` are the positions of the lines that the broker certainly wrote, log by log.
    """
    found: set[_Start] = set()
    ends = _ends(node.logs.values())
    times = {stream: node.logs[stream].times[positions] for stream, positions in own.items()} if ends else {}
    for end in ends:
        next_ = bisect_right(begins, end)
        until = begins[next_] if next_ < len(begins) else inf
        first = [
            _Start(int(times[stream][at[0]]), stream, int(positions[at[0]]))
            for stream, positions in own.items()
            if len(at := np.flatnonzero((times[stream] > end + QUIET_AFTER_END_MS) & (times[stream] < until)))
        ]
        found |= {min(first, key=lambda start: start.time)} if first else set()
    return found


def _certain_lines(matches: PackedRecords) -> Numbers:
    """The positions of the lines that a broker certainly wrote while it ran: those that name it, or a session that
    begins.

    Up to Kafka 0.11 a process logs its configuration before its start banner, so that a configuration is no evidence.
    """
    own = matches.names_writer
    # `names_writer` is a new array at each read, so it may be changed here.
    own[matches.with_roles("session start")] = True
    own[matches.with_roles("configuration")] = False
    return np.flatnonzero(own)


def _ends(logs: Iterable[PackedRecords]) -> set[int]:
    """The times at which processes reported their end in some logs."""
    logged = (matches[at] for matches in logs for at in matches.with_roles("process end"))
    return {match.record.time for match in logged if match.record.time is not None}


def _place(start: _Start, stream: str, matches: PackedRecords) -> int:
    """The position in a log at which a run begins."""
    if stream == start.stream:
        return start.position
    # By time, because the start is a line of another log. Lines of the same millisecond count as after it.
    later = np.flatnonzero(matches.times >= start.time)
    return int(later[0]) if len(later) else len(matches)


def _starts(stream: str, matches: PackedRecords) -> list[_Start]:
    """The beginnings of runs in one log: a start banner, or the prelude before it.

    Lines of a prelude may come more than once before the process is running. After that, a prelude is that of another
    process, whereas the banner may come late.
    """
    found: list[_Start] = []
    in_prelude = announced = False
    for position in matches.with_roles():
        match = matches[position]
        prelude, banner = "process prelude" in match.roles, "process start" in match.roles
        # A run begins with its prelude; the banner that follows (`starting (kafka.server.KafkaServer)`) is the same
        # start.
        begins = (prelude and not in_prelude) or (banner and not announced)
        if begins and match.record.time is not None:
            found.append(_Start(match.record.time, stream, position))
        # From here on: has a prelude been read whose banner has not?
        announced = prelude or (announced and not banner)
        in_prelude = announced and (prelude or (in_prelude and _AT_WORK.isdisjoint(match.roles)))
    return found
