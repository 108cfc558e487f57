"""Log lines as typed events with their place, and where they came from.

What exists once for every line is not frozen, although nothing ever changes it: making a frozen object of six fields takes 2 µs, another one 0.3 µs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

Field = int | str | bool | None | tuple["Field", ...] | Mapping["Field", "Field"]
"""A decoded field: an integer, a text, an absent value, a list (of a set or a sequence), or a mapping."""


SUPPOSED = "supposed"
"""The node of events of which no line tells (docs/design/inferred-events.md)."""


@dataclass(slots=True, unsafe_hash=True)
class LogPosition:
    """Where a record begins: the file as the user named it, the line from 1, the byte offset from 0."""

    file: str
    line: int
    offset: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"

    def __reduce__(self) -> tuple[type[LogPosition], tuple[str, int, int]]:
        return LogPosition, (self.file, self.line, self.offset)


@dataclass(slots=True)
class LogRecord:
    """A log record, continuation lines included.

    ``time`` is milliseconds since the epoch, read as UTC where no zone is given; ``resolution`` is how many of them it stands for (1,000
    where the layout prints no milliseconds).
    """

    place: LogPosition
    time: int | None
    level: str
    logger: str
    thread: str | None
    message: str
    resolution: int = 1

    def later(self, by: int) -> LogRecord:
        """The same record as if it had been written so many milliseconds later; one without a time is as it is."""
        return self if self.time is None else replace(self, time=self.time + by)

    def __reduce__(self) -> tuple[type[LogRecord], tuple[object, ...]]:
        parts = self.place, self.time, self.level, self.logger, self.thread, self.message, self.resolution
        return LogRecord, parts


@dataclass(frozen=True, slots=True)
class ProcessRun:
    """One run of one process: the unit of order. ``node`` is the directory's name (or what the lines say), ``number`` counts its start banners."""

    node: str
    number: int

    def __str__(self) -> str:
        return self.node if self.number == 1 else f"{self.node}#{self.number}"


@dataclass(slots=True)
class Event:
    """A record that a line shape recognised. ``shape`` names the shape, ``kind`` the event that trace clauses speak of.

    ``stream`` names the sequence of lines whose order is that of their writing: a file, the parts of a rotated file, or the part of a file
    that one process wrote. Empty, it is the file.
    """

    kind: str
    shape: str
    fields: Mapping[str, Field]
    record: LogRecord
    run: ProcessRun
    stream: str = ""

    @property
    def is_supposed(self) -> bool:
        """Whether no line tells of it."""
        return self.run.node == SUPPOSED

    @property
    def sequence(self) -> str:
        """The name of the sequence of lines that the record stands in."""
        return self.stream or self.record.place.file


@dataclass(frozen=True, slots=True)
class Notice:
    """Something a person should know about the input: a counted warning with a place, never silent. Where it has a ``since`` (milliseconds since the epoch), it concerns nothing before."""

    kind: str
    place: LogPosition | None
    text: str
    since: int | None = None
