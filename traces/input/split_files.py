"""Read a plain text in parts by several processes, and join the readings as if one process had read it all.

How the seam between two parts is read, and when a text must be read again as a whole: ``docs/design/split-files.md``.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from copy import copy
from dataclasses import replace

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.event import LogPosition
from assay.traces.input.archives import is_packed
from assay.traces.input.file_contents import FileReading, RecordOrigin
from assay.traces.input.file_reader import FileJob
from assay.traces.input.lines.line_layout import START
from assay.traces.input.lines.record_scanner import BOM, Cutter, FileCounts, ScanLimits, divide
from assay.traces.input.pattern_matcher import RecordReader, is_plain, note_zeros
from assay.traces.store.record_layouts import MergedLayouts

HEAD = 1 << 16
"""How many bytes from the beginning of a text decide what it is."""


@dataclass(frozen=True, slots=True)
class Piece:
    """The reading of one part of a text, which begins at about the byte ``number``; the first part has the number 0.

    ``head`` is the text up to the end of the first record, ``tail`` the last record if there are at least two.
    ``between`` is the reading of the rest. A single record is the tail. ``beginning`` is the overlap with the first
    ``HEAD`` bytes of the text. ``size`` and ``lines`` are those of the part; ``zero`` is the first zero byte in it, or
    -1.
    """

    number: int
    head: bytes
    between: FileJob | None
    tail: bytes
    beginning: bytes
    size: int
    lines: int
    zero: int
    digest: bytes

    def with_shared_layouts(self, like: MergedLayouts) -> Piece:
        """The same piece, with record layouts in a numbering that many pieces share."""
        if self.between is None:
            return self
        between, reading = copy(self.between), copy(self.between.reading)
        reading.matches, between.reading = reading.matches.with_shared_layouts(like), reading
        return replace(self, between=between)


def read_piece(reader: RecordReader, text: bytes, origin: RecordOrigin, limits: ScanLimits, number: int) -> Piece:
    """Read some whole lines of a text; the part with the number 0 is its beginning."""
    first, second, last = _record_starts(text)
    between = None
    if second < last:
        # The first record shows in which layout the following ones have to be expected.
        warm = _job(reader, text[first:second], origin, limits)
        between = _job(reader, text[second:last], origin, limits, like=warm)
    return Piece(
        number=number,
        head=text[:second] if second <= last else text[:last],
        between=between,
        tail=text[last:],
        beginning=text[: max(0, HEAD - number)],
        size=len(text),
        lines=text.count(b"\n"),
        zero=text.find(b"\0"),
        digest=hashlib.blake2b(text, digest_size=16).digest(),
    )


def _record_starts(text: bytes) -> tuple[int, int, int]:
    """Where the first, the second and the last record begin; the end of the text for each that does not exist."""
    data = b"\n" + text
    found = [match.start() for match, _ in zip(START.finditer(data), range(2), strict=False)]
    first, second = (*found, len(text), len(text))[:2]
    size, last = HEAD, first
    # The last record is looked for from the end, in windows that grow: it is short, as a rule, and the text is not.
    while second < len(text):
        window = max(0, len(data) - size)
        ends = [match.start() for match in START.finditer(data, window)]
        if ends:
            last = ends[-1]
            break
        size *= 8
    return first, second, last


def _job(
    reader: RecordReader, text: bytes, origin: RecordOrigin, limits: ScanLimits, like: FileJob | None = None
) -> FileJob:
    """Read the records of a text that begins with one; ``like`` is a job whose layout is expected."""
    job = FileJob(reader, FileReading(origin, FileCounts()), may_be_pasted=False)
    if like is not None:
        job.expect_layout_of(like)
    job.take_all(divide(io.BytesIO(text), origin.file, job.reading.tally, limits))
    return job


def join_pieces(
    reader: RecordReader,
    origin: RecordOrigin,
    pieces: Sequence[Piece],
    size: int,
    limits: ScanLimits,
    *,
    may_be_pasted: bool,
) -> FileReading | None:
    """The reading of a text of ``size`` bytes from its pieces; None if it has to be read as a whole.

    Each line is assumed to have ended in a line feed. Where the last one did not, the pieces have one byte more than
    the text. A byte order mark before the first line may be missing from the pieces.
    """
    ordered = sorted(pieces, key=lambda piece: piece.number)
    head = b"".join(piece.beginning for piece in ordered)[:HEAD]
    # Only now is the beginning of the text at hand; a piece alone cannot tell what it is a piece of.
    if not is_plain(head, reader) or is_packed(head):
        return None
    missing = size - sum(piece.size for piece in ordered)
    mark = BOM if missing in {len(BOM), len(BOM) - 1} else b""
    if missing - len(mark) not in {0, -1}:  # the text was written to while it was read
        return None
    joined = _SeamReader(FileJob(reader, FileReading(origin, FileCounts()), may_be_pasted=may_be_pasted), limits, mark)
    for piece in ordered:
        if not joined.append(piece):
            return None
    reading = joined.finish(ends_in_line_feed=missing - len(mark) != -1)
    if not reading.is_log:
        reader.note_not_understood(reading, head)
    return reading


class _SeamReader:
    """The pieces of a text so far. ``open`` is the text from the last record on, which begins at the byte ``offset``
    after ``lines`` lines.
    """

    def __init__(self, job: FileJob, limits: ScanLimits, mark: bytes) -> None:
        self.job = job
        self.limits = limits
        self.open, self.offset, self.lines = mark, 0, 0
        self.zero = -1
        self.digest = hashlib.blake2b(mark, digest_size=16)
        tally = job.reading.tally
        tally.bytes = len(mark)

    def append(self, piece: Piece) -> bool:
        """Append the next piece; False if it has to be read with the text before it known."""
        tally = self.job.reading.tally
        if self.zero < 0 <= piece.zero:
            self.zero = tally.bytes + piece.zero
        tally.bytes += piece.size
        tally.lines += piece.lines
        self.digest.update(piece.digest)
        self.open += piece.head
        if not piece.tail:
            return True
        self._read_open()
        begin = tally.bytes - len(piece.tail)
        lines = tally.lines - piece.tail.count(b"\n")
        alike = piece.between is None or self.job.append(piece.between, self.lines, self.offset)
        self.open, self.offset, self.lines = piece.tail, begin, lines
        return alike

    def _read_open(self) -> None:
        """Read the text at the seam, now that its end is known."""
        job, file = self.job, self.job.reading.file
        lines, offset = self.lines, self.offset
        cutter = Cutter(lambda line, at: LogPosition(file, line + lines, at + offset), job.reading.tally, self.limits)
        # In blocks, as from a stream, so that a record that is too long is cut at the same place.
        for at in range(0, len(self.open), self.limits.block):
            for raw in cutter.feed(self.open[at : at + self.limits.block]):
                job.take(raw._replace(line=raw.line + lines, offset=raw.offset + offset))
        for raw in cutter.finish():
            job.take(raw._replace(line=raw.line + lines, offset=raw.offset + offset))
        self.offset += len(self.open)
        self.lines += self.open.count(b"\n")

    def finish(self, *, ends_in_line_feed: bool) -> FileReading:
        """The reading of the whole text."""
        reading = self.job.reading
        if not ends_in_line_feed:
            self.open = self.open[:-1]
            reading.tally.bytes -= 1
            # The pieces were hashed with a line feed that the text does not have: this tells it from a text that has
            # it.
            self.digest.update(b"\n")
        self._read_open()
        self.job.finish()
        if reading.is_log:
            note_zeros(reading, self.zero)
        reading.digest = self.digest.digest()
        return reading
