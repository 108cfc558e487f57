"""One line pattern: the loggers that print the line, its regular expression, the event that the line reports, and a
genuine example.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.event import Field
from assay.traces.patterns.field_types import Conversion
from assay.traces.patterns.line_regex import LineRegex, MatchExtent
from assay.traces.patterns.regex_cost import LONGEST

SHORT = min(LONGEST.values())
"""Every pattern is tried on messages of at most so many characters."""

JOINED = "joined"
"""The role of lines whose ``joins`` fields tie them to other lines of the same session.

No pattern declares a role of that name.
"""

START_ROLES = frozenset({"process start", "process prelude"})
"""The roles of lines with which the log of a process begins."""
RUNNING_ROLES = frozenset({"process start", "process running"})
"""The roles of lines of which a process has written one before it does anything."""


FieldSpan = tuple[str, Conversion, int, int]
"""A field: its name, its conversion, and where its text begins and ends in the message."""


@dataclass(frozen=True, slots=True)
class LinePattern:
    """A line pattern.

    ``writer`` names the field with the id of the broker that wrote the line, if the line has it. ``role`` is what the
    line reports about the process itself, such as its start. ``around`` describes the whole message in which
    ``regex`` finds occurrences; its groups are fields of each of them. ``clock`` names a field with a time, in
    milliseconds since the epoch, by another server's clock. Lines of one process with equal ``joins`` fields were
    written in one session.
    """

    name: str
    kind: str
    loggers: tuple[str, ...]
    regex: LineRegex
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
    holds: Mapping[str, Field] = field(default_factory=dict)
    """Fields that the pattern finds in its example."""
    around: LineRegex | None = None

    @property
    def reads(self) -> MatchExtent:
        """How much of a message the pattern describes."""
        return self.regex.reads

    @property
    def conversions(self) -> dict[str, Conversion]:
        """The conversions of the fields that groups fill."""
        return {name: convert for regex in (self.around, self.regex) for name, convert in self._groups(regex)}

    def _groups(self, regex: LineRegex | None) -> list[tuple[str, Conversion]]:
        """The field name and the conversion of each group, in the order of the groups."""
        return [] if regex is None else [(name, self.fields[name]) for name in regex.groups]

    @property
    def roles(self) -> frozenset[str]:
        """The role of the line, and ``JOINED`` if lines with equal fields were written in one session."""
        found = frozenset({JOINED}) if self.joins else frozenset[str]()
        return found if self.role is None else found | {self.role}

    @property
    def writers(self) -> tuple[str, ...]:
        """The fields that hold the id of the broker that wrote the line."""
        own = () if self.writer is None else (self.writer,)
        # A process prints its own configuration, so the broker id in it is the writer's.
        return (*own, "broker") if self.role == "configuration" else own

    def match(self, message: str) -> list[dict[str, Field]]:
        """The fields of each event that this pattern finds in a message; an empty list if it does not match.

        A number that is too long to be converted makes the message one that does not match.
        """
        try:
            return distinct([self._decode(message, place) for place in self.places(message)])
        except ValueError:
            return []

    def places(self, message: str) -> list[list[FieldSpan]]:
        """For each event its fields and their positions. A group that took no part in the match is left out."""
        found = self._matches(message)
        # `Mark replicas a-1,b-2 on broker 1 as offline`: the broker stands in the frame, and is a field of each
        # partition.
        frame = self.around.compiled.fullmatch(message) if self.around is not None and found else None
        if self.around is not None and frame is None:
            return []
        shared = [] if frame is None else _places(self._groups(self.around), frame)
        groups = self._groups(self.regex) if found else []
        return [shared + _places(groups, each) for each in found]

    def _matches(self, message: str) -> Sequence[re.Match[str]]:
        """The matches of the regular expression. It is not tried on a message that is too long for it."""
        # The test for the literal is a plain substring search, much cheaper than a regular expression that fails.
        if self.literal not in message or (len(message) > SHORT and len(message) > self._longest()):
            return ()
        regex = self.regex.compiled
        if self.reads is MatchExtent.EACH:
            return tuple(regex.finditer(message))
        found = regex.fullmatch(message) if self.reads is MatchExtent.WHOLE else regex.match(message)
        return () if found is None else (found,)

    def _longest(self) -> int:
        return self.regex.longest if self.around is None else min(self.regex.longest, self.around.longest)

    def _decode(self, message: str, places: Iterable[FieldSpan]) -> dict[str, Field]:
        decoded: dict[str, Field] = dict(self.constants)
        for name, convert, begin, end in places:
            decoded[name] = convert(message[begin:end])
        return decoded

    def explain(self, fields: Mapping[str, Field]) -> str:
        """The meaning in an operator's words, with the fields of the event filled in."""
        known: dict[str, Field] = {**self.unknown, **fields}
        return re.sub(r"\{(\w+)\}", lambda name: str(known.get(name[1], "?")), self.meaning)


def _places(groups: Iterable[tuple[str, Conversion]], found: re.Match[str]) -> list[FieldSpan]:
    spans = zip(groups, found.regs[1:], strict=True)
    return [(name, convert, begin, end) for (name, convert), (begin, end) in spans if begin >= 0]


def distinct(events: Iterable[dict[str, Field]]) -> list[dict[str, Field]]:
    """The field dictionaries without repetitions, in order."""
    found: dict[str, dict[str, Field]] = {}
    for fields in events:
        # By `repr`, because fields may hold mappings, which have no hash.
        found.setdefault(repr(fields), fields)
    return list(found.values())
