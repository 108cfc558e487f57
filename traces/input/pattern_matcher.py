"""Read one file: decide what it is, and read it with the matching reader."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property, partial
from pathlib import PurePosixPath
from typing import Any

from assay.grammar.diagnostics.suggest import did_you_mean
from assay.grammar.kernel.event_source import DEFAULT_SOURCE, EventSource
from assay.traces.event import LogPosition
from assay.traces.input.containers.command_output import logged
from assay.traces.input.containers.detect import ContainerDetector, Wrapping
from assay.traces.input.containers.encodings import DecodedStream, PageStream, RepeatedStart, encoding_of
from assay.traces.input.containers.parts import LineOrigin, PartLines
from assay.traces.input.containers.unwrapper import CUT, Unwrapper
from assay.traces.input.events.decoder import EventDecoder, TextDecoder
from assay.traces.input.events.exact_values import keys_of
from assay.traces.input.events.json_lines import (
    UNREAD_EVENT,
    FoundLine,
    JsonEvents,
    events_in,
    holds_events,
    read_events,
)
from assay.traces.input.events.text_lines import TextLines
from assay.traces.input.file_contents import FileReading, RecordOrigin
from assay.traces.input.file_reader import FileJob
from assay.traces.input.kraft_metadata_dump import is_dump, read_dump
from assay.traces.input.lines.cut_lines import CutLines
from assay.traces.input.lines.line_layout import LOGGER_LAST, START
from assay.traces.input.lines.pasted_lines import pasted_records
from assay.traces.input.lines.record_kinds import LoggerDispatch, RecordKinds
from assay.traces.input.lines.record_scanner import BOM, ByteStream, FileCounts, ScanLimits, divide
from assay.traces.input.lines.trouble_tally import StatementReader
from assay.traces.patterns.container import Containers
from assay.traces.patterns.match import LoggerPatterns, PatternMatcher
from assay.traces.patterns.statement_catalogue import statement_catalogue
from assay.traces.store.matched_record import MatchedRecord, match_found
from assay.traces.store.single_record_templates import SingleRecordLayouts

_PASTED_INTO = (".log", ".txt", ".out", ".err", ".md", "")
"""Endings of files in a directory in which a person may have pasted log lines.

