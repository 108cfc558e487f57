"""One line shape: the loggers that print it, its pattern, the event it states, and a genuine example."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from assay.traces.events import Field
from assay.traces.shapes.convert import Conversion


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


@dataclass(frozen=True, slots=True)
class Shape:
    """A line shape.

    ``writer`` names the field that holds the id of the broker that wrote the line, if the line says it. ``role`` is what
    the line tells of the process itself. ``clock`` names a field with the time, in milliseconds, by another server's clock. Lines of one process with equal ``joins`` fields were written in one session.
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
            return distinct([self._decode(place) for place in self.places(message)])
        except ValueError:
            return []

    def places(self, message: str) -> Sequence[re.Match[str]]:
        """Where the pattern fits; it is not tried on a message that is too long for it."""
        if self.literal not in message or len(message) > self.longest:
            return ()
        if self.reads is Reads.EACH:
            return tuple(self.pattern.finditer(message))
        found = self.pattern.fullmatch(message) if self.reads is Reads.WHOLE else self.pattern.match(message)
        return () if found is None else (found,)

    def _decode(self, found: re.Match[str]) -> dict[str, Field]:
        """The converted groups; one that took no part in the match gives no field."""
        decoded: dict[str, Field] = dict(self.constants)
        for (name, convert), text in zip(self.groups, found.groups(), strict=True):
            if text is not None:
                decoded[name] = convert(text)
        return decoded

    def explain(self, fields: Mapping[str, Field]) -> str:
        """The meaning in an operator's words, with the event's fields filled in."""
        known: dict[str, Field] = {**self.unknown, **fields}
        return re.sub(r"\{(\w+)\}", lambda name: str(known.get(name[1], "?")), self.meaning)


def distinct(events: Iterable[dict[str, Field]]) -> list[dict[str, Field]]:
    """The fields of events, those of equal events once."""
    found: dict[str, dict[str, Field]] = {}
    for fields in events:
        found.setdefault(repr(fields), fields)
    return list(found.values())
