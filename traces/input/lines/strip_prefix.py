"""Strip prefixes, colours and JSON from lines: the original streams, one for each process, container or file that the
prefix names.

A record keeps the position that its first line has in the file that was read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from assay.traces.event import LogPosition, Notice
from assay.traces.input.lines.collector_prefix import Prefix, origin_from_labels, with_prefix_stamp
from assay.traces.input.lines.json_log_lines import json_line
from assay.traces.input.lines.line_layout import without_colours
from assay.traces.input.lines.record_scanner import ByteStream, Cutter, FileCounts, ScanLimits
from assay.traces.store.record_block import RawRecord

_MAX_NESTING = 3
"""How deep JSON objects may be nested in one another's messages."""

_LINES = re.compile(rb"[^\n]*\n|[^\n]+")


class LineOrigin(NamedTuple):
    """Where lines come from, by their prefixes: host or container, what runs there, process number, and file; each
    empty if it is not known.
    """

    who: str = ""
    role: str = ""
    run: str = ""
    path: str = ""

    @property
    def label(self) -> str:
        """The origin in words, for people."""
        return " ".join(each for each in (self.who, self.role, self.run and f"[{self.run}]", self.path) if each)


@dataclass(slots=True)
class _PartLines:
    """The lines of one part: where each stands in the file, and the cutter that makes records of them."""

    cutter: Cutter
    waiting: list[bytes] = field(default_factory=list)
    places: list[tuple[int, int]] = field(default_factory=list)
    """Line and offset in the file of the part's lines; the first entry is that of line ``first`` of the part."""
    first: int = 1

    def take(self, line: bytes, place: tuple[int, int], *, begins: bool) -> None:
        """Add a line, or the continuation of a line (not ``begins``), which has no position of its own."""
        self.waiting.append(line)
        if begins:
            self.places.append(place)

    def place(self, line: int) -> tuple[int, int]:
        """The position in the file of a line of the part."""
        return self.places[max(0, min(line - self.first, len(self.places) - 1))]

    def records(self, *, last: bool = False) -> Iterator[RawRecord]:
        """The records that the waiting lines complete; positions that are no longer needed are dropped."""
        text = b"".join(self.waiting)
        self.waiting.clear()
        for raw in self.cutter.feed(text):
            yield self._placed(raw)
        if last:
            for raw in self.cutter.finish():
                yield self._placed(raw)
        done = self.cutter.line - self.first
        del self.places[:done]
        self.first += done

    def _placed(self, raw: RawRecord) -> RawRecord:
        line, offset = self.place(raw.line)
        return raw._replace(line=line, offset=offset)