A file that the user names is always searched.
"""

_ENDINGS_KEPT = 4096
_HEAD = 1 << 16

ReadsEvents = Callable[[ByteStream, str, FileCounts, ScanLimits], JsonEvents]
"""A function that reads a file of events to its end."""


class _Hashed:
    """A stream that computes a digest of what was read, and notes the first zero byte."""

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
        """The digest so far."""
        return self._hash.digest()


class FoundEvents:
    """The events in containers, by the part of the file that they are in."""

    def __init__(self, *, every_line: bool) -> None:
        self.every_line = every_line
        self.by_part: dict[LineOrigin, list[FoundLine]] = {}

    def __call__(self, part: LineOrigin, place: LogPosition, content: bytes | dict[str, Any], time: object, /) -> None:
        """Take an event in."""
        self.by_part.setdefault(part, []).append((place, content, time))


class RecordReader:
    """Reads files with one catalogue of patterns."""

    def __init__(
        self, matcher: PatternMatcher, limits: ScanLimits, containers: Containers, source: EventSource = DEFAULT_SOURCE
    ) -> None:
        self._matcher = matcher
        self.source = source
        decoder = self.decoder()
        self.detector = ContainerDetector(containers, decoder.names_event, decoder.describes)
        self._limits = limits
        self._loggers: dict[bytes, LoggerDispatch] = {}
        self.endings: dict[bytes, LoggerDispatch] = {}
        self._levels: dict[bytes, str] = {}
        self.statements = StatementReader(statement_catalogue())
        # Shared by all files: the files of a cluster have the same kinds of lines, and each kind is matched once.
        self.kinds = RecordKinds(self.dispatch, self.level, self.statements)
        self.single = SingleRecordLayouts()

    def decoder(self) -> EventDecoder:
        """A decoder of the events of a file."""
        catalogue = self._matcher.catalogue
        if self.source.catalogue == "text":
            return TextDecoder(self.source, TextLines(catalogue.patterns, catalogue.headers))
        return EventDecoder(self.source)

    def read(self, stream: ByteStream, head: bytes, origin: RecordOrigin, *, may_be_pasted: bool) -> list[FileReading]:
        """Read one file to its end; returns one reading for the file, or for each part of it.

        ``head`` is its beginning, which ``stream`` returns again.
        """
        reading = FileReading(origin, FileCounts())
        start = LogPosition(origin.file, 1, 0)
        # From the surest kind of file to the least sure: each test looks at the first bytes alone, and the first that
        # fits decides.
        if not head:
            reading.note("empty file", start, "the file is empty")
            return [reading]
        if (encoding := encoding_of(head)) is not None:
            stream, head = _decoded(stream, encoding)
            reading.containers = ("UTF-16",)
        decoder = self.decoder()
        if holds_events(head, decoder):
            reading.order = self.source.order
            return [self._read_events(partial(read_events, decoder=decoder), stream, reading)]
        of_text = self.source.catalogue == "text"
        if not of_text and is_dump(head):
            return [self._read_events(read_dump, stream, reading)]
        binary = b"\0" in head
        wrapping = self.detector.find(head) if not binary or not _has_record(head) else None
        if wrapping is not None and wrapping.markup:
            stream, head = _started(PageStream(stream))
            reading.containers += wrapping.names
            wrapping = self.detector.find(head, of_page=True)
        if wrapping is None and binary and not _has_record(head):
            reading.note("binary file", start, "the file is not text; it was not read")
            return [reading]
        if wrapping is None and of_text:
            reading.order = self.source.order
            self._read_events(partial(read_events, decoder=decoder), stream, reading)
            if not reading.events:
                self.note_not_understood(reading, head)
            return [reading]
        return self._read_records(wrapping, stream, reading, head, may_be_pasted=may_be_pasted)

    def _read_records(
        self, wrapping: Wrapping | None, stream: ByteStream, reading: FileReading, head: bytes, *, may_be_pasted: bool
    ) -> list[FileReading]:
        """Read a file of log records: one reading, or one for each process or file that its containers name."""
        hashed = _Hashed(stream)
        if wrapping is not None:
            parts = self._read_parts(wrapping, hashed, reading)
        else:
            job = FileJob(self, reading, may_be_pasted=may_be_pasted)
            job.take_all(divide(hashed, reading.file, reading.tally, self._limits))
            job.finish()
            parts = [reading]
        # Zero bytes of a log are what a crash left. In a file that is no log they are of no interest.
        if any(part.is_log for part in parts):
            note_zeros(reading, hashed.first_zero)
        elif not any(part.events for part in parts):
            self.note_not_understood(reading, head)
        reading.digest = hashed.digest()
        for part in parts:
            part.matches.compact()
        return parts

    def _read_events(self, read: ReadsEvents, stream: ByteStream, reading: FileReading) -> FileReading:
        """Read a file of events."""
        hashed = _Hashed(stream)
        found = read(hashed, reading.file, reading.tally, self._limits)
        reading.events = found.events
        reading.tally.notices += found.notices
        reading.digest = hashed.digest()
        return reading

    def _read_parts(self, wrapping: Wrapping, stream: ByteStream, whole: FileReading) -> list[FileReading]:
        """Read a file whose lines are in containers: one reading for each part, after one with the counts of the file."""
        jobs: dict[LineOrigin, FileJob] = {}
        lines: dict[LineOrigin, PartLines] = {}
        whole.containers += wrapping.names

        def new_part(part: LineOrigin) -> PartLines:
            reading = FileReading(_origin_of(part, whole.origin), FileCounts())
            job = jobs[part] = FileJob(self, reading, may_be_pasted=False)
            lines[part] = PartLines(whole.file, reading.tally, self._limits, job.take_all, wrapping.wrap)
            return lines[part]

        of_text = self.source.catalogue == "text"
        # What comes out of the containers is a record of Kafka, or an event; a clause about text or JSON expects only
        # events.
        found = FoundEvents(every_line=of_text or (self.source.catalogue == "events" and wrapping.events))
        unwrapper = Unwrapper(self.detector, wrapping, whole.file, whole.tally, self._limits, new_part, found)
        unwrapper.read(stream)
        readings: list[FileReading] = []
        for part, job in jobs.items():
            job.finish()
            if job.reading.is_log:
                job.reading.relocate(lines[part].placement)
                readings.append(job.reading)
        if found.by_part:  # what was cut off may be an event
            notices = whole.tally.notices
            notices[:] = [replace(each, kind=UNREAD_EVENT) if each.kind == CUT else each for each in notices]
        for part, items in found.by_part.items():
            reading = FileReading(_origin_of(part, whole.origin), FileCounts())
            read = events_in(items, reading.tally, self.decoder())
            reading.events, reading.tally.notices, reading.order = read.events, read.notices, self.source.order
            readings.append(reading)
        return [whole, *readings]

    def note_not_understood(self, reading: FileReading, head: bytes) -> None:
        """Say of a file that holds no record what it is, or else how it begins."""
        place = LogPosition(reading.file, 1, 0)
        output = self.detector.output(head)
        if output is not None:
            reading.note("no log", place, f"this is no log but {output.name}{logged(output, head)}")
            return
        what = self._lacking(head)
        if self.source.catalogue == "text":
            count = len(self._matcher.catalogue.patterns)
            what = f"none of {count} patterns describes any of its {reading.tally.lines:,} lines"
        reading.note("not understood", place, f"the file was not understood: {what}; {_first_lines(head)}")

    def _lacking(self, head: bytes) -> str:
        """What a file lacks that holds no record: of objects, the key that names an event."""
        if self.source.catalogue != "events":
            return "it holds no log record"
        key = self.source.path("event")
        first = head.lstrip(BOM + b" \t\r\n").partition(b"\n")[0]
        keys = keys_of(first)
        if not keys:
            return f"it holds no event: no JSON, logfmt or CSV whose `{key}` names one"
        guess = did_you_mean(str(key), keys)
        meant = f", did you mean `{guess}`?" if guess else ""
        reported = (
            f"its lines have no `{key}`, which names the event (`event = …` behind `from events:` says which key does)"
        )
        return f"{reported}; the first has {', '.join(f'`{each}`' for each in keys)}{meant}"

    @property
    def nameless(self) -> LoggerPatterns:
        """The patterns that recognise a message without its logger."""
        return self._matcher.nameless

    @cached_property
    def cut_lines(self) -> CutLines:
        """What a message without its end may be."""
        return CutLines(self._matcher)

    def learn_ending(self, ending: bytes) -> None:
        """Remember the ending of a record of one line, if it is a logger."""
        found = LOGGER_LAST.fullmatch(ending)
        if found is not None and len(self.endings) < _ENDINGS_KEPT:
            self.endings[ending] = self.dispatch(found[1])

    def dispatch(self, logger: bytes) -> LoggerDispatch:
        """The name and the patterns of a logger."""
        try:
            return self._loggers[logger]
        except KeyError:
            name = self._matcher.full_name(logger.decode("ascii", "replace"))
            found = self._loggers[logger] = (name, self._matcher.patterns_of(name))
            return found

    def level(self, level: bytes) -> str:
        """The name of a level, one object for all records."""
        found = self._levels.get(level)
        if found is None:
            found = self._levels[level] = level.decode("ascii")
        return found

    def pasted(self, text: bytes, place: LogPosition) -> Iterator[MatchedRecord]:
        """The log lines in text that is in no layout."""
        for pasted in pasted_records(text, place, self._matcher):
            yield match_found(pasted.record, pasted.findings)


def is_plain(head: bytes, reader: RecordReader) -> bool:
    """Whether a text with these first bytes consists of plain log lines, so that it may be read in parts."""
    if not head or encoding_of(head) is not None or reader.source.catalogue == "text":
        return False
    if holds_events(head, EventDecoder(reader.source)) or is_dump(head):
        return False
    return _has_record(head) if b"\0" in head else reader.detector.find(head) is None


def note_zeros(reading: FileReading, first: int) -> None:
    """Report zero bytes in a text; a crash of the operating system leaves them."""
    if first >= 0:
        reading.note("zero bytes", LogPosition(reading.file, 1, first), f"zero bytes from byte {first:,} on")


def _decoded(stream: ByteStream, encoding: str) -> tuple[ByteStream, bytes]:
    """The stream in UTF-8, and its beginning."""
    stream, head = _started(DecodedStream(stream, encoding))
    return stream, head.removeprefix(BOM)


def _started(stream: ByteStream) -> tuple[ByteStream, bytes]:
    """A stream, and its beginning, which it returns again."""
    head = b""
    while len(head) < _HEAD and (block := stream.read(_HEAD)):
        head += block
    return RepeatedStart(head, stream), head


def _first_lines(head: bytes) -> str:
    """How a text begins, in quotes."""
    lines = [line.decode("utf-8", "replace").strip() for line in head[:4096].splitlines() if line.strip()]
    return "it begins: " + " / ".join(f"`{line[:120]}`" for line in lines[:3])


def _has_record(head: bytes) -> bool:
    """Whether a record begins in a text."""
    return START.search(b"\n" + head) is not None


def _origin_of(part: LineOrigin, whole: RecordOrigin) -> RecordOrigin:
    """The origin of the records of a part.

    The container of a process acts as its folder, and so does the folder of a file that grep names.
    """
    if part.path:
        path = PurePosixPath(part.path)
        below = str(path.parent).lstrip("/") if part.who else path.parent
        folder = str(PurePosixPath(whole.folder, part.who, below))
        return replace(whole, folder=folder, base=path.name, part=part.label)
    folder = "/".join(each for each in (whole.folder, part.role, part.who) if each)
    return replace(whole, folder=folder, base=f"{whole.base}-{part.run}" if part.run else whole.base, part=part.label)


def may_be_pasted(base: str, *, named: bool) -> bool:
    """Whether loose lines in a file of that name are searched for pasted log lines."""
    ending = base[base.rindex(".") :].lower() if "." in base else ""
    return named or ending in _PASTED_INTO
