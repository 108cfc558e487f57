"""The moments of an incident: controllers, sessions, starts and failures, as ``patterns/rules/moments.toml`` tells
them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.event import Event, Field, LogPosition, ProcessRun
from assay.traces.log_reader import LogReading
from assay.traces.patterns.rule_files import rule_file

_INCARNATION = frozenset({"start", "shutdown", "death"})


@dataclass(frozen=True, slots=True)
class Moment:
    """Something that happened at a time (milliseconds since the epoch), in an operator's words. The heavier one says
    more about an incident; data may be lost by one with ``is_risk``. ``term`` is the controller and its epoch, where one
    begins. ``of`` is ``start``, ``shutdown`` or ``death`` of a process, or another word of the rules; ``node`` wrote
    the line about it.
    """

    time: int
    text: str
    weight: int
    place: LogPosition
    is_risk: bool = False
    term: str | None = None
    of: str = ""
    node: str = ""


def moments(reading: LogReading) -> tuple[Moment, ...]:
    """The moments in the order of time. What several lines tell is one moment."""
    rules = rule_file("moments.toml")
    reported = [
        (time, rule, event)
        for rule in rules["moment"]
        if reading.is_excerpt or not rule.get("few")
        for time, event in _events(reading, rule)
    ]
    owners = _owners(reading)
    latest: dict[str, int] = {}
    kept: list[Moment] = []
    for time, rule, event in sorted(reported, key=lambda each: each[0]):
        again = event.run.number > 1 and "again" in rule
        text = _text(rule["again" if again else "text"], event, owners)
        if text is None:
            continue
        # By text, because several nodes and files report one and the same change in the same words.
        before = latest.get(text)
        if before is None or time - before > rule.get("within", float("inf")):
            term = _text(rule["term"], event, owners) if "term" in rule else None
            place, risk, of = event.record.place, rule.get("risk", False), rule.get("of", "")
            weight = rule.get("again_weight", rule["weight"]) if again else rule["weight"]
            kept.append(Moment(time, text, weight, place, risk, term, of, event.run.node))
        # With `within`, a row of equal lines is one moment as long as no pause is longer. Else a text is told once.
        latest[text] = time if before is None or "within" in rule else before
    return tuple(sorted((*kept, *_deaths(reading, rules["death"])), key=lambda each: each.time))


def shut_down(reading: LogReading, reported: Sequence[Moment]) -> int | None:
    """From when on all brokers that still ran shut down, and none started again: the end of the logs is no outage. None
    if the logs end otherwise."""
    brokers = _brokers(reading)
    incarnations = [each for each in reported if each.of in _INCARNATION and each.node in brokers]
    last = {each.node: each for each in incarnations}
    if not brokers or last.keys() != brokers or any(each.of != "shutdown" for each in last.values()):
        return None
    # A shutdown before the last start is no part of the end: that broker was restarted, or others went on.
    begun = max((each.time for each in incarnations if each.of != "shutdown"), default=0)
    return min((each.time for each in last.values() if each.time >= begun), default=None)


def _deaths(reading: LogReading, rule: Mapping[str, Any]) -> Iterator[Moment]:
    """The last lines of brokers that started again without having shut down: these were killed, or crashed."""
    ended = {event.run for event in reading.of_kinds(frozenset(rule["unless"]))}
    ended |= {each.run for each in reading.of_kinds({rule["or"]["kind"]}) if rule["or"]["says"] in each.record.message}
    brokers = _brokers(reading)
    last: dict[ProcessRun, Event] = {}
    # Not counted from 1: where logs of several clusters were divided, a part may begin with any run of a node.
    newest: dict[str, int] = {}
    for stream in reading.streams:
        newest[stream.run.node] = max(stream.run.number, newest.get(stream.run.node, 0))
        event = next((each for each in reversed(stream.events) if each.record.time is not None), None)
        if event is not None and (event.record.time or 0) > _time_of(last.get(stream.run)):
            last[stream.run] = event
    for run, event in sorted(last.items(), key=lambda each: (each[0].node, each[0].number)):
        # Not the last run: that one may still have been running when its log was copied.
        if run.node in brokers and run.number < newest[run.node] and run not in ended:
            text, place = rule["text"].format(node=run.node), event.record.place
            yield Moment(_time_of(event), text, rule["weight"], place, of="death", node=run.node)


def _brokers(reading: LogReading) -> set[str]:
    """The nodes that are brokers: controllers do not say that they shut down."""
    kinds = frozenset(rule_file("moments.toml")["brokers"]["kinds"])
    return {event.run.node for event in reading.of_kinds(kinds)}


def _time_of(event: Event | None) -> int:
    return 0 if event is None else event.record.time or 0


def _events(reading: LogReading, rule: Mapping[str, Any]) -> Iterator[tuple[int, Event]]:
    """The events of a rule, with their times."""
    own = reading.of_role(rule["role"]) if "role" in rule else reading.of_kinds(frozenset(rule["kinds"]))
    for event in own:
        if event.record.time is not None and event.pattern not in rule.get("without", ()):
            yield event.record.time, event


def _owners(reading: LogReading) -> Mapping[Field, int]:
    """How many nodes have each id."""
    return Counter(broker for node in reading.nodes for broker in node.brokers)


def _text(template: str, event: Event, owners: Mapping[Field, int]) -> str | None:
    """The text with the fields of an event; None if one of them is unknown."""
    shown = {name: _shown(value) for name, value in event.fields.items() if value is not None}
    node, broker = event.run.node, event.fields.get("broker")
    if broker is not None:
        shown["self"] = node if owners.get(broker, 0) > 1 else f"broker {broker}"
    try:
        return template.format_map({**shown, "node": node})
    except KeyError:
        return None


def _shown(value: Field) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
