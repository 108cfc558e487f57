"""From records to events: the process run that wrote each, its broker and its session, as far as they are known."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.traces.events import Event, Field, Notice, ProcessRun
from assay.traces.identity import Node, NodeFiles, Runs, Section, group_by_node, node_names, writers_of
from assay.traces.readers.reading import FileReading
from assay.traces.sessions import SessionTimeline
from assay.traces.shapes.form import LineFields


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
        self._records = self._runs.divided()
        self._timelines = {run: SessionTimeline() for run in self._records}
        self.owners: dict[str, ProcessRun] = {}
        for run, timeline in self._timelines.items():
            self.owners |= dict.fromkeys(timeline.learn(self._records[run]), run)
        self._brokers = {run: self._broker_of(run) for run in self._records}

    def broker(self, run: ProcessRun) -> int | None:
        """The broker id of a run, if its lines state exactly one, or else the node's if that is known."""
        return self._brokers[run]

    def node(self) -> Node:
        """The node as users see it."""
        versions = {
            str(finding.fields["version"])
            for sections in self._records.values()
            for section in sections
            for match in section.matches
            if "version" in match.roles
            for finding in match.findings
            if finding.shape.role == "version"
        }
        brokers = tuple(sorted(self._files.brokers()))
        return Node(self._files.name, brokers, tuple(sorted(versions)), self._runs.count)

    def streams(self, owners: Mapping[str, tuple[ProcessRun, int | None]]) -> Iterator[Stream]:
        """The events of the node, a stream for each run and log."""
        for run, sections in sorted(self._records.items(), key=lambda item: item[0].number):
            author = _Author(run, self._brokers[run], self._timelines[run], owners, unknown=self._files.unknown)
            for section in sections:
                yield Stream(run, section.stream, tuple(author.events(section)))

    def _broker_of(self, run: ProcessRun) -> int | None:
        own = set().union(*(writers_of(section.matches) for section in self._records[run])) or self._files.brokers()
        return min(own) if len(own) == 1 else None


class _Author:
    """One process run as the author of its lines; ``broker`` is none where that is not known, as the run is with ``unknown``."""

    def __init__(
        self,
        run: ProcessRun,
        broker: int | None,
        timeline: SessionTimeline,
        owners: Mapping[str, tuple[ProcessRun, int | None]],
        *,
        unknown: bool,
    ) -> None:
        self._run, self._broker, self._timeline, self._owners = run, broker, timeline, owners
        self._place: dict[str, Field] = {"node": None, "run": None} if unknown else {"node": str(run)}
        self._added: dict[tuple[int, str | None], dict[str, Field] | None] = {}

    def events(self, section: Section) -> Iterator[Event]:
        """The events of some records, with the node, the broker and the session added where they are known."""
        run, name = self._run, section.stream
        for match, session in zip(section.matches, self._timeline.of(section), strict=True):
            record = match.record
            stream = "" if name == record.place.file else name
            for finding in match.findings:
                shape = finding.shape
                yield Event(shape.kind, shape.name, self._fields(finding.fields, session), record, run, stream)

    def _fields(self, stated: Mapping[str, Field], session: str | None) -> Mapping[str, Field]:
        if not isinstance(stated, LineFields):
            return self._with_more(stated, session)
        key = id(stated.form), session
        if key in self._added:
            added = self._added[key]
        else:
            alike = stated.names.isdisjoint(("session", "owner_session"))
            added = self._added[key] = self._to_add(stated.names, session) if alike else None
        return self._with_more(stated, session) if added is None else stated.with_more(added)

    def _with_more(self, stated: Mapping[str, Field], session: str | None) -> dict[str, Field]:
        """All fields of a line; it may name a session, and then more is known of that."""
        fields = {**stated, **self._more(session if "session" not in stated else None, says_broker="broker" in stated)}
        self._add_owner(fields)
        return fields

    def _to_add(self, names: Collection[str], session: str | None) -> dict[str, Field]:
        """What is added to the fields of lines with these names, none of which is that of a session."""
        added = self._more(session, says_broker="broker" in names)
        self._add_owner(added)
        return added

    def _more(self, session: str | None, *, says_broker: bool) -> dict[str, Field]:
        """What is added to the fields of a line: a session if one is given, and the broker if it does not say that itself."""
        more = dict(self._place)
        if self._broker is not None and not says_broker:
            more["broker"] = self._broker
        if session is not None:
            more["session"] = session
        return more

    def _add_owner(self, fields: dict[str, Field]) -> None:
        """Name the process behind a session that another process's line names (ZooKeeper's, or a refused broker's)."""
        session = fields.get("owner_session", fields.get("session"))
        if not isinstance(session, str) or session not in self._owners:
            return
        owner, owner_broker = self._owners[session]
        if owner == self._run and "owner_session" not in fields:
            return
        fields["owner"] = str(owner)
        if owner_broker is not None:
            fields["owner_broker"] = owner_broker
        if "owner_session" in fields:
            fields["holder"] = _holder(owner, owner_broker, self._run)


def _holder(owner: ProcessRun, broker: int | None, run: ProcessRun) -> str:
    """Who holds a node that this run was refused, in an operator's words."""
    if owner == run:
        return "an earlier session of this very process"
    if owner.node == run.node:
        return f"an earlier run of this very broker ({owner})"
    return str(owner) if broker is None else f"broker {broker} (process {owner})"