class PrefixStripper:
    """Reads a stream line by line, and returns the records of each part in order."""

    def __init__(self, prefixes: Sequence[Prefix], file: str, tally: FileCounts, limits: ScanLimits) -> None:
        self._patterns: list[re.Pattern[bytes]] = [prefix.pattern for prefix in prefixes]
        self._file, self._tally, self._limits = file, tally, limits
        self._by_part: dict[LineOrigin, _PartLines] = {}
        self._names: dict[tuple[bytes, ...], LineOrigin] = {}
        self._unfinished: set[LineOrigin] = set()
        """Parts whose last line has not ended yet, because it is very long."""
        self._incomplete_lines: dict[LineOrigin, tuple[bytes, tuple[int, int]]] = {}
        """Beginnings of lines that a collector cut, with their positions."""
        self._line, self._offset = 0, 0
        self._open: LineOrigin | None = None
        self._without: list[LogPosition] = []
        self._numbers: dict[LineOrigin, int] = {}
        self._left_out: list[LogPosition] = []

    def read(self, stream: ByteStream) -> Iterator[tuple[LineOrigin, RawRecord]]:
        """All records, each with its part."""
        rest = b""
        while block := stream.read(self._limits.block):
            self._tally.bytes += len(block)
            *lines, rest = (rest + block).split(b"\n")
            for line in lines:
                self._take(line + b"\n")
            if len(rest) > self._limits.record:
                self._take(rest)
                rest = b""
            yield from self._drain(last=False)
        if rest:
            self._take(rest)
        for part, (text, place) in self._incomplete_lines.items():
            self._take_lines(part, text, place)
        yield from self._drain(last=True)
        self._tally.lines = self._line
        self._report()

    def _drain(self, *, last: bool) -> Iterator[tuple[LineOrigin, RawRecord]]:
        for part, strand in self._by_part.items():
            for raw in strand.records(last=last):
                yield part, raw

    def _take(self, line: bytes) -> None:
        """Give a line, or a piece of a very long one, to its part."""
        self._line += self._open is None
        place = (self._line, self._offset)
        self._offset += len(line)
        part, text, place = self._unwrap(line, place) if self._open is None else (self._open, line, place)
        self._open = None if line.endswith(b"\n") else part
        if text.find(b"\n") == len(text) - 1 and part not in self._unfinished:
            self._lines_of(part).take(text, place, begins=True)
        else:
            self._take_lines(part, text, place)

    def _take_lines(self, part: LineOrigin, text: bytes, place: tuple[int, int]) -> None:
        """Add the lines of one object, or the end of an incomplete one."""
        for piece in _LINES.findall(text):
            self._lines_of(part).take(piece, place, begins=part not in self._unfinished)
            if piece.endswith(b"\n"):
                self._unfinished.discard(part)
            else:
                self._unfinished.add(part)

    def _unwrap(self, line: bytes, place: tuple[int, int]) -> tuple[LineOrigin, bytes, tuple[int, int]]:
        text = without_colours(line)
        groups: dict[str, bytes] = {}
        for pattern in self._patterns:
            found = pattern.match(text)
            if found is None:
                if text.strip():
                    self._without.append(LogPosition(self._file, *place))
                break
            groups |= {name: value for name, value in found.groupdict().items() if value is not None}
            text = text[found.end() :]
        if "labels" in groups:
            groups |= origin_from_labels(groups["labels"])
        text, place = self._open_json(text, groups, place)
        part = self._part(groups)
        if "number" in groups:
            self._count(part, int(groups["number"]), place)
        return part, with_prefix_stamp(text, groups["stamp"]) if "stamp" in groups else text, place

    def _open_json(
        self, text: bytes, groups: dict[str, bytes], place: tuple[int, int]
    ) -> tuple[bytes, tuple[int, int]]:
        """Open a JSON object, and objects in its message.

        Returns no text while the line continues in the next object, and then the position of the first.
        """
        for _ in range(_MAX_NESTING):
            inner = json_line(text)
            if inner is None:
                break
            groups |= inner.groups
            part = self._part(groups)
            # Docker cuts lines at 16 KB into several objects, so that a line may continue in the next one.
            before, place = self._incomplete_lines.pop(part, (b"", place))
            text = before + inner.text
            if not text.endswith(b"\n") and len(text) <= self._limits.record:
                self._incomplete_lines[part] = text, place
                return b"", place
            text = without_colours(text)
        return text, place

    def _part(self, groups: dict[str, bytes]) -> LineOrigin:
        key = tuple(groups.get(name, b"") for name in LineOrigin._fields)
        found = self._names.get(key)
        if found is None:
            found = self._names[key] = LineOrigin(*(each.decode("utf-8", "replace") for each in key))
        return found

    def _lines_of(self, part: LineOrigin) -> _PartLines:
        found = self._by_part.get(part)
        if found is None:

            def place(line: int, _: int) -> LogPosition:
                return LogPosition(self._file, *self._by_part[part].place(line))

            found = self._by_part[part] = _PartLines(Cutter(place, self._tally, self._limits))
        return found

    def _count(self, part: LineOrigin, number: int, place: tuple[int, int]) -> None:
        """Detect lines that were left out when these lines were taken from their file."""
        if number != self._numbers.get(part, 0) + 1:
            self._left_out.append(LogPosition(self._file, *place))
        self._numbers[part] = number

    def _report(self) -> None:
        if self._without:
            text = (
                f"{len(self._without):,} lines lack the prefix that the others have; they were read as lines of nobody"
            )
            self._tally.notices.append(Notice("no prefix", self._without[0], text))
        if self._left_out:
            text = f"at {len(self._left_out):,} places, the numbers of lines jump: lines of the original file were left out"
            self._tally.notices.append(Notice("lines left out", self._left_out[0], text))
