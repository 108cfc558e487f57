"""From records to events: the process run that wrote each, its broker and its session, as far as they are known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.traces.events import Event, Field, Notice, ProcessRun
from assay.traces.identity import Line, Node, NodeFiles, Runs, group_by_node, node_names
from assay.traces.readers.reading import FileReading
from assay.traces.sessions import SessionTimeline


@dataclass(frozen=True, slots=True)
class Stream:
    """The events of one process run in one log (a file, or the parts of a rotated one), in the order of their writing. ``file`` is the first part."""

    run: ProcessRun
    file: str
    events: tuple[Event, ...]


def attribute(readings: Sequence[FileReading], notices: list[Notice]) -> tuple[list[Stream], list[Node]]:
    """Nodes, runs, brokers and sessions for all records, and the events that come of them."""
    grouped = [_RunRecords(node) for node in group_by_node(readings, notices)]
    owners = {session: (run, node.broker(run)) for node in grouped for session, run in node.owners.items()}
    streams = [stream for node in grouped for stream in node.streams(owners)]
    of_json = _json_streams(readings)
    nodes = [node.node() for node in grouped]
    nodes += [Node(name, (), (), max(runs)) for name, runs in _runs_by_node(of_json).items()]
    return streams + of_json, nodes


def _json_streams(readings: Sequence[FileReading]) -> list[Stream]:
    """The events of files that state events themselves, a stream for each process run in each file."""
    names = node_names(dict.fromkeys(reading.origin.folder for reading in readings if reading.events))
    found: dict[tuple[ProcessRun, str], list[Event]] = {}
    for reading in readings:
        for event in reading.events:
            run = ProcessRun(event.node or names[reading.origin.folder], event.run)
            fields = {**event.fields, "node": run.node}
            found.setdefault((run, reading.file), []).append(Event(event.kind, "", fields, event.record, run))
    return [Stream(run, file, tuple(events)) for (run, file), events in found.items()]


def _runs_by_node(streams: Iterable[Stream]) -> dict[str, set[int]]:
    """The numbers of the runs of each node."""
    found: dict[str, set[int]] = {}
    for stream in streams:
        found.setdefault(stream.run.node, set()).add(stream.run.number)
    return found


class _RunRecords:
    """The records of one node by run and stream, with what the runs say of themselves."""

    def __init__(self, files: NodeFiles) -> None:
        self._files = files
        self._runs = Runs(files)
        self._records: dict[ProcessRun, list[Line]] = {}
        for line in files.lines():
            self._records.setdefault(self._runs.of(line), []).append(line)
        self._timelines = {run: SessionTimeline() for run in self._records}
        self.owners: dict[str, ProcessRun] = {}
        for run, timeline in self._timelines.items():
            self.owners |= dict.fromkeys(timeline.learn(self._records[run]), run)
        self._brokers = {run: self._broker_of(run) for run in self._records}
        self._names = {run: str(run) for run in self._records}

    def broker(self, run: ProcessRun) -> int | None:
        """The broker id of a run, if its lines state exactly one, or else the node's if that is known."""
        return self._brokers[run]

    def node(self) -> Node:
        """The node as users see it."""
        versions = {
            str(finding.fields["version"])
            for records in self._records.values()
            for line in records
            for finding in line.match.findings
            if finding.shape.role == "version"
        }
        brokers = tuple(sorted(self._files.brokers()))
        return Node(self._files.name, brokers, tuple(sorted(versions)), self._runs.count)

    def streams(self, owners: Mapping[str, tuple[ProcessRun, int | None]]) -> Iterator[Stream]:
        """The events of the node, a stream for each run and log."""
        for run, records in sorted(self._records.items(), key=lambda item: item[0].number):
            by_stream: dict[str, list[Event]] = {}
            for line in records:
                by_stream.setdefault(line.stream, []).extend(self._events(run, line, owners))
            for stream, events in by_stream.items():
                yield Stream(run, stream, tuple(events))

    def _broker_of(self, run: ProcessRun) -> int | None:
        own = {broker for line in self._records[run] for broker in line.match.writers} or self._files.brokers()
        return min(own) if len(own) == 1 else None

    def _events(
        self, run: ProcessRun, line: Line, owners: Mapping[str, tuple[ProcessRun, int | None]]
    ) -> Iterator[Event]:
        """The events of a record, with the node, the broker and the session added where they are known."""
        broker, session = self._brokers[run], self._timelines[run].at(line)
        record = line.match.record
        stream = line.stream if line.stream != record.place.file else ""
        name, unknown = self._names[run], self._files.unknown
        for finding in line.match.findings:
            fields = dict(finding.fields)
            if unknown:
                fields["node"] = fields["run"] = None
            else:
                fields["node"] = name
            if broker is not None and "broker" not in fields:
                fields["broker"] = broker
            if session is not None and "session" not in fields:
                fields["session"] = session
            if "session" in fields or "owner_session" in fields:
                _add_owner(fields, run, owners)
            yield Event(finding.shape.kind, finding.shape.name, fields, record, run, stream)


def _add_owner(fields: dict[str, Field], run: ProcessRun, owners: Mapping[str, tuple[ProcessRun, int | None]]) -> None:
    """Name the process behind a session that another process's line names (ZooKeeper's, or a refused broker's)."""
    session = fields.get("owner_session", fields.get("session"))
    if not isinstance(session, str) or session not in owners:
        return
    owner, owner_broker = owners[session]
    if owner == run and "owner_session" not in fields:
        return
    fields["owner"] = str(owner)
    if owner_broker is not None:
        fields["owner_broker"] = owner_broker
    if "owner_session" in fields:
        fields["holder"] = _holder(owner, owner_broker, run)


def _holder(owner: ProcessRun, broker: int | None, run: ProcessRun) -> str:
    """Who holds a node that this run was refused, in an operator's words."""
    if owner == run:
        return "an earlier session of this very process"
    if owner.node == run.node:
        return f"an earlier run of this very broker ({owner})"
    return str(owner) if broker is None else f"broker {broker} (process {owner})"
