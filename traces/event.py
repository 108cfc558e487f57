"""Log lines as typed events with their position and their author.

Classes of which there is one object per line are not frozen, although nothing changes them. Creating a frozen object of
six fields takes 2 µs, an ordinary one 0.3 µs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Opaque:
    """A value in a line for which the language has none, such as a number with a fraction; the text says why.

    It matters only where a rule needs it.
    """

    text: str

    def __str__(self) -> str:
        return self.text


Field = int | str | bool | None | Opaque | tuple["Field", ...] | Mapping["Field", "Field"]
"""A decoded field: an integer, a text, an absent value, a list (of a set or a sequence), or a mapping."""


INFERRED = "supposed"
"""The node of inferred events, which no line reports (docs/design/inferred-events.md)."""
INFERRED_AT = "supposed at a time"
"""The node of inferred events whose times are known as well as those of lines."""


# Not frozen, as the module's docstring says, and a key of dicts all the same. Nothing changes one.
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

    ``time`` is in milliseconds since the epoch, read as UTC where no zone is given. ``resolution`` is the unit of the
    time in milliseconds (1,000 where the layout prints no fraction of a second).
    """

    place: LogPosition
    time: int | None
    level: str
    logger: str
    thread: str | None
    message: str
    resolution: int = 1

    def shifted(self, by: int) -> LogRecord:
        """The same record, as if it had been written ``by`` milliseconds later; a record without a
        time is unchanged.
        """
        return self if self.time is None else replace(self, time=self.time + by)

    def __reduce__(self) -> tuple[type[LogRecord], tuple[object, ...]]:
        parts = self.place, self.time, self.level, self.logger, self.thread, self.message, self.resolution
        return LogRecord, parts


@dataclass(frozen=True, slots=True)
class ProcessRun:
    """One run of one process: the unit of order.

    ``node`` is the name of the log's directory, or the name that the lines give; ``number`` counts the node's start
    banners.
    """

    node: str
    number: int

    def __str__(self) -> str:
        return self.node if self.number == 1 else f"{self.node}#{self.number}"


@dataclass(frozen=True, slots=True)
class CausalPast:
    """What came before a line by clocks and messages: of each log in ``after`` so many lines, all logs by number.

    The line itself is the one at ``position`` of the log ``log``. ``rank`` is its place in an order of all lines that
    the pasts allow.
    """

    log: int
    position: int
    after: tuple[tuple[int, int], ...]
    rank: int


@dataclass(slots=True)
class Event:
    """A record that a line pattern matched. ``pattern`` names the pattern; ``kind`` names the event, as trace clauses
    do.

    ``stream`` names the sequence of lines whose order is the order of writing. It is a file, the parts of a rotated
    file, or the part of a file that one process wrote. If it is empty, it is the file. ``past`` is there if the clause
    orders lines by what they say of their causes.
    """

    kind: str
    pattern: str
    fields: Mapping[str, Field]
    record: LogRecord
    run: ProcessRun
    stream: str = ""
    past: CausalPast | None = None

    @property
    def is_inferred(self) -> bool:
        """Whether the event was inferred, and no line reports it."""
        return self.run.node in {INFERRED, INFERRED_AT}

    @property
    def sequence(self) -> str:
        """The name of the sequence of lines to which the record belongs."""
        return self.stream or self.record.place.file

    @property
    def log(self) -> tuple[ProcessRun, str]:
        """The process run and its sequence of lines: events of one log stand in the order in which they were written."""
        return self.run, self.sequence


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that a person should know about the input: a counted warning with a position, never silent.

    If it has a ``since`` (milliseconds since the epoch), it concerns nothing before that time. ``told`` are the kinds
    of events of which lines that were not read may tell.
    """

    kind: str
    place: LogPosition | None
    text: str
    since: int | None = None
    told: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Remark:
    """Something within the rules that is worth reporting: committed data at risk, or known behaviour of a version."""

    severity: str
    text: str
    event: Event
