"""What one file holds: the findings of its records, and counts of all that is not among them."""

from __future__ import annotations

from dataclasses import dataclass, field

from assay.traces.event import LogPosition, Notice
from assay.traces.input.json_events import JsonEvent
from assay.traces.input.lines.record_scanner import FileCounts
from assay.traces.store.packed_records import Rows


@dataclass(slots=True)
class Unmapped:
    """Records of protocol loggers that no shape describes, alike but for their numbers; ``place`` is the first."""

    count: int
    place: LogPosition


@dataclass(frozen=True, slots=True)
class RecordOrigin:
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

    ``events`` are those of a file that states them itself, as JSON. ``lacks`` is ``year`` or ``date`` if the time stamps lack it, and then the times count from the beginning of ``timestamps.BASE_YEAR``.
    """

    origin: RecordOrigin
    tally: FileCounts
    matches: Rows = field(default_factory=Rows)
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

    def note(self, kind: str, place: LogPosition, text: str) -> None:
        """Record a notice."""
        self.tally.notices.append(Notice(kind, place, text))
