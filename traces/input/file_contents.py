"""What one file holds: its matched records, and counts of everything else."""

from __future__ import annotations

from dataclasses import field, replace

from assay.grammar.kernel.event_source import EventOrder
from assay.grammar.lazy_dataclass import dataclass
from assay.traces.event import LogPosition, Notice
from assay.traces.input.containers.parts import Placement
from assay.traces.input.events.decoder import JsonEvent
from assay.traces.input.lines.record_scanner import FileCounts
from assay.traces.input.lines.trouble_tally import TroubleTally
from assay.traces.store.packed_records import PackedRecords


@dataclass(slots=True)
class Unmapped:
    """Records of protocol loggers that no pattern describes and that differ in numbers only; ``place`` is the first."""

    count: int
    place: LogPosition


@dataclass(frozen=True, slots=True)
class RecordOrigin:
    """Where records come from: the file, and the part of it that one process wrote if there are several. Folder and
    base name identify the log.

    ``modified`` is when the file was last written, in milliseconds since the epoch, if that is known.
    """

    file: str
    folder: str
    base: str
    part: str = ""
    modified: int | None = None

    @property
    def stream(self) -> str:
        """A name that only these records have."""
        return f"{self.file} [{self.part}]" if self.part else self.file


@dataclass(slots=True)
class FileReading:
    """What one file holds, or one part of it. ``other`` counts the records of loggers that do not concern the protocol.

    ``nameless`` counts records that name no logger and were not recognised by their text. ``events`` are those of a
    file of events (JSON), and ``order`` says what their order means. ``lacks`` is ``year`` or ``date`` if the timestamps
    lack it; times then count from the beginning of ``timestamps.BASE_YEAR``. ``containers`` are what its lines were taken
    out of, from the outermost on.
    """

    origin: RecordOrigin
    tally: FileCounts
    matches: PackedRecords = field(default_factory=PackedRecords)
    unmapped: dict[tuple[str, str], Unmapped] = field(default_factory=dict)
    other: int = 0
    nameless: int = 0
    digest: bytes = b""
    lacks: str | None = None
    events: list[JsonEvent] = field(default_factory=list)
    containers: tuple[str, ...] = ()
    order: EventOrder = "file"
    trouble: TroubleTally = field(default_factory=TroubleTally)

    @property
    def file(self) -> str:
        """The file's name as the user would write it."""
        return self.origin.file

    @property
    def is_log(self) -> bool:
        """Whether any record names a logger, or was recognised by its text: files of other programs have timestamps
        too.
        """
        return self.tally.records > self.nameless

    def relocate(self, placement: Placement) -> None:
        """Replace the places in a part, in which this was read, by those in the file."""
        self.matches = self.matches.placed(placement.find)
        for unmapped in self.unmapped.values():
            unmapped.place = placement.place(unmapped.place)
        # A tally of its own: the one that is moved must not change while its places are read.
        trouble = TroubleTally()
        trouble.extend(self.trouble, placement.place)
        self.trouble = trouble
        self.tally.notices[:] = [
            notice if notice.place is None else replace(notice, place=placement.place(notice.place))
            for notice in self.tally.notices
        ]

    def note(self, kind: str, place: LogPosition, text: str, told: frozenset[str] = frozenset()) -> None:
        """Add a notice."""
        self.tally.notices.append(Notice(kind, place, text, told=told))
