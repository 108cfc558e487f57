"""A stream of bytes cut into records, with exact line numbers and byte offsets, in bounded memory.

A record lasts from its header to the next one, whatever its lines look like, so stack traces and configuration dumps
stay whole. Text before the first header (the end of a record whose beginning was rotated away, or text that is no log)
is handed out as a record without a time stamp. What is too long to keep is reported; no byte is passed over in silence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from assay.traces.events import Notice, Place
from assay.traces.readers.layout import HEADER_LIMIT, START


class ByteStream(Protocol):
    """Anything that hands out bytes in order."""

    def read(self, size: int, /) -> bytes:
        """At most ``size`` bytes; none at the end."""
        ...


class RawRecord(NamedTuple):
    """A record as bytes: where it begins (byte from 0, line from 1), its header's parts, and all that follows the header."""

    offset: int
    line: int
    stamp: bytes
    level: bytes
    text: bytes


@dataclass(frozen=True, slots=True)
class ScanLimits:
    """How much is read at once, and the length from which a record is cut; all in bytes."""

    block: int = 1 << 20
    record: int = 8 << 20
    kept: int = 1 << 16


@dataclass(slots=True)
class Tally:
    """What was read of one file."""

    bytes: int = 0
    lines: int = 0
    records: int = 0
    notices: list[Notice] = field(default_factory=list)


def scan(stream: ByteStream, file: str, tally: Tally, limits: ScanLimits = ScanLimits()) -> Iterator[RawRecord]:
    """Cut a stream into records, counting into ``tally``."""
    cutter = Cutter(lambda line, offset: Place(file, line, offset), tally, limits)
    while block := stream.read(limits.block):
        tally.bytes += len(block)
        yield from cutter.feed(block)
    yield from cutter.finish()
    tally.lines = cutter.lines


class Cutter:
    """Cuts text that arrives in blocks: the state between two blocks is the bytes of the unfinished record and where they stand.

    ``data`` always begins with the line feed before the current record (an imagined one before the first), so that every
    header, the first too, is found by the same pattern.
    """

    def __init__(self, place: Callable[[int, int], Place], tally: Tally, limits: ScanLimits) -> None:
        self._find = START.finditer
        self._place, self._tally, self._limits = place, tally, limits
        self._data, self._base, self.line = b"\n", -1, 1
        self._fresh = 0
        self._header: tuple[bytes, bytes, int] | None = (b"", b"", 1)
        self._cut_at: Place | None = None
        self._skipped = 0
        self.lines = 0

    def feed(self, block: bytes) -> Iterator[RawRecord]:
        """The records that this block completes."""
        yield from self._advance(self._data + block, last=False)
        if len(self._data) > self._limits.record:
            yield from self._cut()
        in_record = self._header is not None and self._header[0] != b""
        self._fresh = max(1 if in_record else 0, len(self._data) - HEADER_LIMIT)

    def finish(self) -> Iterator[RawRecord]:
        """The records that the end of the stream completes."""
        yield from self._advance(self._data, last=True)
        data = self._data
        if self._header is None:
            self._report_cut(len(data) - 1)
        elif len(data) > 1:
            stamp, level, body = self._header
            yield RawRecord(self._base + 1, self.line, stamp, level, data[body:])
        self.lines = self.line - 1 + data.count(b"\n", 1) + (not data.endswith(b"\n"))

    def _advance(self, data: bytes, *, last: bool) -> Iterator[RawRecord]:
        """The records that end where another begins; a header that goes on in the next block is left for that."""
        at, line, base, header = 0, self.line, self._base, self._header
        for match in self._find(data, self._fresh):
            start = match.start()
            stamp, level, other = match.groups()
            if level is None and not last and len(data) - start < HEADER_LIMIT and data.find(b"\n", match.end()) < 0:
                break
            if header is None:
                self._report_cut(start - at)
            elif start > at:
                yield RawRecord(base + at + 1, line, header[0], header[1], data[at + header[2] : start + 1])
            line += data.count(b"\n", at + 1, start + 1)
            header = (stamp or other, level or b"", match.end() - start)
            at = start
        self._data, self._base, self.line, self._header = data[at:], base + at, line, header

    def _cut(self) -> Iterator[RawRecord]:
        """Give up on a record that is too long: its beginning is handed out, the rest is skipped up to the next header."""
        if self._header is not None:
            stamp, level, body = self._header
            self._cut_at = self._place(self.line, self._base + 1)
            yield RawRecord(self._base + 1, self.line, stamp, level, self._data[body : body + self._limits.kept])
        dropped = len(self._data) - HEADER_LIMIT
        self.line += self._data.count(b"\n", 1, dropped + 1)
        self._skipped += dropped
        self._data, self._base, self._header = self._data[dropped:], self._base + dropped, None

    def _report_cut(self, more: int) -> None:
        """Say what was skipped, now that the end of the long record is found."""
        text = f"a record of {self._skipped + more:,} bytes; only its first {self._limits.kept:,} were read"
        self._tally.notices.append(Notice("record too long", self._cut_at, text))
        self._skipped = 0
