"""The moments of an incident: controllers, sessions, starts and failures, as ``patterns/rules/moments.toml`` tells
them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.event import Event, Field, LogPosition
from assay.traces.log_reader import LogReading
from assay.traces.patterns.rule_files import rule_file


@dataclass(frozen=True, slots=True)
class Moment:
    """Something that happened at a time (milliseconds since the epoch), in an operator's words. The heavier one says
    more about an incident; data may be lost by one with ``is_risk``. ``term`` is the controller and its epoch, where one
    begins.
    """

    time: int
    text: str
    weight: int
    place: LogPosition
    is_risk: bool = False
    term: str | None = None


def moments(reading: LogReading) -> tuple[Moment, ...]:
    """The moments in the order of time. What several lines tell is one moment."""
    rules = rule_file("moments.toml")["moment"]
    told = [(time, rule, event) for rule in rules for time, event in _events(reading, rule)]
    latest: dict[str, int] = {}
    kept: list[Moment] = []
    for time, rule, event in sorted(told, key=lambda each: each[0]):
        text = _text(rule.get("again", rule["text"]) if event.run.number > 1 else rule["text"], event)
        if text is None:
            continue
        before = latest.get(text)
        if before is None or time - before > rule.get("within", float("inf")):
            term = _text(rule["term"], event) if "term" in rule else None
            kept.append(Moment(time, text, rule["weight"], event.record.place, rule.get("risk", False), term))
        latest[text] = time if before is None or "within" in rule else before
    return tuple(kept)


def _events(reading: LogReading, rule: Mapping[str, Any]) -> Iterator[tuple[int, Event]]:
    own = reading.of_role(rule["role"]) if "role" in rule else reading.of_kinds(frozenset(rule["kinds"]))
    yield from ((event.record.time, event) for event in own if event.record.time is not None)


def _text(template: str, event: Event) -> str | None:
    """The text with the fields of an event; None if one of them is unknown."""
    shown = {name: _shown(value) for name, value in event.fields.items() if value is not None}
    try:
        return template.format_map({**shown, "node": event.run.node})
    except KeyError:
        return None


def _shown(value: Field) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
