"""From one file to what it states: the findings of its records, and counts of all that is not among them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from assay.traces.events import LogRecord, Notice, Place
from assay.traces.paste import normalise, pasted_records
from assay.traces.readers.layout import STOCK, Clock, detect_layout, split_logger
from assay.traces.readers.scan import ByteStream, RawRecord, ScanLimits, Tally, scan
from assay.traces.shapes.recognise import Finding, LoggerShapes, Recogniser, mask

_PASTED_INTO = (".log", ".txt", ".out", ".err", ".md", "")
"""Endings of files in a directory in which a person may have pasted log lines; a file that is named is always looked at."""


@dataclass(frozen=True, slots=True)
class Match:
    """A record and its findings; ``findings`` is empty if no shape fits."""

    record: LogRecord
    findings: tuple[Finding, ...]


@dataclass(slots=True)
class Unmapped:
    """Records of protocol loggers that no shape describes, alike but for their numbers; ``place`` is the first."""

    count: int
    place: Place


@dataclass(slots=True)
class FileReading:
    """What one file holds. ``other`` counts the records of loggers that say nothing of the protocol."""

    file: str
    folder: str
    tally: Tally
    matches: list[Match] = field(default_factory=list)
    unmapped: dict[tuple[str, str], Unmapped] = field(default_factory=dict)
    other: int = 0
    digest: bytes = b""

    @property
    def is_log(self) -> bool:
        """Whether any record was found."""
        return self.tally.records > 0

    def note(self, kind: str, place: Place, text: str) -> None:
        """Record a notice."""
        self.tally.notices.append(Notice(kind, place, text))


class _Hashed:
    """A stream that knows a fingerprint of what was read."""

    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream
        self._hash = hashlib.blake2b(digest_size=16)
        self.first_zero = -1
        self._length = 0

    def read(self, size: int, /) -> bytes:
        """At most ``size`` bytes."""
        block = self._stream.read(size)
        self._hash.update(block)
        if self.first_zero < 0 and (at := block.find(b"\0")) >= 0:
            self.first_zero = self._length + at
        self._length += len(block)
        return block

    def digest(self) -> bytes:
        """The fingerprint so far."""
        return self._hash.digest()


class RecordReader:
    """Reads files with one catalogue of shapes."""

    def __init__(self, recogniser: Recogniser, limits: ScanLimits) -> None:
        self._recogniser = recogniser
        self._limits = limits
        self._loggers: dict[bytes, tuple[str, LoggerShapes | None]] = {}
        self._levels: dict[bytes, str] = {}

    def read(self, stream: ByteStream, head: bytes, file: str, folder: str, *, may_be_pasted: bool) -> FileReading:
        """Read one file to its end. ``head`` is its beginning, which ``stream`` will hand out again."""
        reading = FileReading(file, folder, Tally())
        start = Place(file, 1, 0)
        if not head:
            reading.note("empty file", start, "the file is empty")
            return reading
        layout = detect_layout(head)
        if layout is None and _is_binary(head):
            reading.note("binary file", start, "the file is not text; it was not read")
            return reading
        hashed = _Hashed(stream)
        job = _FileJob(self, reading, may_be_pasted)
        for raw in scan(hashed, layout or STOCK, file, reading.tally, self._limits):
            job.take(raw)
        reading.digest = hashed.digest()
        job.finish(hashed.first_zero)
        return reading

    def dispatch(self, logger: bytes) -> tuple[str, LoggerShapes | None]:
        """The name and the shapes of a logger."""
        try:
            return self._loggers[logger]
        except KeyError:
            name = logger.decode("ascii", "replace")
            found = self._loggers[logger] = (name, self._recogniser.of_logger(name))
            return found

    def level(self, level: bytes) -> str:
        """The name of a level, one object for all records."""
        return self._levels.setdefault(level, level.decode("ascii"))

    def pasted(self, text: bytes, place: Place) -> Iterator[Match]:
        """The log lines in text that is in no layout."""
        for pasted in pasted_records(text, place, self._recogniser):
            yield Match(pasted.record, pasted.findings)


class _FileJob:
    """The reading of one file, record by record."""

    def __init__(self, reader: RecordReader, reading: FileReading, may_be_pasted: bool) -> None:
        self._reader, self._reading, self._may_be_pasted = reader, reading, may_be_pasted
        self._clock = Clock()
        self._loose: tuple[Place, int] | None = None
        self._undecodable: list[Place] = []
        self._nameless: list[Place] = []
        self._timeless: list[Place] = []
        self._last = b""

    def take(self, raw: RawRecord) -> None:
        """Sort one record in."""
        reading = self._reading
        if not raw.stamp:
            self._take_loose(raw)
            return
        reading.tally.records += 1
        self._last = raw.text
        head, logger, tail = split_logger(raw.text)
        if not logger or not raw.text.isascii():
            self._take_odd(raw)
            return
        name, shapes = self._reader.dispatch(logger)
        if shapes is None:
            reading.other += 1
            return
        self._take_message(raw, name, shapes, head.decode("ascii"), tail.decode("ascii"))

    def finish(self, first_zero: int) -> None:
        """Report what the file as a whole shows."""
        reading, file = self._reading, self._reading.file
        if not reading.is_log:
            kept = [notice for notice in reading.tally.notices if notice.kind == "record too long"]
            reading.tally.notices[:] = kept
            reading.note("not a log", Place(file, 1, 0), "the file holds no log record")
            return
        if self._loose is not None:
            place, size = self._loose
            reading.note("beginning cut off", place, f"{size:,} bytes before the first record belong to no record")
        if self._last and not self._last.endswith(b"\n") and not split_logger(self._last)[1]:
            reading.note("end cut off", Place(file, reading.tally.lines, 0), "the last record is not complete")
        if first_zero >= 0:
            reading.note("zero bytes", Place(file, 1, first_zero), f"zero bytes from byte {first_zero:,} on")
        self._report_all(
            "invalid UTF-8", self._undecodable, "hold bytes that are not UTF-8, read as replacement characters"
        )
        self._report_all("no logger", self._nameless, "name no logger and were not understood")
        self._report_all("no such time", self._timeless, "have a time stamp that names no moment")

    def _take_loose(self, raw: RawRecord) -> None:
        """Text before the first record: lines that someone pasted, or the end of a record that is not there."""
        place = Place(self._reading.file, raw.line, raw.offset)
        found = list(self._reader.pasted(raw.text, place)) if self._may_be_pasted else []
        self._reading.matches += found
        self._reading.tally.records += len(found)
        if not found:
            self._loose = (place, len(raw.text))

    def _take_odd(self, raw: RawRecord) -> None:
        """A record without a logger, or with more than plain letters: it may have come from a web page."""
        place = Place(self._reading.file, raw.line, raw.offset)
        try:
            text = raw.text.decode("utf-8")
        except UnicodeDecodeError:
            self._undecodable.append(place)
            text = raw.text.decode("utf-8", "replace")
        head, logger, tail = split_logger(text.encode())
        if not logger:
            head, logger, tail = split_logger(normalise(text).encode())
        if not logger:
            self._nameless.append(place)
            self._reading.other += 1
            return
        name, shapes = self._reader.dispatch(logger)
        if shapes is None:
            self._reading.other += 1
            return
        message = head.decode()
        if not shapes.find(message)[1] and shapes.find(plain := normalise(message))[1]:
            message = plain
        self._take_message(raw, name, shapes, message, tail.decode())

    def _take_message(self, raw: RawRecord, logger: str, shapes: LoggerShapes, head: str, tail: str) -> None:
        """Find the shapes of a message of a known logger."""
        findings, whole = shapes.find(head)
        place = Place(self._reading.file, raw.line, raw.offset)
        if not whole and shapes.protocol:
            key = (logger, mask(head))
            self._reading.unmapped.setdefault(key, Unmapped(0, place)).count += 1
        elif not findings:
            self._reading.other += 1
        if findings:
            time = self._clock.read(raw.stamp)
            if time is None:
                self._timeless.append(place)
            message = f"{head}\n{tail.rstrip()}" if tail else head
            record = LogRecord(place, time, self._reader.level(raw.level), logger, None, message)
            self._reading.matches.append(Match(record, tuple(findings)))

    def _report_all(self, kind: str, places: list[Place], text: str) -> None:
        """One notice for all records of the file that are odd in the same way, at the first of them."""
        if places:
            self._reading.note(kind, places[0], f"{len(places):,} records {text}")


def _is_binary(head: bytes) -> bool:
    """Whether a file that begins so is no text in any encoding that is read."""
    return b"\0" in head or head.startswith((b"\xff\xfe", b"\xfe\xff"))


def may_be_pasted(base: str, *, named: bool) -> bool:
    """Whether loose lines in a file of that name are looked at."""
    ending = base[base.rindex(".") :].lower() if "." in base else ""
    return named or ending in _PASTED_INTO
