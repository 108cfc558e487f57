"""Cut a stream of bytes into records, with exact line numbers and byte offsets, in bounded memory.

A record lasts from its header to the next one, whatever its lines look like, so that stack traces and configuration
dumps stay whole. Text before the first header becomes a record without a timestamp. It is the end of a record whose
beginning was rotated away, or text that is no log. What is too long to keep is reported; no byte is skipped silently.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from typing import Protocol

import numpy as np

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.event import LogPosition, Notice
from assay.traces.input.lines.line_layout import HEADER_LIMIT, START
from assay.traces.store.log4j_scanner import LEVEL
from assay.traces.store.record_block import Candidates, RawRecord, RecordBlock, candidates, plain_records

BOM = b"\xef\xbb\xbf"
"""The byte order mark, with which some editors and exports begin a text in UTF-8."""


class ByteStream(Protocol):
    """Anything that returns bytes in order."""

    def read(self, size: int, /) -> bytes:
        """At most ``size`` bytes; none at the end."""
        ...


@dataclass(frozen=True, slots=True)
class ScanLimits:
    """How much is read at once (``block``), the length from which a record is cut (``record``), and what is kept of it
    (``kept``); in bytes.
    """

    block: int = 1 << 20
    record: int = 8 << 20
    kept: int = 1 << 16


DEFAULT_LIMITS = ScanLimits()


@dataclass(slots=True)
class FileCounts:
    """Counts and notices of the reading of one file."""

    bytes: int = 0
    lines: int = 0
    records: int = 0
    notices: list[Notice] = field(default_factory=list)


def scan(stream: ByteStream, file: str, tally: FileCounts, limits: ScanLimits = DEFAULT_LIMITS) -> Iterator[RawRecord]:
    """Cut a stream into records one by one, counting into ``tally``.

    This is the obvious way, with which tests compare :func:`divide`.
    """
    cutter = Cutter(lambda line, offset: LogPosition(file, line, offset), tally, limits)
    while block := stream.read(limits.block):
        tally.bytes += len(block)
        yield from cutter.feed(block)
    yield from cutter.finish()
    tally.lines = cutter.lines


def divide(
    stream: ByteStream, file: str, tally: FileCounts, limits: ScanLimits = DEFAULT_LIMITS
) -> Iterator[RawRecord | RecordBlock]:
    """Like :func:`scan`, but consecutive records in the stock layout come as blocks."""
    cutter = Cutter(lambda line, offset: LogPosition(file, line, offset), tally, limits)
    while block := _read_full(stream, limits.block):
        tally.bytes += len(block)
        yield from cutter.divide(block)
    yield from cutter.finish()
    tally.lines = cutter.lines


def _read_full(stream: ByteStream, size: int) -> bytes:
    """The next ``size`` bytes, however the stream divides them; fewer at its end."""
    parts: list[bytes] = []
    missing = size
    while missing and (part := stream.read(missing)):
        parts.append(part)
        missing -= len(part)
    return b"".join(parts) if len(parts) != 1 else parts[0]


Header = tuple[bytes, bytes, int]
"""The timestamp and the level of a record, and where its message begins, counted from the line feed before it."""


def _header(match: re.Match[bytes]) -> Header:
    stamp, level, other = match.groups()
    return stamp or other, level or b"", match.end() - match.start()


def _may_continue(match: re.Match[bytes], data: bytes) -> bool:
    """Whether a header at the end of a text may be longer than what has arrived."""
    # Only a header of another layout can grow: a stock one has its level, with which it ends.
    return match[2] is None and len(data) - match.start() < HEADER_LIMIT and data.find(b"\n", match.end()) < 0


class Cutter:
    """Cuts text that arrives in blocks; between two blocks the state is the bytes of the unfinished record and their
    position.

    ``data`` always begins with the line feed before the current record (an imagined one before the first). So one
    pattern finds every header, the first included.
    """

    def __init__(self, place: Callable[[int, int], LogPosition], tally: FileCounts, limits: ScanLimits) -> None:
        self._find = START.finditer
        self._place, self._tally, self._limits = place, tally, limits
        self._data, self._base, self.line = b"\n", -1, 1
        self._search_from = 0
        self._header: Header | None = (b"", b"", 1)
        self._cut_at: LogPosition | None = None
        self._skipped = 0
        self.lines = 0

    def feed(self, block: bytes) -> Iterator[RawRecord]:
        """The records that this block completes."""
        yield from self._advance(self._appended(block), last=False)
        yield from self._enforce_limits()

    def divide(self, block: bytes) -> Iterator[RawRecord | RecordBlock]:
        """Like :meth:`feed`, but consecutive records in the stock layout come as blocks."""
        data = self._appended(block)
        pending = self._header is not None and self._header[1] != b""
        found = candidates(data, self._search_from, pending=pending)
        yield from self._advance(data, last=False) if found is None else self._advance_by_candidates(data, found)
        yield from self._enforce_limits()

    def _appended(self, block: bytes) -> bytes:
        """The data with the next block appended, without a byte order mark at the beginning of the file."""
        data = self._data + block
        # At the beginning of a file an imagined line feed stands at -1, and the mark behind it.
        if self._base == -1 and data.startswith(BOM, 1):
            self._base += len(BOM)
            return data[:1] + data[1 + len(BOM) :]
        return data

    def _enforce_limits(self) -> Iterator[RawRecord]:
        """Cut a record that is too long, and note up to where the data need no second search."""
        if len(self._data) > self._limits.record:
            yield from self._cut()
        in_record = self._header is not None and self._header[0] != b""
        # A header may straddle two blocks, so the last `HEADER_LIMIT` bytes are searched again.
        self._search_from = max(1 if in_record else 0, len(self._data) - HEADER_LIMIT)

    def finish(self) -> Iterator[RawRecord]:
        """The records that the end of the stream completes."""
        # No more text comes, so headers at the very end are complete.
        yield from self._advance(self._data, last=True)
        data = self._data
        if self._header is None:
            self._report_cut(len(data) - 1)
        elif len(data) > 1:
            stamp, level, body = self._header
            yield RawRecord(self._base + 1, self.line, stamp, level, data[body:])
        self.lines = self.line - 1 + data.count(b"\n", 1) + (not data.endswith(b"\n"))

    def _advance(self, data: bytes, *, last: bool) -> Iterator[RawRecord]:
        """The records that end where another begins; a header that may continue in the next block is left for it."""
        at, line, base, header = 0, self.line, self._base, self._header
        for match in self._find(data, self._search_from):
            start = match.start()
            if not last and _may_continue(match, data):
                break
            if header is None:
                self._report_cut(start - at)
            # Before the first header of a file there may be no text at all.
            elif start > at:
                yield RawRecord(base + at + 1, line, header[0], header[1], data[at + header[2] : start + 1])
            line += data.count(b"\n", at + 1, start + 1)
            header, at = _header(match), start
        self._data, self._base, self.line, self._header = data[at:], base + at, line, header

    def _advance_by_candidates(self, data: bytes, found: Candidates) -> Iterator[RawRecord | RecordBlock]:
        """The records that end where another begins, like :meth:`_advance`, from candidates."""
        found, headers = self._confirmed(data, found)
        starts = found.starts
        if not len(starts):
            self._data = data
            return
        first, last = int(starts[0]), int(starts[-1])
        if self._header is None:
            self._report_cut(first)
        elif first:
            stamp, level, body = self._header
            yield RawRecord(self._base + 1, self.line, stamp, level, data[body : first + 1])
        lines = found.lines + self.line
        plain = plain_records(data, starts, lines)
        whole = RecordBlock(data, self._base, starts, found.bodies, found.times, lines, plain)
        yield from _blocks(whole, headers)
        self._data, self._base, self.line = data[last:], self._base + last, int(lines[-1])
        body = int(found.bodies[-1]) - last
        stock = data[last + 2 : last + LEVEL - 2], data[last + LEVEL : last + body].rstrip(b" "), body
        self._header = headers.get(last) or stock

    def _confirmed(self, data: bytes, found: Candidates) -> tuple[Candidates, dict[int, Header]]:
        """The candidates that do begin records, and by their positions the headers of those in other layouts."""
        headers: dict[int, Header] = {}
        kept = np.ones(len(found.starts), np.bool_)
        for at in np.flatnonzero(found.bodies == 0).tolist():
            start = int(found.starts[at])
            match = START.match(data, start)
            # The record with which the text begins was confirmed in an earlier block.
            if start == 0 and self._header is not None and self._header[1]:
                headers[start] = self._header
            elif match is None:
                kept[at] = False
            elif _may_continue(match, data):
                # It may go on in the next block. Until then it is open what this record is, and where those behind it
                # begin.
                kept[at:] = False
                break
            else:
                headers[start] = _header(match)
        return (found if kept.all() else Candidates(*(each[kept] for each in found))), headers

    def _cut(self) -> Iterator[RawRecord]:
        """Give up on a record that is too long: its beginning is returned, the rest is skipped up to
        the next header.
        """
        if self._header is not None:
            stamp, level, body = self._header
            self._cut_at = self._place(self.line, self._base + 1)
            yield RawRecord(self._base + 1, self.line, stamp, level, self._data[body : body + self._limits.kept])
        # The last bytes stay, because the header of the next record may have begun in them.
        dropped = len(self._data) - HEADER_LIMIT
        self.line += self._data.count(b"\n", 1, dropped + 1)
        self._skipped += dropped
        self._data, self._base, self._header = self._data[dropped:], self._base + dropped, None

    def _report_cut(self, more: int) -> None:
        """Report what was skipped, now that the end of the long record is found."""
        text = f"a record of {self._skipped + more:,} bytes; only its first {self._limits.kept:,} were read"
        self._tally.notices.append(Notice("record too long", self._cut_at, text))
        self._skipped = 0


def _blocks(whole: RecordBlock, headers: Mapping[int, Header]) -> Iterator[RawRecord | RecordBlock]:
    """All records but the last, whose end has not arrived; those in other layouts one by one."""
    last, begin = len(whole.starts) - 1, 0
    odd = [at for at in np.flatnonzero(whole.bodies == 0).tolist() if at < last]
    for at in (*odd, last):
        if at > begin:
            yield whole.part(begin, at)
        if at < last:
            start, end = int(whole.starts[at]), int(whole.starts[at + 1])
            stamp, level, body = headers[start]
            yield RawRecord(
                whole.base + start + 1, int(whole.lines[at]), stamp, level, whole.text[start + body : end + 1]
            )
        begin = at + 1
