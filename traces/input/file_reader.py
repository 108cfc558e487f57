"""Read one file record by record, or the part of a file that one process wrote."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from assay.traces.durations import duration_in_words
from assay.traces.event import LogPosition, LogRecord
from assay.traces.input.file_contents import FileReading, Unmapped
from assay.traces.input.lines.cut_lines import BEGUN_LOGGER, CutLines
from assay.traces.input.lines.interpretations import ReadLine, interpretations, without_logger
from assay.traces.input.lines.line_layout import split_logger, without_colours
from assay.traces.input.lines.record_kinds import ALONE, BRACKETED, KEPT, LoggerDispatch, RecordKinds, SortedBlock
from assay.traces.input.lines.timestamps import Clock
from assay.traces.input.lines.trouble_tally import StatementReader
from assay.traces.patterns.line_regex import MatchExtent
from assay.traces.patterns.match import NO_MATCH, LoggerPatterns, TemplateMatch
from assay.traces.patterns.pattern import START_ROLES
from assay.traces.store.log4j_scanner import NO_MOMENT
from assay.traces.store.matched_record import MatchedRecord, match_of
from assay.traces.store.packed_records import NEVER
from assay.traces.store.record_block import Numbers, RawRecord, RecordBlock
from assay.traces.store.single_record_templates import SingleRecordLayouts

_MAX_BACK_MS = 60_000
_MAX_AHEAD_MS = 6 * 3600_000
"""Jumps of the times of one file that are reported: back by more than a minute, or ahead by more than six hours
(milliseconds).
"""

NO_LOGGER = "no logger"
CUT_OFF = "cut off"
"""The kinds of notices about records whose logger is missing: those that may be any, and those that are known, or none
that is known.
"""

_MOST_KINDS = 12
"""Of more kinds of events none is named in a notice."""
_MAX_MISSES = 64
"""After this many records in a row that begin with a bracket which is not a thread, no thread is looked for there."""


class Dispatch(Protocol):
    """What a job needs of the reader of all files."""

    @property
    def endings(self) -> Mapping[bytes, LoggerDispatch]:
        """The loggers by the ending of a record of one line: all that follows its message."""
        ...

    def learn_ending(self, ending: bytes) -> None:
        """Remember an ending, if it holds a logger."""
        ...

    def dispatch(self, logger: bytes) -> LoggerDispatch:
        """The full name and the patterns of a logger."""
        ...

    def level(self, level: bytes) -> str:
        """The name of a level."""
        ...

    @property
    def kinds(self) -> RecordKinds:
        """The kinds of records in the stock layout."""
        ...

    @property
    def single(self) -> SingleRecordLayouts:
        """The record layouts of all other records."""
        ...

    @property
    def statements(self) -> StatementReader: ...  # noqa: D102

    @property
    def nameless(self) -> LoggerPatterns:
        """The patterns that recognise a message without its logger."""
        ...

    @property
    def cut_lines(self) -> CutLines:
        """What a message without its end may be."""
        ...

    def pasted(self, text: bytes, place: LogPosition) -> Iterator[MatchedRecord]:
        """The log lines in text that is in no layout."""
        ...


class _Unusual(NamedTuple):
    """What is unusual with some records, as a notice says it."""

    kind: str
    text: str
    told: frozenset[str] = frozenset()


class FileJob:
    """The reading of one file, or of one part of it, record by record."""

    def __init__(self, reader: Dispatch, reading: FileReading, *, may_be_pasted: bool) -> None:
        self._reader, self.reading, self._may_be_pasted = reader, reading, may_be_pasted
        self._clock = Clock()
        self._in_header = False
        self._leading_text: tuple[LogPosition, int] | None = None
        self._unusual: dict[_Unusual, tuple[int, LogPosition]] = {}
        self._last: RawRecord | None = None
        self._nameless_last = False
        self._misses = 0
        self._began_in_header = False
        self._layout_changed = False
        self._first_thread: int | None = None
        """How many records in a row began with a bracket that is not a thread, before the first thread was found."""
        self._latest: int | None = None
        self._jumps: dict[str, tuple[int, int, LogPosition]] = {}

    def take_all(self, records: Iterable[RawRecord | RecordBlock]) -> None:
        """Take in records, single ones and blocks."""
        for record in records:
            if isinstance(record, RecordBlock):
                self._take_block(record)
            else:
                self.take(record)

    def _take_block(self, block: RecordBlock) -> None:
        """Take in a block: the records that have to be read one by one, and the ranges between them."""
        records, count = self._reader.kinds.sort(block), len(block.bodies)
        self._reader.kinds.note_loggers(self.reading.trouble, self.reading.file, records)
        classes = records.classes
        # A time that names no moment is reported with its record.
        alone = (classes == ALONE) | ((classes == KEPT) & (block.times == NO_MOMENT))
        if self._misses < _MAX_MISSES or alone.any():
            alone |= classes == BRACKETED
        at = 0
        for stop in (*np.flatnonzero(alone).tolist(), count):
            # The records before used a layout with the logger in front; so long as it lasts, each record is read by
            # itself.
            while at < stop and self._in_header:
                self.take(block.raw(at))
                at += 1
            self._take_sorted(records, at, stop)
            if stop < count:
                self.take(block.raw(stop))
            at = stop + 1

    def _take_sorted(self, records: SortedBlock, begin: int, end: int) -> None:
        """Take in a range of a block in which no record has to be read by itself."""
        if begin >= end:
            return
        kept = begin + np.flatnonzero(records.classes[begin:end] == KEPT)
        self.reading.tally.records += end - begin
        self.reading.other += end - begin - len(kept)
        self._nameless_last = False
        self._reader.kinds.note_trouble(self.reading.trouble, self.reading.file, records, begin, end)
        if len(kept):
            self._check_times(records.block, kept)
            self._reader.kinds.keep(self.reading.matches, self.reading.file, records, kept)

    def _check_times(self, block: RecordBlock, kept: Numbers) -> None:
        """Report jumps in the times of some records."""
        times = block.times[kept]
        jumps = np.empty_like(times)
        jumps[0] = 0 if self._latest is None else times[0] - self._latest
        np.subtract(times[1:], times[:-1], out=jumps[1:])
        for at in np.flatnonzero((jumps < -_MAX_BACK_MS) | (jumps > _MAX_AHEAD_MS)).tolist():
            line, offset = int(block.lines[kept[at]]), block.base + int(block.starts[kept[at]]) + 1
            self._note_jump(int(jumps[at]), LogPosition(self.reading.file, line, offset))
        # The last time, not the greatest: after a step back the next lines are measured from there.
        self._latest = int(times[-1])

    def take(self, raw: RawRecord) -> None:
        """Take in one record."""
        if not raw.stamp:
            self._take_leading_text(raw)
            return
        self.reading.tally.records += 1
        self._last, self._nameless_last = raw, False
        text = raw.text
        # Whatever is unusual goes the slow way: another layout, or characters that a page may have changed.
        if self._in_header or not raw.level or not text.isascii():
            self._take_unusual(raw)
            return
        at = text.rfind(b" (")
        # Most records end like an earlier one. One look-up by that ending spares them the division of their text.
        known = self._reader.endings.get(text[at:])
        if known is not None and text.find(b"\n") == len(text) - 1:
            self._take_stock(raw, known, text[:at], "")
            return
        if b"\r\n" in text:
            raw = raw._replace(text=text.replace(b"\r\n", b"\n"))
        head, logger, tail = split_logger(raw.text)
        if not logger:
            self._take_unusual(raw)
            return
        self._take_stock(raw, self._reader.dispatch(logger), head, tail.decode())
        if known is None:
            self._reader.learn_ending(text[at:])

    def _take_stock(self, raw: RawRecord, logger: LoggerDispatch, head: bytes, tail: str) -> None:
        """Take in a record of the stock layout: no thread, and the logger behind the message."""
        name, patterns = logger
        level = self._reader.level(raw.level)
        if patterns is None:
            self.reading.other += 1
            self._note_statement(raw, ReadLine(level, None, name, head.decode(), tail), described=False)
            return
        template_match = patterns.template_match(head)
        # No pattern describes it with the bracket. Without it one may: then the bracket is a thread.
        if not template_match.whole and head.startswith(b"[") and self._misses < _MAX_MISSES:
            self._misses += 1
            self._take_unusual(raw)
            return
        self._count(raw, name, patterns, template_match)
        line = ReadLine(level, None, name, head.decode(), tail)
        self._note_statement(raw, line, described=template_match.whole)
        if template_match.field_layouts:
            self._keep(raw, line, patterns, template_match)

    def expect_layout_of(self, earlier: FileJob) -> None:
        """Expect the layout that another job met last."""
        self._in_header = self._began_in_header = earlier._in_header

    def append(self, later: FileJob, lines: int, offset: int) -> bool:
        """Append what another job found in the records that follow, which begin at a line and a byte, as if this job
        had read them.

        Returns False, and changes nothing, if this job would have read them differently. A record depends on those
        before it where layouts change, or where timestamps lack their date.
        """
        if not self._would_agree_with(later):
            return False
        mine, its = self.reading, later.reading
        mine.tally.records += its.tally.records
        mine.other += its.other
        mine.nameless += its.nameless
        mine.trouble.extend(its.trouble, lambda place: self._relocated(place, lines, offset))
        timed = np.flatnonzero(its.matches.times != NEVER)
        if len(timed) and self._latest is not None:
            first = int(timed[0])
            jump = int(its.matches.times[first]) - self._latest
            if not -_MAX_BACK_MS <= jump <= _MAX_AHEAD_MS:
                self._note_jump(jump, self._relocated(its.matches[first].record.place, lines, offset))
        mine.matches.extend_in_place(its.matches.relocated(mine.file, lines, offset))
        for key, unmapped in its.unmapped.items():
            known = mine.unmapped.setdefault(key, Unmapped(0, self._relocated(unmapped.place, lines, offset)))
            known.count += unmapped.count
        for notice in its.tally.notices:
            place = None if notice.place is None else self._relocated(notice.place, lines, offset)
            mine.tally.notices.append(replace(notice, place=place))
        for what, (count, place) in later._unusual.items():
            before, where = self._unusual.get(what, (0, self._relocated(place, lines, offset)))
            self._unusual[what] = (before + count, where)
        for kind, (count, largest, place) in later._jumps.items():
            before, most, where = self._jumps.get(kind, (0, 0, place))
            where = where if most >= largest else self._relocated(place, lines, offset)
            self._jumps[kind] = (before + count, max(most, largest), where)
        self._latest = self._latest if later._latest is None else later._latest
        self._in_header = later._in_header
        resumed = later._first_thread is None
        self._misses = min(_MAX_MISSES, self._misses + later._misses) if resumed else later._misses
        self._last, self._nameless_last = later._last, later._nameless_last
        return True

    def _relocated(self, place: LogPosition, lines: int, offset: int) -> LogPosition:
        """A position in a part of the file as one in the file, whose name may have changed since the part was read."""
        return LogPosition(self.reading.file, place.line + lines, place.offset + offset)

    def _would_agree_with(self, later: FileJob) -> bool:
        """Whether this job, in its present state, reads records like the other one, which began
        without any before it.
        """
        dated = self._clock.lacks is None and later._clock.lacks is None
        found_in_time = later._first_thread is None or self._misses + later._first_thread <= _MAX_MISSES
        steady = not (self._misses and later._layout_changed)
        return dated and found_in_time and steady and self._in_header == later._began_in_header

    def __getstate__(self) -> dict[str, Any]:
        """Pickle without the reader; the job that appends this one has a reader of its own."""
        return {**self.__dict__, "_reader": None}

    def finish(self) -> None:
        """Report what the file as a whole shows."""
        reading = self.reading
        reading.lacks = self._clock.lacks
        if not reading.is_log:
            reading.tally.notices[:] = [each for each in reading.tally.notices if each.kind == "record too long"]
            return
        if self._leading_text is not None and not self._begins_with_process():
            place, size = self._leading_text
            reading.note("beginning cut off", place, f"{size:,} bytes before the first record belong to no record")
        if self._last is not None and self._nameless_last and not self._last.text.endswith(b"\n"):
            reading.note("end cut off", self._place(self._last), "the last record is not complete")
        for kind, (count, largest, place) in self._jumps.items():
            what, how = ("times go back", "by") if kind == "clock went back" else ("nothing is said", "for")
            often, most = (f" {count:,} times,", " at most") if count > 1 else ("", "")
            reading.note(kind, place, f"{what}{often} {how} {duration_in_words(largest)}{most}, here")
        for (kind, text, told), (count, place) in self._unusual.items():
            # Where the layout of most is known, a record that begins like no known line is none.
            is_none = kind == NO_LOGGER and not told and len(reading.matches) >= count
            reading.note(CUT_OFF if is_none else kind, place, f"{count:,} records {text}", told)

    def _begins_with_process(self) -> bool:
        """Whether the first matched line is one with which a process begins. Output of a script before it is then not a
        part of a lost record.
        """
        return bool(self.reading.matches) and not START_ROLES.isdisjoint(self.reading.matches[0].roles)

    def _place(self, raw: RawRecord) -> LogPosition:
        return LogPosition(self.reading.file, raw.line, raw.offset)

    def _note(self, kind: str, raw: RawRecord, text: str, told: frozenset[str] = frozenset()) -> None:
        """Count an unusual record; each kind is reported once, at its first record."""
        what = _Unusual(kind, text, told)
        count, place = self._unusual.get(what, (0, self._place(raw)))
        self._unusual[what] = (count + 1, place)

    def _take_leading_text(self, raw: RawRecord) -> None:
        """Text before the first record: pasted lines, or the end of a record whose beginning is missing."""
        place = self._place(raw)
        found = list(self._reader.pasted(raw.text, place)) if self._may_be_pasted else []
        self.reading.matches += found
        self.reading.tally.records += len(found)
        if not found:
            self._leading_text = (place, len(raw.text))

    def _take_unusual(self, raw: RawRecord) -> None:
        """A record in another layout than the stock one, or with characters beyond ASCII: it may have come from a web
        page.
        """
        text = self._text(raw)
        level = self._reader.level(raw.level)
        # The first reading whose whole message a pattern describes wins; else one whose logger is known; else any with
        # a logger.
        best: tuple[ReadLine, LoggerPatterns | None, TemplateMatch] | None = None
        for line in interpretations(text, level, header_first=self._in_header):
            name, patterns = self._reader.dispatch(line.logger.encode())
            # A word without a dot may be one of the message: `controller` of `[controller-1-Reaper]: Starting (a.b.C)`.
            is_name = "." in line.logger or (line.in_header and self._in_header)
            if patterns is None and (best is not None or not is_name):
                continue
            template_match = NO_MATCH if patterns is None else patterns.template_match(line.message.encode())
            if best is None or template_match.whole or (best[1] is None and patterns is not None and is_name):
                best = (line._replace(logger=name), patterns, template_match)
            if template_match.whole or (patterns is None and line.in_header and self._in_header and "." in line.logger):
                break  # a word without a dot may be the first word of a message whose logger is behind it
        if best is None:
            best = self._described(text, level)
        if best is None:
            self._take_without_end(raw, text, level)
            return
        line, patterns, template_match = best
        self._layout_changed |= self._in_header != line.in_header
        self._in_header = line.in_header
        if line.thread:
            self._first_thread = self._misses if self._first_thread is None else self._first_thread
            self._misses = 0
        self._note_statement(raw, line, described=template_match.whole)
        if patterns is None:
            self.reading.other += 1
            return
        self._count(raw, line.logger, patterns, template_match)
        if template_match.field_layouts:
            self._keep(raw, line, patterns, template_match)

    def _take_without_end(self, raw: RawRecord, text: str, level: str) -> None:
        """A record that names no logger and that no pattern describes: its end may be missing."""
        line = without_logger(text, level)
        self._note_statement(raw, line, described=False)
        self._nameless_last = True
        cut = self._reader.cut_lines.find(line.message)
        if cut.patterns is None:
            self._note(NO_LOGGER, raw, f"name no logger, and {_told(cut.kinds)}", cut.kinds)
            self.reading.nameless += 1
            self.reading.other += 1
            return
        # The last word may go on where the text ends.
        message = line.message.partition("\n")[0]
        message = message[: len(message) - cut.added].rpartition(" ")[0]
        template_match = cut.patterns.template_match(message.encode())
        read = {each.pattern.kind for each in template_match.field_layouts if each.pattern.reads is MatchExtent.START}
        if cut.kinds - read:
            self._note(CUT_OFF, raw, f"are cut off, and {_told(cut.kinds - read)}", cut.kinds - read)
        if template_match.field_layouts:
            self._keep(raw, line._replace(logger=cut.logger, message=message), cut.patterns, template_match)
        else:
            self.reading.other += 1

    def _described(self, text: str, level: str) -> tuple[ReadLine, LoggerPatterns, TemplateMatch] | None:
        """A record that names no logger, because its layout has none or its end is missing, recognised
        by its message.
        """
        line, patterns = without_logger(text, level), self._reader.nameless
        for message in dict.fromkeys((line.message, BEGUN_LOGGER.sub("", line.message))):
            template_match = patterns.template_match(message.encode())
            if template_match.whole:
                logger = template_match.field_layouts[0].pattern.loggers[0]
                return (
                    line._replace(logger=logger, message=message, in_header=self._in_header),
                    patterns,
                    template_match,
                )
        return None

    def _note_jump(self, jump: int, place: LogPosition) -> None:
        """Note times that go back, or ahead by so much that lines are probably missing; the largest jump of the file is
        reported.
        """
        kind = "clock went back" if jump < 0 else "gap in time"
        count, largest, where = self._jumps.get(kind, (0, 0, place))
        if abs(jump) > largest:
            largest, where = abs(jump), place
        self._jumps[kind] = (count + 1, largest, where)

    def _text(self, raw: RawRecord) -> str:
        try:
            text = raw.text.decode("utf-8")
        except UnicodeDecodeError:
            self._note("invalid UTF-8", raw, "hold bytes that are not UTF-8, read as replacement characters")
            text = raw.text.decode("utf-8", "replace")
        plain = without_colours(text.encode()).decode() if "\x1b" in text else text
        return plain.replace("\r\n", "\n")

    def _note_statement(self, raw: RawRecord, line: ReadLine, *, described: bool) -> None:
        """Note the logger of a record, and the record if it is one of trouble."""
        tally = self.reading.trouble
        known = tally.loggers.get(line.logger)
        if line.logger and (known is None or raw.offset < known.offset):
            tally.note_logger(line.logger, self._place(raw))
        if self._reader.statements.matters(line.level, line.logger, line.message):
            record = self._record(raw, line, self._clock.read(raw.stamp))
            self._reader.statements.take(tally, record, described=described)

    def _record(self, raw: RawRecord, line: ReadLine, time: int | None) -> LogRecord:
        """The record, with what follows the first line as a part of its message."""
        message = f"{line.message}\n{line.tail.rstrip()}" if line.tail else line.message
        parts = self._place(raw), time, line.level, line.logger, line.thread, message
        return LogRecord(*parts, self._clock.resolution)

    def _count(self, raw: RawRecord, logger: str, patterns: LoggerPatterns, template_match: TemplateMatch) -> None:
        """Count a record of a known logger if no pattern describes its whole message."""
        if template_match.whole:
            return
        if patterns.protocol:
            key = (logger, template_match.masked)
            known = self.reading.unmapped.get(key)
            if known is None:
                known = self.reading.unmapped[key] = Unmapped(0, self._place(raw))
            known.count += 1
        elif not template_match.field_layouts:
            self.reading.other += 1

    def _keep(self, raw: RawRecord, line: ReadLine, patterns: LoggerPatterns, template_match: TemplateMatch) -> None:
        """Add a record, with what was found in its message."""
        time = self._clock.read(raw.stamp)
        if time is None:
            self._note("no such time", raw, "have a time stamp that names no moment")
        else:
            if self._latest is not None and not -_MAX_BACK_MS <= time - self._latest <= _MAX_AHEAD_MS:
                self._note_jump(time - self._latest, self._place(raw))
            self._latest = time
        record = self._record(raw, line, time)
        if not self._reader.single.keep(self.reading.matches, record, template_match, patterns.table):
            self.reading.matches.append(match_of(record, template_match))


def _told(kinds: frozenset[str]) -> str:
    if len(kinds) > _MOST_KINDS:
        return "may tell of many kinds of events"
    return f"may tell of {', '.join(sorted(kinds))}" if kinds else "begin like no line that is known"
