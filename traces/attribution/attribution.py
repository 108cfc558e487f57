"""From records to events: attribute each record to a process run, a broker and a session, as far as they are known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.attribution.causality import causal_pasts
from assay.traces.attribution.duplicate_ids import separate_processes
from assay.traces.attribution.eager_events import EagerEvents
from assay.traces.attribution.log_author import Author, Owners
from assay.traces.attribution.node_files import ClusterNode, NodeFiles
from assay.traces.attribution.node_identity import group_by_node, node_names
from assay.traces.attribution.other_sessions import broker_sessions_only
from assay.traces.attribution.process_runs import RunSplitter
from assay.traces.attribution.run_events import LogEvents
from assay.traces.attribution.zookeeper_sessions import SessionTimeline
from assay.traces.event import CausalPast, Event, Field, LogPosition, Notice, ProcessRun
from assay.traces.input.events.decoder import JsonEvent
from assay.traces.input.file_contents import FileReading
from assay.traces.input.tied_lines import SAMPLE, UNORDERED_TIES, UsualOrder


@dataclass(frozen=True, slots=True)
class RunStream:
    """The events of one process run in one log (a file, or the parts of a rotated file), in the order of writing.

    ``file`` is the first part.
    """

    run: ProcessRun
    file: str
    events: Sequence[Event]


def attribute(readings: Sequence[FileReading], notices: list[Notice]) -> tuple[list[RunStream], list[ClusterNode]]:
    """The nodes, and the events of all records with their runs, brokers and sessions."""
    # Processes are separated before runs are: two that ran side by side would look like one that restarts all the time.
    nodes = separate_processes(group_by_node(readings, notices))
    _order_ties(nodes, notices)
    grouped = [_RunRecords(node, notices) for node in nodes]
    # Owners of all nodes come before any event: lines of ZooKeeper name sessions that were learnt from brokers.
    owners = {session: (run, node.broker(run)) for node in grouped for session, run in node.owners.items()}
    streams = [stream for node in grouped for stream in node.streams(owners)]
    of_json = _json_streams(readings, notices)
    seen = [node.node() for node in grouped]
    seen += [ClusterNode(name, (), (), max(runs)) for name, runs in _runs_by_node(of_json).items()]
    return streams + of_json, seen


def _order_ties(nodes: Sequence[NodeFiles], notices: list[Notice]) -> None:
    """Bring lines of one millisecond into their usual order where they stand in none."""
    # What the beginnings of logs show, their whole shows: natural logs should not pay for those of others.
    begins = {node.name: [matches[:SAMPLE] for matches in node.logs.values()] for node in nodes}
    every = [each for logs in begins.values() for each in logs]
    usual = UsualOrder(every)
    # The logs of one node may hold too few ties to tell; an export mostly holds those of all.
    together = usual.is_kept(every)
    turned = [node for node in nodes if node.logs and not (together and usual.is_kept(begins[node.name]))]
    if not turned:
        return
    usual = UsualOrder([matches for node in nodes for matches in node.logs.values()])
    for node in turned:
        node.logs.update({stream: log.take(usual.positions(log)) for stream, log in node.logs.items()})
    first = next(matches[0].record.place.file for node in turned for matches in node.logs.values() if len(matches))
    names = ", ".join(node.name for node in turned)
    text = f"lines of one time stand in no order; they were put into the usual one ({names})"
    notices.append(Notice(UNORDERED_TIES, LogPosition(first, 1, 0), text))


def _json_streams(readings: Sequence[FileReading], notices: list[Notice]) -> list[RunStream]:
    """The events of files of events (``docs/events.md``), one stream for each process run in each file."""
    names = node_names(dict.fromkeys(reading.origin.folder for reading in readings if reading.events))
    found: dict[tuple[ProcessRun, str], list[tuple[JsonEvent, ProcessRun]]] = {}
    for reading in readings:
        for event in reading.events:
            run = ProcessRun(event.node or names[reading.origin.folder], event.run)
            log = _one_log(reading) or (run, reading.origin.stream)
            found.setdefault(log, []).append((event, run))
    streams = [
        RunStream(
            run, file, EagerEvents.of_one_log(_event(event, run, file, own) for event, own in _by_sequence(events))
        )
        for (run, file), events in found.items()
    ]
    return _with_pasts(streams, list(found.values()), notices) if _are_causal(readings) else streams


def _are_causal(readings: Sequence[FileReading]) -> bool:
    return any(reading.order == "causal" for reading in readings if reading.events)


def _with_pasts(
    streams: Sequence[RunStream], logs: Sequence[Sequence[tuple[JsonEvent, ProcessRun]]], notices: list[Notice]
) -> list[RunStream]:
    """The same streams, with the causal past of each event."""
    pasts, doubts = causal_pasts(logs)
    notices += doubts
    return [
        replace(stream, events=EagerEvents.of_one_log(map(_after, stream.events, past)))
        for stream, past in zip(streams, pasts, strict=True)
    ]


def _after(event: Event, past: CausalPast) -> Event:
    return replace(event, past=past)


_MOST_DIGITS = 19
"""The number of a run has fewer."""

TOGETHER = ProcessRun("", 1)
"""The writer of events whose order is that of one file of all nodes, or of one sequence of numbers."""


def _one_log(reading: FileReading) -> tuple[ProcessRun, str] | None:
    """The log that holds all events of a file in the order of what happened; None if the nodes are in no order."""
    match reading.order:
        case "lines":
            return TOGETHER, reading.origin.stream
        case "sequence":
            return TOGETHER, "all files"
        case _:
            return None


def _by_sequence(events: list[tuple[JsonEvent, ProcessRun]]) -> list[tuple[JsonEvent, ProcessRun]]:
    """Events in the order of their numbers, if they have them; else in that of their lines."""
    # Where one event has no number, the numbers order nothing: its place among them is not known.
    if any(event.sequence is None for event, _ in events):
        return events
    return sorted(events, key=lambda each: each[0].sequence or 0)


def _event(event: JsonEvent, log: ProcessRun, stream: str, own: ProcessRun) -> Event:
    """The event as one of a log; its own run is among its fields, for the log may be that of all nodes."""
    fields: dict[str, Field] = {**event.fields, "node": own.node}
    # The log is that of all nodes, so what tells runs apart has to be a field. One that the event has itself stays.
    if log is TOGETHER:
        fields.setdefault("run", str(own))
    if log is TOGETHER and own.number > 1:
        fields.setdefault("previous_run", str(ProcessRun(own.node, own.number - 1)))
    return Event(event.kind, "", fields, event.record, log, "" if stream == event.record.place.file else stream)


def _runs_by_node(streams: Iterable[RunStream]) -> dict[str, set[int]]:
    """The run numbers of each node."""
    found: dict[str, set[int]] = {}
    for stream in streams:
        if stream.run is TOGETHER:
            for event in stream.events:
                node = str(event.fields["node"])
                # `n#3` is the third run of `n`. A clause may read a field `run` of its own, which is any text.
                number = str(event.fields["run"]).removeprefix(f"{node}#")
                is_later = number != event.fields["run"] and number.isdecimal() and len(number) < _MOST_DIGITS
                found.setdefault(node, set()).add(int(number) if is_later else 1)
        else:
            found.setdefault(stream.run.node, set()).add(stream.run.number)
    return found


class _RunRecords:
    """The records of one node by run and log, with what the runs report about themselves."""

    def __init__(self, files: NodeFiles, notices: list[Notice]) -> None:
        self._files = files
        self._runs = RunSplitter(files)
        self._records = broker_sessions_only(self._runs.divided(), notices)
        self._timelines = {run: SessionTimeline() for run in self._records}
        self.owners: dict[str, ProcessRun] = {}
        for run, timeline in self._timelines.items():
            self.owners |= dict.fromkeys(timeline.learn(self._records[run]), run)
        self._brokers = {run: self._broker_of(run) for run in self._records}

    def broker(self, run: ProcessRun) -> int | None:
        """The broker id of a run if its lines name exactly one, otherwise that of the node if it is known."""
        return self._brokers[run]

    def node(self) -> ClusterNode:
        """The node as users see it."""
        versions = {
            str(finding.fields["version"])
            for sections in self._records.values()
            for section in sections
            for at in section.matches.with_roles("version")
            for finding in section.matches[at].matches
            if finding.pattern.role == "version"
        }
        brokers = tuple(sorted(self._files.brokers()))
        return ClusterNode(self._files.name, brokers, tuple(sorted(versions)), self._runs.count)

    def streams(self, owners: Owners) -> Iterator[RunStream]:
        """The events of the node, one stream for each run and log."""
        for run, sections in sorted(self._records.items(), key=lambda item: item[0].number):
            author = Author(run, self._brokers[run], owners, unknown=self._files.unknown)
            for section in sections:
                sessions = self._timelines[run].of(section)
                yield RunStream(
                    run, section.stream, LogEvents.of_records(section.matches, sessions, author, section.stream)
                )

    def _broker_of(self, run: ProcessRun) -> int | None:
        # Lines of one run that name two ids do not tell which is its own, so the broker stays unknown.
        own = set().union(*(section.matches.writers for section in self._records[run])) or self._files.brokers()
        return min(own) if len(own) == 1 else None
