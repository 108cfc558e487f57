"""What one file holds: the findings of its records, and counts of all that is not among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from assay.traces.events import Field, LogRecord, Notice, Place
from assay.traces.readers.json_events import JsonEvent
from assay.traces.readers.scan import Tally
from assay.traces.readers.stretch import Numbers
from assay.traces.shapes.recognise import NO_ROLES, Finding, Likeness, roles_of

_NOBODY: frozenset[int] = frozenset()


@dataclass(slots=True, eq=False)
class Match:
    """A record and what was found in it: what records of its kind are, or the findings themselves; none if no shape fits.

    ``writers`` are the ids of the broker that wrote it, as it says, and ``roles`` what it tells of the process; see ``Shape.roles``.
    """

    record: LogRecord
    found: Likeness | tuple[Finding, ...]
    writers: frozenset[int] = _NOBODY
    roles: frozenset[str] = NO_ROLES

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was found; made anew each time, for a log has too much to keep it all."""
        found = self.found
        return tuple(found.findings(self.record.message)) if isinstance(found, Likeness) else found

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Match):
            return NotImplemented
        mine, its = ((each.record, each.findings, each.writers, each.roles) for each in (self, other))
        return mine == its

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[type[Match], tuple[object, ...]]:
        return Match, (self.record, self.found, self.writers, self.roles)


def match_of(record: LogRecord, likeness: Likeness) -> Match:
    """A record whose message, or the beginning of it, is one of these."""
    writers = _NOBODY
    for convert, begin, end in likeness.writers:
        writers = _with(writers, convert(record.message[begin:end]))
    return Match(record, likeness, writers, likeness.roles)


def match_found(record: LogRecord, findings: tuple[Finding, ...]) -> Match:
    """A record in which these were found one by one."""
    writers = _NOBODY
    for finding in findings:
        for name in finding.shape.writers:
            writers = _with(writers, finding.fields.get(name))
    return Match(record, findings, writers, roles_of(findings))


def _with(writers: frozenset[int], broker: Field) -> frozenset[int]:
    """The ids of writers and that of one more, if it is one."""
    if not isinstance(broker, int) or broker < 0 or broker in writers:
        return writers
    return writers | {broker} if writers else _alone(broker)


@lru_cache(maxsize=4096)
def _alone(broker: int) -> frozenset[int]:
    """A set of one: most lines have one writer, and a log has few."""
    return frozenset({broker})


NEVER = -(1 << 62)
"""Before all times."""


def times_of(matches: Sequence[Match]) -> Numbers:
    """The times of records; ``NEVER`` where they are not known."""
    times = (match.record.time for match in matches)
    return np.fromiter((NEVER if time is None else time for time in times), np.int64, len(matches))


def known_times(matches: Sequence[Match]) -> Numbers:
    """The times of records, those left out that are not known."""
    times = times_of(matches)
    known: Numbers = times[times != NEVER]
    return known


@dataclass(slots=True)
class Unmapped:
    """Records of protocol loggers that no shape describes, alike but for their numbers; ``place`` is the first."""

    count: int
    place: Place


@dataclass(frozen=True, slots=True)
class Origin:
    """Where records come from: the file, the part of it that one process wrote if there are several, and the folder and the name that say whose it is.

    ``modified`` is when the file was last written, in milliseconds since the epoch, where that is known.
    """

    file: str
    folder: str
    base: str
    part: str = ""
    modified: int | None = None

    @property
    def stream(self) -> str:
        """A name for these records that no others have."""
        return f"{self.file} [{self.part}]" if self.part else self.file


@dataclass(slots=True)
class FileReading:
    """What one file holds, or one part of it. ``other`` counts the records of loggers that say nothing of the protocol.

    ``nameless`` counts those that name no logger and are not known by their words.

    ``events`` are those of a file that states them itself, as JSON. ``lacks`` is ``year`` or ``date`` if the time stamps lack it, and then the times count from the beginning of ``stamps.BASE_YEAR``.
    """

    origin: Origin
    tally: Tally
    matches: list[Match] = field(default_factory=list)
    unmapped: dict[tuple[str, str], Unmapped] = field(default_factory=dict)
    other: int = 0
    nameless: int = 0
    digest: bytes = b""
    lacks: str | None = None
    events: list[JsonEvent] = field(default_factory=list)

    @property
    def file(self) -> str:
        """The file's name as the user would say it."""
        return self.origin.file

    @property
    def is_log(self) -> bool:
        """Whether any record was found that names a logger, or is known by its words: others have time stamps too."""
        return self.tally.records > self.nameless

    def note(self, kind: str, place: Place, text: str) -> None:
        """Record a notice."""
        self.tally.notices.append(Notice(kind, place, text))
