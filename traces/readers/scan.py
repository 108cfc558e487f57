"""A stream of bytes cut into records, with exact line numbers and byte offsets, in bounded memory.

A record lasts from its header to the next one, whatever its lines look like, so stack traces and configuration dumps
stay whole. Text before the first header (the end of a record whose beginning was rotated away, or text that is no log)
is handed out as a record without a time stamp. What is too long to keep is reported; no byte is passed over in silence.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from assay.traces.events import Notice, Place
from assay.traces.readers.layout import HEADER_LIMIT, Layout


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


def scan(
    stream: ByteStream, layout: Layout, file: str, tally: Tally, limits: ScanLimits = ScanLimits()
) -> Iterator[RawRecord]:
    """Cut a stream into records of one layout, counting into ``tally``.

    ``data`` always begins with the line feed before the current record (an imagined one before the first), so that every
    header, the first too, is found by the same pattern.
    """
    cutter = _Cutter(layout, file, tally, limits)
    while block := stream.read(limits.block):
        tally.bytes += len(block)
        yield from cutter.feed(block)
    yield from cutter.finish()


class _Cutter:
    """The state between two blocks: the bytes of the unfinished record and where they stand in the file."""

    def __init__(self, layout: Layout, file: str, tally: Tally, limits: ScanLimits) -> None:
        self._find = layout.start.finditer
        self._file, self._tally, self._limits = file, tally, limits
        self._data, self._base, self._line = b"\n", -1, 1
        self._fresh = 0
        self._header: tuple[bytes, bytes, int] | None = (b"", b"", 1)
        self._cut_at = Place(file, 1, 0)
        self._skipped = 0

    def feed(self, block: bytes) -> Iterator[RawRecord]:
        """The records that this block completes."""
        data = self._data + block
        at, line, base, header = 0, self._line, self._base, self._header
        for match in self._find(data, self._fresh):
            start = match.start()
            if header is None:
                self._report_cut(start - at)
            elif start > at:
                yield RawRecord(base + at + 1, line, header[0], header[1], data[at + header[2] : start + 1])
            line += data.count(b"\n", at + 1, start + 1)
            header = (match[1], match[2], match.end() - start)
            at = start
        self._data, self._base, self._line, self._header = data[at:], base + at, line, header
        if len(self._data) > self._limits.record:
            yield from self._cut()
        in_record = self._header is not None and self._header[0] != b""
        self._fresh = max(1 if in_record else 0, len(self._data) - HEADER_LIMIT)

    def finish(self) -> Iterator[RawRecord]:
        """The record that the end of the stream completes."""
        data = self._data
        if self._header is None:
            self._report_cut(len(data) - 1)
        elif len(data) > 1:
            stamp, level, body = self._header
            yield RawRecord(self._base + 1, self._line, stamp, level, data[body:])
        self._tally.lines = self._line - 1 + data.count(b"\n", 1) + (not data.endswith(b"\n"))

    def _cut(self) -> Iterator[RawRecord]:
        """Give up on a record that is too long: its beginning is handed out, the rest is skipped up to the next header."""
        if self._header is not None:
            stamp, level, body = self._header
            self._cut_at = Place(self._file, self._line, self._base + 1)
            yield RawRecord(self._base + 1, self._line, stamp, level, self._data[body : body + self._limits.kept])
        dropped = len(self._data) - HEADER_LIMIT
        self._line += self._data.count(b"\n", 1, dropped + 1)
        self._skipped += dropped
        self._data, self._base, self._header = self._data[dropped:], self._base + dropped, None

    def _report_cut(self, more: int) -> None:
        """Say what was skipped, now that the end of the long record is found."""
        text = f"a record of {self._skipped + more:,} bytes; only its first {self._limits.kept:,} were read"
        self._tally.notices.append(Notice("record too long", self._cut_at, text))
        self._skipped = 0
