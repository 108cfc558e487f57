"""An overview of the input: nodes with versions, settings and clocks, the cluster, and what the logs lack."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.attribution.attribution import RunStream
from assay.traces.attribution.eager_events import EagerEvents
from assay.traces.attribution.node_files import ClusterNode
from assay.traces.attribution.run_events import Traits
from assay.traces.diagnosis.clock_against_server import ClockEstimate, estimates
from assay.traces.diagnosis.cluster_ids import ClusterSpan, cluster_spans, new_incarnations
from assay.traces.diagnosis.incident_moments import Moment, moments, shut_down
from assay.traces.durations import duration_in_words
from assay.traces.event import Event, Field, Notice
from assay.traces.log_reader import LogReading
from assay.traces.patterns.rule_files import rule_file
from assay.traces.store.packed_records import NEVER
from assay.traces.store.record_block import Numbers
from assay.traces.table.event_table import times, traits

LEVELS = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")
LACKING = "lacking input"
RELEASES = (
    *("0.10", "0.11", "1.0", "1.1", "2.0", "2.1", "2.2", "2.3", "2.4", "2.5", "2.6", "2.7", "2.8"),
    *("3.0", "3.1", "3.2", "3.3", "3.4", "3.5", "3.6", "3.7", "3.8", "3.9"),
    *("4.0", "4.1", "4.2", "4.3", "4.4"),
)
"""The release lines of Kafka whose lines are known."""

_OF_BROKERS = ("kafka.", "state.")
"""The beginnings of loggers that a quorum's controller, apart from what its server says, does not have."""
_SILENT = 10 * 60_000
_OTHERS = 20
_SLOW = 1_000


@dataclass(slots=True)
class NodeOverview:
    """A node: what it ran, the time span of its lines, its settings, the finest level of each logger, and its clock."""

    node: ClusterNode
    events: int = 0
    first: int | None = None
    last: int | None = None
    settings: dict[str, str] = field(default_factory=dict)
    levels: dict[str, str] = field(default_factory=dict)
    clock: ClockEstimate | None = None


@dataclass(frozen=True, slots=True)
class Overview:
    """The input. ``lacking`` lists what would improve an answer; none of it makes an answer wrong. ``moments`` are what
    happened, for a timeline; from ``shut_down`` on (milliseconds since the epoch) all brokers shut down for good.
    """

    nodes: tuple[NodeOverview, ...]
    clusters: tuple[str, ...]
    lacking: tuple[Notice, ...]
    moments: tuple[Moment, ...] = ()
    shut_down: int | None = None


def overview(reading: LogReading) -> Overview:
    """The overview, node by node."""
    worth = _worth_saying()
    nodes = {node.name: NodeOverview(node) for node in reading.nodes}
    logged: dict[str, list[Numbers]] = defaultdict(list)
    loggers: set[str] = set()
    for stream in reading.streams:
        for name, events in _by_node(stream, nodes):
            nodes[name].events += len(events)
            logged[name].append(times(events))
            for each in traits(events):
                loggers.add(each.logger)
                _note_level(nodes[name], each)
    for event in reading.of_role("configuration"):
        nodes[event.run.node].settings |= _settings(event.record.message, worth["settings"])
    for name, clock in estimates(reading).items():
        nodes[name].clock = clock
    # Sorted, because a node has several files, and `_silences` looks for gaps between neighbours.
    known = {name: np.sort(own[own != NEVER]) for name, parts in logged.items() if len(own := np.concatenate(parts))}
    for name, own in known.items():
        if len(own):
            nodes[name].first, nodes[name].last = int(own[0]), int(own[-1])
    clusters = cluster_spans(reading)
    every = tuple(nodes.values())
    names = tuple(sorted(cluster.name for cluster in clusters))
    reported = moments(reading)
    lacking = tuple(_lacking(loggers, every, known, worth, clusters))
    return Overview(every, names, lacking, reported, shut_down(reading, reported))


def _by_node(stream: RunStream, nodes: Container[str]) -> Iterator[tuple[str, Sequence[Event]]]:
    """The events of a stream by the node that wrote them; a file whose lines are in one order holds those of several."""
    if stream.run.node in nodes:
        yield stream.run.node, stream.events
        return
    found: dict[str, list[Event]] = defaultdict(list)
    for event in stream.events:
        found[str(event.fields["node"])].append(event)
    yield from ((name, EagerEvents(own)) for name, own in found.items())


def files_to_add(nodes: Sequence[NodeOverview]) -> dict[str, list[str]]:
    """The files of Kafka's own configuration of which nothing was read, by whose they are."""
    found: dict[str, list[str]] = {}
    for known in _worth_saying()["file"]:
        begins = tuple(known["loggers"])
        without = [node for node in nodes if not any(logger.startswith(begins) for logger in node.levels)]
        if "of" not in known:
            for node in without:
                if node.node.brokers and any(logger.startswith(_OF_BROKERS) for logger in node.levels):
                    found.setdefault(f"broker {', '.join(map(str, node.node.brokers))}", []).append(known["name"])
        # Only the controller writes `controller.log`, so it is missing only if no node has it.
        elif len(without) == len(nodes):
            found.setdefault(known["of"], []).append(known["name"])
    return found


