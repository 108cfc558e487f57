"""What the input is: nodes with their versions, settings and clocks, the cluster, and what is not among the logs."""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from itertools import pairwise
from typing import Any

from assay.traces.clusters import ClusterSpan, cluster_spans, new_incarnations
from assay.traces.events import Event, Field, Notice, Place
from assay.traces.identity import Node
from assay.traces.read import LogReading

LEVELS = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")
LACKING = "lacking input"
_SILENT = 10 * 60_000
_OTHERS = 20
_SLOW = 1_000


@dataclass(frozen=True, slots=True)
class ClockEstimate:
    """How a node's clock stands to the one of the server whose times its lines repeat.

    A line is written after what it reports, so the clock is ahead by at most ``at_most`` milliseconds: the least by which one of ``lines`` lines
    follows, by the node's clock, what it reports by the server's. ``place`` is that line. A negative number is how far the clock is behind, at least.
    """

    at_most: int
    lines: int
    place: Place


@dataclass(slots=True)
class NodeOverview:
    """A node: what it ran, from when to when its lines are, its settings, the finest level of each logger, and its clock."""

    node: Node
    events: int = 0
    first: int | None = None
    last: int | None = None
    settings: dict[str, str] = field(default_factory=dict)
    levels: dict[str, str] = field(default_factory=dict)
    clock: ClockEstimate | None = None


@dataclass(frozen=True, slots=True)
class Overview:
    """The input. ``lacking`` is what an answer could be better with; nothing of it makes an answer wrong."""

    nodes: tuple[NodeOverview, ...]
    clusters: tuple[str, ...]
    lacking: tuple[Notice, ...]


def overview(reading: LogReading) -> Overview:
    """What the logs are, node by node."""
    worth = _worth_saying()
    nodes = {node.name: NodeOverview(node) for node in reading.nodes}
    times: dict[str, list[int]] = defaultdict(list)
    for event in reading.events:
        node = nodes[event.run.node]
        node.events += 1
        if event.record.time is not None:
            times[event.run.node].append(event.record.time)
        _note_level(node, event)
        if reading.role(event) == "configuration":
            node.settings |= _settings(event.record.message, worth["settings"])
        _note_clock(node, event, reading)
    for name, own in times.items():
        own.sort()
        nodes[name].first, nodes[name].last = own[0], own[-1]
    clusters = cluster_spans(reading.recognised)
    every = tuple(nodes.values())
    names = tuple(sorted(cluster.name for cluster in clusters))
    return Overview(every, names, tuple(_lacking(reading, every, times, worth, clusters)))


def configured(reading: LogReading) -> dict[str, Field]:
    """The values that configurations give to fields where no line states them, as ``settings.toml`` says."""
    stated = {entry["setting"]: entry["field"] for entry in _worth_saying()["stated"]}
    found: dict[str, Field] = {}
    for event in reading.recognised:
        if reading.role(event) == "configuration":
            found |= {stated[name]: value for name, value in _settings(event.record.message, stated).items()}
    return found


def protocol_versions(reading: LogReading) -> tuple[str, ...]:
    """The versions that the nodes ran, and those that their configurations make them speak."""
    names = _worth_saying()["versions"]
    found = set(reading.versions)
    for event in reading.recognised:
        if reading.role(event) == "configuration":
            found |= set(_settings(event.record.message, names).values())
    return tuple(sorted(found))


def _worth_saying() -> dict[str, Any]:
    return tomllib.loads((files("assay.traces.shapes") / "settings.toml").read_text(encoding="utf-8"))


def _note_level(node: NodeOverview, event: Event) -> None:
    record = event.record
    before = node.levels.get(record.logger)
    if (
        record.logger
        and record.level in LEVELS
        and (before is None or LEVELS.index(record.level) < LEVELS.index(before))
    ):
        node.levels[record.logger] = record.level


def _settings(message: str, names: Iterable[str]) -> dict[str, str]:
    """The values of settings in a configuration dump, those that are set."""
    found = dict(re.findall(r"^\t([\w.]+) = ([^\n]*)$", message, re.MULTILINE))
    return {name: found[name] for name in names if found.get(name, "null") not in {"null", "", "[]"}}


