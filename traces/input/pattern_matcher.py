"""Read one file: decide what it is, and read it with the matching reader."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath

from assay.grammar.kernel.event_source import DEFAULT_SOURCE, EventSource
from assay.traces.event import LogPosition
from assay.traces.input.events.decoder import EventDecoder
from assay.traces.input.events.json_lines import JsonEvents, holds_events, read_events
from assay.traces.input.file_contents import FileReading, RecordOrigin
from assay.traces.input.file_reader import FileJob
from assay.traces.input.kraft_metadata_dump import is_dump, read_dump
from assay.traces.input.lines.collector_prefix import find_prefixes
from assay.traces.input.lines.json_log_lines import holds_lines
from assay.traces.input.lines.line_layout import LOGGER_LAST, START
from assay.traces.input.lines.pasted_lines import pasted_records
from assay.traces.input.lines.record_kinds import LoggerDispatch, RecordKinds
from assay.traces.input.lines.record_scanner import ByteStream, FileCounts, ScanLimits, divide
from assay.traces.input.lines.statement_tally import StatementReader
from assay.traces.input.lines.strip_prefix import LineOrigin, PrefixStripper
from assay.traces.patterns.match import LoggerPatterns, PatternMatcher
from assay.traces.patterns.statement_catalogue import statement_catalogue
from assay.traces.store.matched_record import MatchedRecord, match_found
from assay.traces.store.record_block import RawRecord
from assay.traces.store.single_record_templates import SingleRecordLayouts

_PASTED_INTO = (".log", ".txt", ".out", ".err", ".md", "")
"""Endings of files in a directory in which a person may have pasted log lines.

A file that the user names is always searched.
"""

_ENDINGS_KEPT = 4096

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


class RecordReader:
    """Reads files with one catalogue of patterns."""

    def __init__(self, matcher: PatternMatcher, limits: ScanLimits, source: EventSource = DEFAULT_SOURCE) -> None:
        self._matcher = matcher
        self.source = source
        self._limits = limits
        self._loggers: dict[bytes, LoggerDispatch] = {}
        self.endings: dict[bytes, LoggerDispatch] = {}
        self._levels: dict[bytes, str] = {}
        self.statements = StatementReader(statement_catalogue())
        self.kinds = RecordKinds(self.dispatch, self.level, self.statements)
        self.single = SingleRecordLayouts()

    def read(self, stream: ByteStream, head: bytes, origin: RecordOrigin, *, may_be_pasted: bool) -> list[FileReading]:
        """Read one file to its end; returns one reading for the file, or for each part of it.

        ``head`` is its beginning, which ``stream`` returns again.
        """
        reading = FileReading(origin, FileCounts())
        start = LogPosition(origin.file, 1, 0)
        if not head:
            reading.note("empty file", start, "the file is empty")
            return [reading]
        decoder = EventDecoder(self.source)
        if holds_events(head, decoder):
            reading.order = self.source.order
            return [self._read_events(partial(read_events, decoder=decoder), stream, reading)]
        if is_dump(head):
            return [self._read_events(read_dump, stream, reading)]
        prefixes = () if _is_binary(head) else find_prefixes(head)
        if not prefixes and _is_binary(head) and not _has_record(head):
            reading.note("binary file", start, "the file is not text; it was not read")
            return [reading]
        hashed = _Hashed(stream)
        if prefixes or b"\x1b[" in head or holds_lines(head):
            unwrapped = PrefixStripper(prefixes, origin.file, reading.tally, self._limits)
            parts = self._read_parts(unwrapped.read(hashed), reading)
            note_zeros(reading, hashed.first_zero)
        else:
            job = FileJob(self, reading, may_be_pasted=may_be_pasted)
            job.take_all(divide(hashed, origin.file, reading.tally, self._limits))
            job.finish()
            if reading.is_log:
                note_zeros(reading, hashed.first_zero)
            parts = [reading]
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

    def _read_parts(self, records: Iterator[tuple[LineOrigin, RawRecord]], whole: FileReading) -> list[FileReading]:
        """Read a file whose lines have prefixes: one reading for each part, after one with the counts of the file."""
        jobs: dict[LineOrigin, FileJob] = {}
        for part, raw in records:
            job = jobs.get(part)
            if job is None:
                job = jobs[part] = FileJob(
                    self, FileReading(_origin_of(part, whole.origin), FileCounts()), may_be_pasted=False
                )
            job.take(raw)
        for job in jobs.values():
            job.finish()
        readings = [job.reading for job in jobs.values()]
        if not any(reading.is_log for reading in readings):
            whole.note("not a log", LogPosition(whole.file, 1, 0), "the file holds no log record")
        for reading in readings:
            if not reading.is_log:
                reading.tally.notices.clear()
        return [whole, *readings]

    @property
    def nameless(self) -> LoggerPatterns:
        """The patterns that recognise a message without its logger."""
        return self._matcher.nameless

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


def is_plain(head: bytes, source: EventSource = DEFAULT_SOURCE) -> bool:
    """Whether a text with these first bytes consists of plain log lines, so that it may be read in parts."""
    if not head or holds_events(head, EventDecoder(source)) or is_dump(head) or b"\x1b[" in head or holds_lines(head):
        return False
    return _has_record(head) if _is_binary(head) else not find_prefixes(head)


def note_zeros(reading: FileReading, first: int) -> None:
    """Report zero bytes in a text; a crash of the operating system leaves them."""
    if first >= 0:
        reading.note("zero bytes", LogPosition(reading.file, 1, first), f"zero bytes from byte {first:,} on")


def _is_binary(head: bytes) -> bool:
    """Whether a file with these first bytes is not text in any encoding that is read."""
    return b"\0" in head or head.startswith((b"\xff\xfe", b"\xfe\xff"))


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
