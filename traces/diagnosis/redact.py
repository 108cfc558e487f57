"""Redacts logs: hosts, addresses, topics, cluster ids and directories become numbered names, the same one everywhere.

Fields, messages and file names are replaced before anything is validated, so that no answer, in whatever form, holds an
original name. Numbers, epochs, sessions and times stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePath

from assay.traces.attribution.attribution import RunStream
from assay.traces.event import Event, Field, LogPosition, Notice, ProcessRun
from assay.traces.log_reader import LogReading, UnmappedLines

_ADDRESS = re.compile(
    r"\b\d{1,3}(?:\.\d{1,3}){3}\b"
    r"|\[?[0-9a-fA-F]{1,4}(?::[0-9a-fA-F]{0,4}){3,7}\]?(?=[:/\s,)]|$)"
    r"|(?<![\w.$])(?=[\w.-]*[A-Za-z])[A-Za-z0-9](?:[\w-]*\.)*[\w-]*(?=:\d{2,5}\b)"
    r"|(?<=//)[\w.-]+"
    r"|(?<=EndPoint\()[\w.-]+"
)
_PATH = re.compile(r"(?<![\w./])/(?:[\w.-]+/)+[\w.-]*")
_ZNODES = ("/brokers", "/controller", "/config", "/admin", "/cluster", "/isr_change", "/consumers", "/latest_producer")
_SETTING = re.compile(
    r"(?m)^(\t[\w.]*(?:password|secret|jaas|key|url|host|rack|listeners|connect|dir|dirs)[\w.]*) = .+$"
)
_WORD = re.compile(r"[A-Za-z]+|\d+|.{1,2}")
"""Directory names that occur in texts by chance; they are replaced only where they stand for a node."""

_PLAIN = frozenset({"localhost", "kafka", "java", "null"})
_INTERNAL = frozenset({"__consumer_offsets", "__transaction_state", "__cluster_metadata"})


@dataclass(slots=True)
class _Names:
    """New names for one kind of thing."""

    kind: str
    known: dict[str, str] = field(default_factory=dict)

    def __call__(self, name: str) -> str:
        return self.known.setdefault(name, f"{self.kind}-{len(self.known) + 1}")


class Redaction:
    """The new names for one set of logs."""

    def __init__(self, reading: LogReading) -> None:
        self._hosts, self._topics, self._clusters = map(_Names, ("host", "topic", "cluster"))
        self._nodes, self._folders, self._paths = map(_Names, ("node", "folder", "path"))
        for event in reading.events:
            topic, cluster = event.fields.get("topic"), event.fields.get("cluster")
            if isinstance(topic, str) and topic not in _INTERNAL:
                self._topics(topic)
            if isinstance(cluster, str):
                self._clusters(cluster)
        for node in reading.nodes:
            self._nodes(node.name)
        self.runs = {str(run): str(self.run(run)) for run in {stream.run for stream in reading.streams}}
        told = {name: new for name, new in self._nodes.known.items() if not _WORD.fullmatch(name)}
        named = {**told, **self._topics.known, **self._clusters.known}
        longest_first = sorted(named, key=len, reverse=True)
        self._named = (
            re.compile("|".join(rf"(?<![\w.]){re.escape(name)}(?![\w.]*[A-Za-z_])" for name in longest_first))
            if named
            else None
        )
        self._new = named

    def text(self, text: str) -> str:
        """A text with the new names."""
        plain = _SETTING.sub(r"\1 = (redacted)", text)
        if self._named is not None:
            plain = self._named.sub(lambda found: self._new[found[0]], plain)
        plain = _ADDRESS.sub(lambda found: found[0] if found[0] in _PLAIN else self._hosts(found[0]), plain)
        return _PATH.sub(lambda found: found[0] if found[0].startswith(_ZNODES) else self._paths(found[0]), plain)

    def value(self, value: Field) -> Field:
        """A field with the new names."""
        match value:
            case str():
                return self.text(value)
            case tuple():
                return tuple(self.value(part) for part in value)
            case Mapping():
                return {self.value(key): self.value(part) for key, part in value.items()}
            case _:
                return value

    def run(self, run: ProcessRun) -> ProcessRun:
        """A process run with the new name."""
        return replace(run, node=self._nodes(run.node))

    def file(self, file: str) -> str:
        """The file's own name, in a folder with a new name."""
        path = PurePath(file.replace("!", "/"))
        return f"{self._folders(str(path.parent))}/{self.text(path.name)}"

    def place(self, place: LogPosition) -> LogPosition:
        """The same place with the new file name."""
        return replace(place, file=self.file(place.file))


def redacted(reading: LogReading, names: Redaction) -> LogReading:
    """The logs with the new names."""
    streams = tuple(
        RunStream(names.run(stream.run), names.file(stream.file), tuple(_events(names, stream.events)))
        for stream in reading.streams
    )
    nodes = tuple(replace(node, name=names.run(ProcessRun(node.name, 1)).node) for node in reading.nodes)
    unmapped = tuple(
        UnmappedLines(lines.logger, names.text(lines.text), lines.count, names.place(lines.place))
        for lines in reading.unmapped
    )
    notices = tuple(_notice(names, notice) for notice in reading.notices)
    return replace(reading, streams=streams, nodes=nodes, unmapped=unmapped, notices=notices)


def _events(names: Redaction, events: Iterable[Event]) -> Iterable[Event]:
    for event in events:
        run = names.run(event.run)
        fields = {name: _field(names, value) for name, value in event.fields.items()}
        record = replace(
            event.record, place=names.place(event.record.place), message=names.text(event.record.message), thread=None
        )
        stream = names.file(event.stream) if event.stream else ""
        yield replace(event, fields=fields, record=record, run=run, stream=stream)


def _field(names: Redaction, value: Field) -> Field:
    return names.runs.get(value) or names.value(value) if isinstance(value, str) else names.value(value)


def _notice(names: Redaction, notice: Notice) -> Notice:
    place = names.place(notice.place) if notice.place is not None else None
    return Notice(notice.kind, place, names.text(notice.text))