def _note_clock(node: NodeOverview, event: Event, reading: LogReading) -> None:
    """Compare the line's time with the other clock's that it repeats."""
    name = reading.catalogue.shape(event.shape).clock if event.shape else None
    other, own = event.fields.get(name) if name is not None else None, event.record.time
    if own is None or not isinstance(other, int):
        return
    late, place, lines = own + event.record.resolution - 1 - other, event.record.place, 1
    if node.clock is not None:
        lines += node.clock.lines
        late, place = min((late, place), (node.clock.at_most, node.clock.place), key=lambda pair: pair[0])
    node.clock = ClockEstimate(late, lines, place)


def _lacking(
    reading: LogReading,
    nodes: tuple[NodeOverview, ...],
    times: Mapping[str, list[int]],
    worth: Mapping[str, Any],
    clusters: Sequence[ClusterSpan],
) -> Iterator[Notice]:
    yield from new_incarnations(clusters)
    yield from _missing_members(nodes, worth["members"])
    yield from _missing_sources(reading, nodes, worth["source"])
    yield from _levels(nodes, worth["level"])
    yield from _silences(times)
    yield from _clocks(nodes)


def _missing_members(nodes: tuple[NodeOverview, ...], members: Iterable[str]) -> Iterator[Notice]:
    """Nodes that a configuration names and that have no log."""
    read = {broker for node in nodes for broker in node.node.brokers}
    for setting in members:
        named: dict[int, NodeOverview] = {}
        for node in nodes:
            for number in re.findall(r"(\d+)@", node.settings.get(setting, "")):
                named.setdefault(int(number), node)
        for number in sorted(set(named) - read):
            text = f"node {number} is in `{setting}` of {named[number].node.name}, and none of its logs was read"
            yield Notice(LACKING, None, text)


def _missing_sources(
    reading: LogReading, nodes: tuple[NodeOverview, ...], sources: Iterable[Mapping[str, str]]
) -> Iterator[Notice]:
    for source in sources:
        wanted = any(source["setting"] in node.settings for node in nodes)
        if wanted and not any(event.record.logger.startswith(source["logger"]) for event in reading.events):
            yield Notice(LACKING, None, source["text"])


def _levels(nodes: tuple[NodeOverview, ...], levels: Iterable[Mapping[str, str]]) -> Iterator[Notice]:
    """Loggers that write less than they could: one notice for all nodes."""
    for known in levels:
        brokers = [node for node in nodes if node.node.brokers]
        coarse = [node for node in brokers if node.levels.get(known["logger"], known["level"]) != known["level"]]
        if coarse:
            names = ", ".join(node.node.name for node in coarse)
            at = ", ".join(sorted({node.levels[known["logger"]] for node in coarse}))
            yield Notice(LACKING, None, f"{known['logger']} of {names} is at {at}: {known['level']} {known['text']}")


def _silences(times: Mapping[str, list[int]]) -> Iterator[Notice]:
    """Spans of ten minutes and more in which a node says nothing while others say a good deal."""
    for name, own in times.items():
        for before, after in pairwise(own):
            if after - before < _SILENT:
                continue
            others = sum(before < time < after for other, theirs in times.items() if other != name for time in theirs)
            if others >= _OTHERS:
                minutes = (after - before) // 60_000
                yield Notice(
                    LACKING,
                    None,
                    f"{name} says nothing for {minutes:,} minutes, in which others wrote {others:,} lines",
                )


def _clocks(nodes: tuple[NodeOverview, ...]) -> Iterator[Notice]:
    for node in nodes:
        clock = node.clock
        if clock is not None and clock.at_most < 0:
            text = f"the clock of {node.node.name} is behind by at least {-clock.at_most:,} ms: this line is older than what it reports"
            yield Notice("clock", clock.place, text)
        elif clock is not None and clock.at_most > _SLOW:
            text = (
                f"the clock of {node.node.name} is ahead by up to {clock.at_most:,} ms, or its lines are late by that"
            )
            yield Notice("clock", clock.place, text)
