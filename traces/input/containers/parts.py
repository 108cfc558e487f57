"""The parts of a file: the lines of one process, host or file that containers name, each read as a log of its own."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from assay.traces.event import LogPosition
from assay.traces.input.containers.wrapped_lines import WrapColumn
from assay.traces.input.lines.record_scanner import Cutter, FileCounts, ScanLimits
from assay.traces.store.record_block import Numbers, RawRecord, RecordBlock


class LineOrigin(NamedTuple):
    """Where lines come from: host or container, what runs there, process number, and file; each empty if it is not
    known.
    """

    who: str = ""
    role: str = ""
    run: str = ""
    path: str = ""

    @property
    def label(self) -> str:
        """The origin in words, for people."""
        return " ".join(each for each in (self.who, self.role, self.run and f"[{self.run}]", self.path) if each)


class Placement(NamedTuple):
    """Where each text of a part stands in the file. Texts that begin at the byte ``starts`` of the part are on the line
    ``lines``, from the byte ``offsets`` on.
    """

    starts: Numbers
    lines: Numbers
    offsets: Numbers

    def find(self, offsets: Numbers) -> tuple[Numbers, Numbers]:
        """The lines and the bytes in the file of bytes of the part."""
        if not len(self.starts):
            return np.ones_like(offsets), np.zeros_like(offsets)
        # A record begins where a text begins, so its place is that of the last text that begins there or before.
        which = np.maximum(0, np.searchsorted(self.starts, offsets, side="right") - 1)
        return self.lines[which], self.offsets[which]

    def place(self, place: LogPosition) -> LogPosition:
        """The place in the file of a place of the part."""
        lines, offsets = self.find(np.array([place.offset]))
        return LogPosition(place.file, int(lines[0]), int(offsets[0]))


LF = 10


def _begins(ends: Numbers) -> Numbers:
    """Where lines begin that end there."""
    return np.concatenate((np.zeros(1, np.int64), ends[:-1].astype(np.int64)))


Takes = Callable[[list[RawRecord | RecordBlock]], None]
"""What takes the records of a part in."""


class PartLines:
    """The lines of one part so far, and the cutter that makes records of them, in bytes of the part."""

    def __init__(self, file: str, tally: FileCounts, limits: ScanLimits, takes: Takes, wrap: WrapColumn | None) -> None:
        self._cutter = Cutter(lambda line, offset: LogPosition(file, line, offset), tally, limits)
        self._takes, self._wrap, self._limit = takes, wrap, limits.record
        self._texts: list[bytes] = []
        self._length = self.waiting = 0
        self._starts, self._lines, self._offsets = array("q"), array("q"), array("q")
        self._open: tuple[bytes, int, int] | None = None
        """A wrapped line so far, and its place."""
        self._width = ""
        """The last line that it was joined from."""
        self.number = 0
        """The number that a prefix gave the last line in its own file."""

    def take(self, text: bytes, line: int, offset: int) -> None:
        """Add whole lines; the very last of a file may end without a line feed."""
        if self._wrap is not None:
            self._take_wrapped(text, line, offset, self._wrap)
            return
        self._put(text, line, offset)

    def _put(self, text: bytes, line: int, offset: int) -> None:
        self._texts.append(text)
        self._starts.append(self._length)
        self._lines.append(line)
        self._offsets.append(offset)
        self._length += len(text)
        self.waiting += len(text)

    def take_rows(self, text: bytes, line: int, offset: int, row: bytes) -> None:
        """Add as many lines as stand in a row of the file from that place on."""
        # The n-th line of the text is the n-th of the row, so all places come from where both have their line feeds.
        ends, written = (np.flatnonzero(np.frombuffer(each, np.uint8) == LF) + 1 for each in (text, row))
        self._starts.frombytes((self._length + _begins(ends)).tobytes())
        self._lines.frombytes(np.arange(line, line + len(written), dtype=np.int64).tobytes())
        self._offsets.frombytes((offset + _begins(written)).tobytes())
        self._texts.append(text)
        self._length += len(text)
        self.waiting += len(text)

    def _take_wrapped(self, text: bytes, line: int, offset: int, wrap: WrapColumn) -> None:
        """Add a line, joined to the one before if that was wrapped."""
        plain = text.decode("utf-8", "surrogateescape").rstrip("\r\n")
        # Compared is the last line alone: the joined one is always wider than the column.
        if self._open is not None and wrap.joins(self._width, plain) and len(self._open[0]) < self._limit:
            before, first, begin = self._open
            joined = wrap.joined(before.decode("utf-8", "surrogateescape"), plain)
            self._open = joined.encode("utf-8", "surrogateescape"), first, begin
        else:
            self._end_wrapped()
            self._open = plain.encode("utf-8", "surrogateescape"), line, offset
        self._width = plain

    def _end_wrapped(self) -> None:
        if self._open is not None:
            text, line, offset = self._open
            self._put(text + b"\n", line, offset)
            self._open = None

    def flush(self, *, last: bool) -> None:
        """Hand on the records that the waiting lines complete."""
        if last and self._open is not None:
            text, line, offset = self._open
            self._open = None
            self._put(text + b"\n", line, offset)
        block = b"".join(self._texts)
        self._texts.clear()
        self.waiting = 0
        if block:
            self._takes(list(self._cutter.divide(block)))
        if last:
            self._takes(list(self._cutter.finish()))

    @property
    def placement(self) -> Placement:
        """Where the texts stand in the file."""
        return Placement(*(np.array(each, dtype=np.int64) for each in (self._starts, self._lines, self._offsets)))
