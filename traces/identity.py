"""Who wrote a line: the node, the process run, the broker id, and the ZooKeeper session.

The unit of order is the process run, not the broker id: two processes may run with one id, and one directory holds the
runs of one process after another. A node is a directory, or what its lines say where one directory holds several brokers.
What cannot be told stays unknown; nothing is guessed from the line before.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from assay.traces.events import Notice, Place, ProcessRun
from assay.traces.readers.records import FileReading, Match

_FOREVER = 1 << 62


@dataclass(frozen=True, slots=True)
class Node:
    """One node: its name, the broker ids it ran with, the Kafka versions it ran, and how many runs its logs hold."""

    name: str
    brokers: tuple[int, ...]
    versions: tuple[str, ...]
    runs: int


@dataclass(slots=True)
class NodeFiles:
    """The matches of one node, file by file."""

    name: str
    files: dict[str, list[Match]] = field(default_factory=dict)

    def brokers(self) -> set[int]:
        """The broker ids that the node's own lines state."""
        return {broker for matches in self.files.values() for match in matches for broker in writers(match)}


def writers(match: Match) -> set[int]:
    """The id of the broker that wrote the record, if the record says it."""
    ids = {f.fields.get(f.shape.writer) for f in match.findings if f.shape.writer is not None}
    ids |= {f.fields.get("broker") for f in match.findings if f.shape.role == "configuration"}
    return {broker for broker in ids if isinstance(broker, int) and broker >= 0}


def node_names(folders: Iterable[str]) -> dict[str, str]:
    """A name for every folder: as many of its last parts as it takes to tell it from the others."""
    parts = {folder: tuple(part for part in folder.split("/") if part not in {"", "."}) for folder in folders}
    names: dict[str, str] = {}
    for folder, own in parts.items():
        others = [theirs for other, theirs in parts.items() if other != folder]
        length = next((n for n in range(1, len(own)) if all(own[-n:] != theirs[-n:] for theirs in others)), len(own))
        names[folder] = "/".join(own[-length:]) or "node"
    return names


def group_by_node(readings: Sequence[FileReading], notices: list[Notice]) -> list[NodeFiles]:
    """The files of each node. A folder with the lines of several brokers is divided by what the lines say."""
    names = node_names(dict.fromkeys(reading.folder for reading in readings if reading.is_log))
    nodes: dict[str, NodeFiles] = {}
    for folder, name in names.items():
        members = [reading for reading in readings if reading.folder == folder and reading.is_log]
        stated = {reading.file: {b for match in reading.matches for b in writers(match)} for reading in members}
        mixed = len(set().union(*stated.values())) > 1
        for reading in members:
            own = stated[reading.file]
            if mixed and len(own) > 1:
                _divide(reading, name, nodes, notices)
                continue
            if mixed and not own:
                text = "several brokers have files here, and no line of this one names its broker"
                notices.append(Notice("node unknown", Place(reading.file, 1, 0), text))
            label = f"{name}/{min(own)}" if mixed and own else name
            nodes.setdefault(label, NodeFiles(label)).files[reading.file] = reading.matches
    return list(nodes.values())


def _divide(reading: FileReading, name: str, nodes: dict[str, NodeFiles], notices: list[Notice]) -> None:
    """Deal the records of a file that several brokers wrote to the nodes that they name."""
    unknown = 0
    for match in reading.matches:
        ids = writers(match)
        unknown += len(ids) != 1
        label = f"{name}/{min(ids)}" if len(ids) == 1 else f"{name}/?"
        nodes.setdefault(label, NodeFiles(label)).files.setdefault(reading.file, []).append(match)
    text = f"several brokers wrote this file; for {unknown:,} of its records it cannot be told which"
    notices.append(Notice("interleaved nodes", Place(reading.file, 1, 0), text))


@dataclass(frozen=True, slots=True)
class _Start:
    """The beginning of a process run."""

    time: int
    file: str
    offset: int


class Runs:
    """Divides a node's records into process runs: by place in the file that holds the start banners, by time in the others."""

    def __init__(self, node: NodeFiles) -> None:
        starts = [start for file, matches in node.files.items() for start in _starts(file, matches)]
        self._starts = sorted(starts, key=lambda start: (start.time, start.file, start.offset))
        self._times = [start.time for start in self._starts]
        self._local: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for number, start in enumerate(self._starts, 1):
            self._local[start.file].append((start.offset, number))
        self._name = node.name
        self._earlier = 1 if self._begins_in_mid_life(node) else 0
        self._made: dict[int, ProcessRun] = {}

    @property
    def count(self) -> int:
        """How many runs the node's logs hold."""
        return max(1, len(self._starts) + self._earlier)

    def of(self, match: Match, file: str) -> ProcessRun:
        """The run that wrote a record."""
        number = max(1, self._index(match, file) + self._earlier)
        if number not in self._made:
            self._made[number] = ProcessRun(self._name, number)
        return self._made[number]

    def _index(self, match: Match, file: str) -> int:
        """How many starts lie at or before the record."""
        local, time = self._local.get(file, []), match.record.time
        at = bisect_right(local, (match.record.place.offset, _FOREVER))
        if at > 0:
            return local[at - 1][1]
        by_time = bisect_right(self._times, time) if time is not None else 0
        return min(by_time, local[0][1] - 1) if local else by_time

    def _begins_in_mid_life(self, node: NodeFiles) -> bool:
        """Whether there are records from before the first start banner."""
        if not self._starts:
            return False
        return any(self._index(match, file) == 0 for file, matches in node.files.items() for match in matches)


def _starts(file: str, matches: Sequence[Match]) -> list[_Start]:
    """The beginnings of runs in one file: a start banner, or the prelude that leads up to it."""
    found: list[_Start] = []
    in_prelude = False
    for match in matches:
        roles = {finding.shape.role for finding in match.findings}
        prelude, banner = "process prelude" in roles, "process start" in roles
        if (prelude or banner) and not in_prelude and match.record.time is not None:
            found.append(_Start(match.record.time, file, match.record.place.offset))
        in_prelude = prelude or (in_prelude and not banner)
    return found