def configured(reading: LogReading) -> dict[str, Field]:
    """The values of fields that configurations give where no line does (``patterns/rules/settings.toml``)."""
    logged = {entry["setting"]: entry["field"] for entry in _worth_saying()["stated"]}
    found: dict[str, Field] = {}
    for event in reading.of_role("configuration"):
        found |= {logged[name]: value for name, value in _settings(event.record.message, logged).items()}
    return found


def protocol_versions(reading: LogReading) -> tuple[str, ...]:
    """The versions that the nodes ran, and those that their configurations make them speak. If no line states one,
    these are all releases that write every kind of line that was read.
    """
    names = _worth_saying()["versions"]
    found = set(reading.versions)
    for event in reading.of_role("configuration"):
        found |= set(_settings(event.record.message, names).values())
    return tuple(sorted(found)) or _releases_of_lines(reading)


def _releases_of_lines(reading: LogReading) -> tuple[str, ...]:
    """The releases in whose sources all kinds of lines are; none if no release has them all."""
    patterns = {each.pattern for each in reading.events.traits() if each.pattern}
    # The versions of a pattern: `2.4-3.1`, or one release.
    logged = {reading.catalogue.pattern(name).versions for name in patterns} - {""}
    ranges = [(_release(low), _release(high or low)) for low, _, high in (each.partition("-") for each in logged)]
    return tuple(each for each in RELEASES if all(low <= _release(each) <= high for low, high in ranges) and ranges)


def _release(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])


def _worth_saying() -> Mapping[str, Any]:
    return rule_file("settings.toml")


def _note_level(node: NodeOverview, line: Traits) -> None:
    before = node.levels.get(line.logger)
    if line.logger and line.level in LEVELS and (before is None or LEVELS.index(line.level) < LEVELS.index(before)):
        node.levels[line.logger] = line.level


def _settings(message: str, names: Iterable[str]) -> dict[str, str]:
    """The values of settings in a configuration dump, if set."""
    # A dump of Kafka's settings has a line for each, as `\tbroker.id = 1`, in the order of their names.
    found = dict(re.findall(r"^\t([\w.]+) = ([^\n]*)$", message, re.MULTILINE))
    return {name: found[name] for name in names if found.get(name, "null") not in {"null", "", "[]"}}


def _lacking(
    loggers: Iterable[str],
    nodes: tuple[NodeOverview, ...],
    logged: Mapping[str, Numbers],
    worth: Mapping[str, Any],
    clusters: Sequence[ClusterSpan],
) -> Iterator[Notice]:
    yield from new_incarnations(clusters)
    yield from _missing_members(nodes, worth["members"])
    yield from _missing_sources(loggers, nodes, worth["source"])
    yield from _levels(nodes, worth["level"])
    yield from _silences(logged)
    yield from _clocks(nodes)


def _missing_members(nodes: tuple[NodeOverview, ...], members: Iterable[str]) -> Iterator[Notice]:
    """Notices about nodes that a configuration names and that have no log."""
    read = {broker for node in nodes for broker in node.node.brokers}
    for setting in members:
        named: dict[int, NodeOverview] = {}
        for node in nodes:
            # As in `controller.quorum.voters = 1@host:9093,2@host:9093`.
            for number in re.findall(r"(\d+)@", node.settings.get(setting, "")):
                named.setdefault(int(number), node)
        for number in sorted(set(named) - read):
            text = f"node {number} is in `{setting}` of {named[number].node.name}, and none of its logs was read"
            yield Notice(LACKING, None, text)


def _missing_sources(
    loggers: Iterable[str], nodes: tuple[NodeOverview, ...], sources: Iterable[Mapping[str, str]]
) -> Iterator[Notice]:
    for source in sources:
        wanted = any(source["setting"] in node.settings for node in nodes)
        if wanted and not any(logger.startswith(source["logger"]) for logger in loggers):
            yield Notice(LACKING, None, source["text"])


def _levels(nodes: tuple[NodeOverview, ...], levels: Iterable[Mapping[str, str]]) -> Iterator[Notice]:
    """Notices about loggers that could log more: one for all nodes."""
    for known in levels:
        brokers = [node for node in nodes if node.node.brokers]
        # A node without a line of the logger is not blamed: nothing is known of its level.
        coarse = [node for node in brokers if node.levels.get(known["logger"], known["level"]) != known["level"]]
        if coarse:
            names = ", ".join(node.node.name for node in coarse)
            at = ", ".join(sorted({node.levels[known["logger"]] for node in coarse}))
            yield Notice(LACKING, None, f"{known['logger']} of {names} is at {at}: {known['level']} {known['text']}")


def _silences(logged: Mapping[str, Numbers]) -> Iterator[Notice]:
    """Notices about spans of ten minutes and more in which a node logs nothing while others log a good deal."""
    for name, own in logged.items():
        for at in np.flatnonzero(np.diff(own) >= _SILENT).tolist():
            before, after = int(own[at]), int(own[at + 1])
            others = sum(
                int(np.searchsorted(theirs, after, side="left") - np.searchsorted(theirs, before, side="right"))
                for other, theirs in logged.items()
                if other != name
            )
            if others >= _OTHERS:
                silence = duration_in_words(after - before)
                yield Notice(
                    LACKING,
                    None,
                    f"{name} says nothing for {silence}, in which others wrote {others:,} lines",
                )


def _clocks(nodes: tuple[NodeOverview, ...]) -> Iterator[Notice]:
    for node in nodes:
        if node.clock is not None and not 0 <= node.clock.at_most <= _SLOW:
            yield Notice("clock", node.clock.place, node.clock.describe(node.node.name))
