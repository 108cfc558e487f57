"""Logs read: the paths that a user names become events, grouped by process run and file, and counts of everything else."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from assay.traces.events import Event, Field, Notice, Place, ProcessRun
from assay.traces.identity import Line, Node, NodeFiles, Runs, group_by_node, node_names
from assay.traces.readers.reading import FileReading
from assay.traces.readers.records import RecordReader, may_be_pasted
from assay.traces.readers.scan import ScanLimits
from assay.traces.series import drop_copies, find_years, missing_parts
from assay.traces.sessions import SessionTimeline
from assay.traces.shapes.catalogue import Catalogue, load_catalogue
from assay.traces.shapes.recognise import Recogniser
from assay.traces.sources import ExpansionLimit, check_paths, walk


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How to read: further shape files, and the limits on archives and on records."""

    shape_files: tuple[Path, ...] = ()
    expansion: ExpansionLimit = field(default_factory=ExpansionLimit)
    scan: ScanLimits = field(default_factory=ScanLimits)


@dataclass(frozen=True, slots=True)
class Stream:
    """The events of one process run in one log (a file, or the parts of a rotated one), in the order of their writing. ``file`` is the first part."""

    run: ProcessRun
    file: str
    events: tuple[Event, ...]


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


@dataclass(frozen=True, slots=True)
class UnmappedLines:
    """Records of a protocol logger that no shape describes: their text with numbers taken out, how many, and the first place."""

    logger: str
    text: str
    count: int
    place: Place


@dataclass(frozen=True, slots=True)
class LogReading:
    """What the logs hold. ``files`` counts those that are logs; ``other`` counts records that say nothing of the protocol."""

    streams: tuple[Stream, ...]
    nodes: tuple[Node, ...]
    files: int
    lines: int
    records: int
    bytes: int
    other: int
    kinds: Mapping[str, int]
    unmapped: tuple[UnmappedLines, ...]
    notices: tuple[Notice, ...]
    catalogue: Catalogue = field(repr=False)

    @property
    def events(self) -> Iterator[Event]:
        """All events, stream by stream; the order between streams means nothing."""
        return (event for stream in self.streams for event in stream.events)

    @property
    def recognised(self) -> Iterator[Event]:
        """The events that a line shape made, without those that a file states itself."""
        return (event for event in self.events if event.shape)

    @property
    def versions(self) -> tuple[str, ...]:
        """The Kafka versions that the logs state, sorted."""
        return tuple(sorted({version for node in self.nodes for version in node.versions}))

    def explain(self, event: Event) -> str:
        """What an event means, in an operator's words; of an event that no shape made, what its line says."""
        return self.catalogue.shape(event.shape).explain(event.fields) if event.shape else event.record.message

    def role(self, event: Event) -> str | None:
        """What an event's line tells of the process itself; see ``Shape.role``."""
        return self.catalogue.shape(event.shape).role if event.shape else None


def read_logs(paths: Sequence[Path | str], options: ReadOptions = ReadOptions()) -> LogReading:
    """Read the logs behind the paths: files, directories, archives.

    Raises SpecError for a path that does not exist (E601) and for a shape file that cannot be used (E701, E702).
    Everything else that goes wrong is a notice, and the rest is read.
    """
    places = [Path(path) for path in paths]
    check_paths(places)
    with _no_collection():
        return _read(places, options)


@contextmanager
def _no_collection() -> Iterator[None]:
    """No search for garbage: a reading makes millions of objects and no cycles, and looking for them takes a quarter of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _read(places: Sequence[Path], options: ReadOptions) -> LogReading:
    """All of it: files, then whose lines they are, then events."""
    catalogue = load_catalogue(options.shape_files)
    notices: list[Notice] = []
    readings = list(_read_files(places, options, catalogue, notices))
    find_years(readings, notices)
    drop_copies(readings, notices)
    notices += missing_parts(readings)
    streams, nodes = _identify(readings, notices)
    of_json = _json_streams(readings)
    streams += of_json
    nodes += [Node(name, (), (), max(runs)) for name, runs in _runs_by_node(of_json).items()]
    for reading in readings:
        notices += reading.tally.notices
    return LogReading(
        streams=tuple(streams),
        nodes=tuple(nodes),
        files=len({reading.file for reading in readings if reading.is_log}),
        lines=sum(reading.tally.lines for reading in readings),
        records=sum(reading.tally.records for reading in readings),
        bytes=sum(reading.tally.bytes for reading in readings),
        other=sum(reading.other for reading in readings),
        kinds=dict(sorted(Counter(event.kind for stream in streams for event in stream.events).items())),
        unmapped=_unmapped(readings),
        notices=tuple(notices),
        catalogue=catalogue,
    )


def read_events(paths: Sequence[Path | str], options: ReadOptions = ReadOptions()) -> list[Event]:
    """The events of :func:`read_logs` alone."""
    return list(read_logs(paths, options).events)


def _read_files(
    paths: Sequence[Path], options: ReadOptions, catalogue: Catalogue, notices: list[Notice]
) -> Iterator[FileReading]:
    """Each file once: one with the content of an earlier file is reported and left out."""
    reader = RecordReader(Recogniser(catalogue), options.scan)
    seen: dict[bytes, str] = {}
    for source in walk(paths, options.expansion, notices):
        stream = source.content.stream
        pasted = may_be_pasted(source.base, named=source.named)
        whole, *parts = reader.read(stream, stream.head, source.origin, may_be_pasted=pasted)
        is_log = any(reading.is_log for reading in (whole, *parts))
        first = seen.setdefault(whole.digest, source.file) if is_log else source.file
        if first != source.file:
            notices.append(
                Notice("duplicated input", Place(source.file, 1, 0), f"the same content as {first}; read once")
            )
        else:
            yield from (whole, *parts)


def _unmapped(readings: Sequence[FileReading]) -> tuple[UnmappedLines, ...]:
    """The unmapped records of all files, the most frequent first."""
    merged: dict[tuple[str, str], UnmappedLines] = {}
    for reading in readings:
        for key, lines in reading.unmapped.items():
            before = merged.get(key)
            count, place = (lines.count, lines.place) if before is None else (before.count + lines.count, before.place)
            merged[key] = UnmappedLines(*key, count, place)
    return tuple(sorted(merged.values(), key=lambda lines: (-lines.count, lines.logger, lines.text)))


def _identify(readings: Sequence[FileReading], notices: list[Notice]) -> tuple[list[Stream], list[Node]]:
    """Nodes, runs, brokers and sessions for all records, and the events that come of them."""
    grouped = [_RunRecords(node) for node in group_by_node(readings, notices)]
    owners = {session: (run, node.broker(run)) for node in grouped for session, run in node.owners.items()}
    streams = [stream for node in grouped for stream in node.streams(owners)]
    return streams, [node.node() for node in grouped]


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
