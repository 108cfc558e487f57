"""One line shape: the loggers that print it, its pattern, the event it states, and a genuine example."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from assay.traces.event import Field
from assay.traces.patterns.field_types import Conversion


class Reads(Enum):
    """How much of a message a shape's pattern describes."""

    WHOLE = "whole"
    """The whole message: exactly one such shape accounts for a line."""
    START = "start"
    """The beginning, beside the whole shapes: a prefix that states something of its own."""
    EACH = "each"
    """Every occurrence anywhere in the message, one event each, beside the whole shapes."""


JOINED = "joined"
"""Of lines that have fields in common with those of the same session; no shape has a role of that name."""

BEGINNINGS = frozenset({"process start", "process prelude"})
"""Roles of the lines with which the log of a process begins."""


Place = tuple[str, Conversion, int, int]
"""A field, its conversion, and where its text begins and ends."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A line shape.

    ``writer`` names the field that holds the id of the broker that wrote the line, if the line says it. ``role`` is what
    the line tells of the process itself. ``around`` describes the whole message whose occurrences ``pattern`` finds, and its groups are fields of each of them. ``clock`` names a field with the time, in milliseconds, by another server's clock. Lines of one process with equal ``joins`` fields were written in one session.
    """

    name: str
    kind: str
    loggers: tuple[str, ...]
    reads: Reads
    pattern: re.Pattern[str]
    literal: str
    fields: Mapping[str, Conversion]
    constants: Mapping[str, Field]
    unknown: Mapping[str, str]
    writer: str | None
    role: str | None
    joins: tuple[str, ...]
    anchor: str
    versions: str
    meaning: str
    example: str
    clock: str | None = None
    groups: tuple[tuple[str, Conversion], ...] = ()
    """The name and the conversion of each group of the pattern, in its order."""
    around: re.Pattern[str] | None = None
    groups_around: tuple[tuple[str, Conversion], ...] = ()
    longest: int = 1 << 30
    """A longer message is not one of this shape: its pattern could take too much time."""

    @property
    def roles(self) -> frozenset[str]:
        """What a line tells of its process: its role, and ``JOINED`` if lines with equal fields were written in one session."""
        found = frozenset({JOINED}) if self.joins else frozenset[str]()
        return found if self.role is None else found | {self.role}

    @property
    def writers(self) -> tuple[str, ...]:
        """The fields that hold the id of the broker that wrote the line."""
        own = () if self.writer is None else (self.writer,)
        return (*own, "broker") if self.role == "configuration" else own

    def match(self, message: str) -> list[dict[str, Field]]:
        """The fields of each event that this shape finds in a message; an empty list if it does not match.

        A message whose numbers are too long for any number is not one of this shape.
        """
        try:
            return distinct([self._decode(message, place) for place in self.places(message)])
        except ValueError:
            return []

    def places(self, message: str) -> list[list[Place]]:
        """The fields of each event, and where they stand; one whose group took no part in the match is not among them."""
        found = self._matches(message)
        frame = self.around.fullmatch(message) if self.around is not None and found else None
        if self.around is not None and frame is None:
            return []
        shared = [] if frame is None else _places(self.groups_around, frame)
        return [shared + _places(self.groups, each) for each in found]

    def _matches(self, message: str) -> Sequence[re.Match[str]]:
        """Where the pattern fits; it is not tried on a message that is too long for it."""
        if self.literal not in message or len(message) > self.longest:
            return ()
        if self.reads is Reads.EACH:
            return tuple(self.pattern.finditer(message))
        found = self.pattern.fullmatch(message) if self.reads is Reads.WHOLE else self.pattern.match(message)
        return () if found is None else (found,)

    def _decode(self, message: str, places: Iterable[Place]) -> dict[str, Field]:
        decoded: dict[str, Field] = dict(self.constants)
        for name, convert, begin, end in places:
            decoded[name] = convert(message[begin:end])
        return decoded

    def explain(self, fields: Mapping[str, Field]) -> str:
        """The meaning in an operator's words, with the event's fields filled in."""
        known: dict[str, Field] = {**self.unknown, **fields}
        return re.sub(r"\{(\w+)\}", lambda name: str(known.get(name[1], "?")), self.meaning)


def _places(groups: Iterable[tuple[str, Conversion]], found: re.Match[str]) -> list[Place]:
    spans = zip(groups, found.regs[1:], strict=True)
    return [(name, convert, begin, end) for (name, convert), (begin, end) in spans if begin >= 0]


def distinct(events: Iterable[dict[str, Field]]) -> list[dict[str, Field]]:
    """The fields of events, those of equal events once."""
    found: dict[str, dict[str, Field]] = {}
    for fields in events:
        found.setdefault(repr(fields), fields)
    return list(found.values())
