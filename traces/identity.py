"""Who wrote a line: the node, the process run, the broker id, and the ZooKeeper session.

The unit of order is the process run, not the broker id: two processes may run with one id, and one directory holds the
runs of one process after another. A node is a directory, or what its lines say where one directory holds several brokers.
What cannot be told stays unknown; nothing is guessed from the line before.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from assay.traces.events import Notice, Place, ProcessRun
from assay.traces.readers.reading import FileReading, Match
from assay.traces.series import put_together

_FOREVER = 1 << 62


@dataclass(frozen=True, slots=True)
class Node:
    """One node: its name, the broker ids it ran with, the Kafka versions it ran, and how many runs its logs hold."""

    name: str
    brokers: tuple[int, ...]
    versions: tuple[str, ...]
    runs: int


class Line(NamedTuple):
    """A record with the log that it stands in and its position there."""

    stream: str
    position: int
    match: Match


@dataclass(slots=True)
class NodeFiles:
    """The matches of one node by log, in the order of their writing; ``unknown`` if it cannot be told which node wrote them."""

    name: str
    unknown: bool = False
    logs: dict[str, list[Match]] = field(default_factory=dict)

    def lines(self) -> Iterator[Line]:
        """All records, log by log."""
        for stream, matches in self.logs.items():
            for position, match in enumerate(matches):
                yield Line(stream, position, match)

    def brokers(self) -> set[int]:
        """The broker ids that the node's own lines state."""
        return {broker for matches in self.logs.values() for match in matches for broker in match.writers}


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
    """The logs of each node. A folder with the lines of several brokers is divided by what the lines say."""
    logs = [reading for reading in readings if reading.is_log]
    names = node_names(dict.fromkeys(reading.origin.folder for reading in logs))
    nodes: dict[str, NodeFiles] = {}
    for folder, name in names.items():
        members = put_together([reading for reading in logs if reading.origin.folder == folder])
        stated = {
            stream: {b for reading in parts for match in reading.matches for b in match.writers}
            for stream, parts in members.items()
        }
        mixed = len(set().union(*stated.values())) > 1
        for stream, parts in members.items():
            own = stated[stream]
            matches = [match for reading in parts for match in reading.matches]
            if mixed and len(own) > 1:
                _divide(stream, matches, name, nodes, notices)
                continue
            if mixed and not own:
                text = "several brokers have files here, and no line of this one names its broker"
                notices.append(Notice("node unknown", Place(parts[0].file, 1, 0), text))
            label = f"{name}/{min(own)}" if mixed and own else name
            nodes.setdefault(label, NodeFiles(label, unknown=mixed and not own)).logs[stream] = matches
    return list(nodes.values())


def _divide(
    stream: str, matches: Sequence[Match], name: str, nodes: dict[str, NodeFiles], notices: list[Notice]
) -> None:
    """Deal the records of a log that several brokers wrote to the nodes that they name."""
    unknown = 0
    for match in matches:
        ids = match.writers
        unknown += len(ids) != 1
        label = f"{name}/{min(ids)}" if len(ids) == 1 else f"{name}/?"
        node = nodes.setdefault(label, NodeFiles(label, unknown=len(ids) != 1))
        node.logs.setdefault(stream, []).append(match)
    text = f"several brokers wrote this file; for {unknown:,} of its records it cannot be told which"
    notices.append(Notice("interleaved nodes", Place(matches[0].record.place.file, 1, 0), text))


@dataclass(frozen=True, slots=True)
class _Start:
    """The beginning of a process run."""

    time: int
    stream: str
    position: int


class Runs:
    """Divides a node's records into process runs: by place in the log that holds the start banners, by time in the others."""

    def __init__(self, node: NodeFiles) -> None:
        starts = [start for stream, matches in node.logs.items() for start in _starts(stream, matches)]
        self._starts = sorted(starts, key=lambda start: (start.time, start.stream, start.position))
        self._times = [start.time for start in self._starts]
        self._local: dict[str, list[tuple[int, int]]] = {}
        for number, start in enumerate(self._starts, 1):
            self._local.setdefault(start.stream, []).append((start.position, number))
        self._node = node
        self._earlier = 1 if self._begins_in_mid_life() else 0

    @property
    def count(self) -> int:
        """How many runs the node's logs hold."""
        return max(1, len(self._starts) + self._earlier)

    def divided(self) -> dict[ProcessRun, list[Line]]:
        """The records of each run, log by log in the order of their writing."""
        found: dict[int, list[Line]] = {}
        for line in self._node.lines():
            found.setdefault(max(1, self._index(line) + self._earlier), []).append(line)
        return {ProcessRun(self._node.name, number): lines for number, lines in found.items()}

    def _index(self, line: Line) -> int:
        """How many starts lie at or before the record."""
        local, time = self._local.get(line.stream, ()), line.match.record.time
        if local and (at := bisect_right(local, (line.position, _FOREVER))) > 0:
            return local[at - 1][1]
        by_time = bisect_right(self._times, time) if time is not None else 0
        return min(by_time, local[0][1] - 1) if local else by_time

    def _begins_in_mid_life(self) -> bool:
        """Whether there are records from before the first start banner. Up to 0.11 a process tells its configuration before it says that it starts."""
        early = (line.match for line in self._node.lines() if self._index(line) == 0)
        return bool(self._starts) and any(not _has_role(match, "configuration") for match in early)


def _starts(stream: str, matches: Sequence[Match]) -> list[_Start]:
    """The beginnings of runs in one log: a start banner, or the prelude that leads up to it.

    Lines of a prelude may come more than once before the process is running. Then another one is of another process, whereas the banner may come late.
    """
    found: list[_Start] = []
    in_prelude = announced = False
    for position, match in enumerate(matches):
        prelude, banner = _has_role(match, "process prelude"), _has_role(match, "process start")
        begins = (prelude and not in_prelude) or (banner and not announced)
        if begins and match.record.time is not None:
            found.append(_Start(match.record.time, stream, position))
        announced = prelude or (announced and not banner)
        in_prelude = announced and (prelude or (in_prelude and not _has_role(match, "process running")))
    return found


def _has_role(match: Match, role: str) -> bool:
    return any(finding.shape.role == role for finding in match.findings)
