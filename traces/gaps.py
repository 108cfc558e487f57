"""What is missing from a set of logs. Where something is, a step that nothing explains may have its reason in what was not read."""

from __future__ import annotations

import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any, TypeVar

from assay.traces.clusters import cluster_spans, simultaneous
from assay.traces.events import Event, Field, Notice, Place, ProcessRun
from assay.traces.read import LogReading
from assay.traces.shapes.shape import BEGINNINGS
from assay.traces.validation import TraceVerdict, Validation

Key = TypeVar("Key")
KIND = "missing logs"
# One line alone may be the very mistake that is looked for; what is missing is spoken of again and again.
WITNESSES = 2
UNREAD = frozenset(
    {
        *("unreadable", "damaged file", "expansion limit", "unsupported compression", "nested archive", "binary file"),
        *(
            "record too long",
            "zero bytes",
            "beginning cut off",
            "lines left out",
            "no such time",
            "no logger",
            "not an event",
        ),
        *("interleaved nodes", "node unknown"),
    }
)
"""Notices about the input after which something that was written was not read, or not as whose it is."""


def gaps(reading: LogReading) -> list[Notice]:
    """What the logs speak of and do not hold: starts of processes, whole brokers, elections, files; each with the place that shows it.

    Logs of two clusters that were there at one time are like gaps too: what lines of one say has no explanation in the other.
    """
    apart = simultaneous(cluster_spans(reading.recognised))
    return [
        *apart,
        *_lost_starts(reading),
        *_silent_brokers(reading),
        *_lost_installations(reading),
        *_silent_loggers(reading),
        *_silent_owners(reading),
    ]


def with_gaps(validation: Validation, missing: list[Notice]) -> Validation:
    """The answer that reckons with what is missing: a mismatch is then no proof that a rule was broken."""
    answer = replace(validation, notices=(*validation.notices, *missing))
    unread = [notice for notice in validation.notices if notice.kind in UNREAD]
    if not (missing or unread) or validation.verdict is not TraceVerdict.INCONSISTENT:
        return answer
    first = (missing or unread)[0]
    text = first.text if missing or first.place is None else f"{first.place}: {first.text}"
    more = f", and {len(missing) + len(unread) - 1} more" if len(missing) + len(unread) > 1 else ""
    reason = f"logs are missing, which may be why not every line has an explanation: {text}{more}"
    return replace(answer, verdict=TraceVerdict.INCONCLUSIVE, reason=reason)


def _lost_starts(reading: LogReading) -> Iterator[Notice]:
    """Processes of a broker whose logs do not say that they started, nor any line beside them of which nobody knows whose it is."""
    first: dict[ProcessRun, Event] = {}
    started: set[ProcessRun] = set()
    unowned: set[str] = set()
    for event in reading.recognised:
        if "broker" in event.fields:
            first.setdefault(event.run, event)
        if reading.role(event) in BEGINNINGS:
            started.add(event.run)
            unowned |= {_folder(event.run)} if event.fields.get("node", "") is None else set()
    for run, event in first.items():
        if run not in started and _folder(run) not in unowned:
            yield Notice(KIND, event.record.place, f"the logs of {run} begin after its start")


def _folder(run: ProcessRun) -> str:
    """The node's name without the broker, where several brokers wrote one file."""
    return run.node.rpartition("/")[0]


def _silent_brokers(reading: LogReading) -> Iterator[Notice]:
    """Nodes that lines of others name as part of the cluster (``gaps.toml``), and of which nothing was read."""
    known = _known(reading)
    named = _witnesses((broker, event) for event in reading.recognised for broker in _named(event))
    for broker, places in sorted(named.items()):
        if broker not in known and len(places) >= WITNESSES:
            yield Notice(KIND, places[0], f"broker {broker} is spoken of, and none of its logs was read")


def _lost_installations(reading: LogReading) -> Iterator[Notice]:
    """Nodes that acted in more terms than their logs hold events that install them."""
    known = _data()["installed"]
    actor, term = known["actor"], known["term"]
    acting = _witnesses(
        ((event.fields[actor], event.fields[term]), event)
        for event in reading.recognised
        if actor in event.fields and isinstance(event.fields.get(term), int)
    )
    held = Counter(event.fields[known["winner"]] for event in reading.recognised if event.kind in known["events"])
    terms = Counter(who for (who, _), places in acting.items() if len(places) >= WITNESSES)
    for broker in _known(reading):
        if held[broker] < terms[broker]:
            place = next(places[0] for (who, _), places in acting.items() if who == broker)
            yield Notice(KIND, place, known["text"].format(broker=broker, terms=terms[broker], held=held[broker]))


def _silent_loggers(reading: LogReading) -> Iterator[Notice]:
    """Nodes that tell what they did, and nothing of what came of it, which is written by a logger of its own."""
    loggers = {(event.run.node, event.record.logger) for event in reading.recognised}
    for known in _data()["written"]:
        first: dict[str, Place] = {}
        for event in reading.recognised:
            if event.kind in known["events"]:
                first.setdefault(event.run.node, event.record.place)
        for node, place in first.items():
            if (node, known["logger"]) not in loggers:
                yield Notice(KIND, place, known["text"].format(node=node))


def _silent_owners(reading: LogReading) -> Iterator[Notice]:
    """Processes that own what another one asked for, and of which nothing was read."""
    known = _data()["refused"]
    refused = [event for event in reading.recognised if event.kind in known["events"]]
    if not refused:
        return
    opened = {event.fields.get(known["opened"]) for event in reading.recognised if event.kind in known["opens"]}
    runs = {
        (event.fields.get(known["what"]), event.run)
        for event in reading.recognised
        if event.kind not in known["events"]
    }
    for event in refused:
        what = event.fields.get(known["what"])
        others = any(each == what and run != event.run for each, run in runs)
        if not others and event.fields.get(known["owner"]) not in opened:
            yield Notice(KIND, event.record.place, known["text"].format(node=event.run.node, what=what))


def _known(reading: LogReading) -> list[int]:
    """The brokers of which something was read."""
    return sorted({broker for node in reading.nodes for broker in node.brokers})


def _named(event: Event) -> set[int]:
    """The nodes of which a line says that they are, or were, part of the cluster."""
    found: list[Field] = []
    for known in _data()["named"]:
        if "among" not in known or not event.fields.keys().isdisjoint(known["among"]):
            found += [event.fields.get(name) for name in known["fields"]]
            for name in known["maps"]:
                held = event.fields.get(name)
                found += held if isinstance(held, Mapping) else ()
    return {broker for broker in found if isinstance(broker, int)}


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads((files("assay.traces.shapes") / "gaps.toml").read_text(encoding="utf-8"))


def _witnesses(said: Iterable[tuple[Key, Event]]) -> dict[Key, list[Place]]:
    """The lines that say a thing, of each once."""
    found: dict[Key, list[Place]] = defaultdict(list)
    for key, event in said:
        if event.record.place not in found[key][-1:]:
            found[key].append(event.record.place)
    return found
