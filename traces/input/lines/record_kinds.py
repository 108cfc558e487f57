"""The kinds of records in the stock layout. Compiled code classifies the records of a block, and only records that a
pattern may match are read.

A kind is a level, the ending of the line, and the template of the message; how it is found:
``docs/design/record-kinds.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from assay.traces.event import LogPosition, LogRecord
from assay.traces.input.lines.line_layout import LOGGER_LAST
from assay.traces.input.lines.trouble_tally import StatementReader, TroubleTally
from assay.traces.patterns.match import LONGEST_CACHED, NO_MATCH, LoggerPatterns
from assay.traces.store.digit_pool import IDENTITY, DigitPool
from assay.traces.store.log4j_scanner import LEVEL, NO_MOMENT, find_endings, number_endings, number_kinds
from assay.traces.store.matched_record import MatchedRecord, match_of
from assay.traces.store.packed_records import PackedRecords
from assay.traces.store.record_block import Numbers, RecordBlock
from assay.traces.store.record_layouts import RecordLayout, RecordLayouts

LoggerDispatch = tuple[str, LoggerPatterns | None]
"""The full name of a logger, and its patterns if it concerns the protocol."""

OTHER, ALONE, KEPT, BRACKETED = range(4)
"""The classes of kinds. ``OTHER``: counted only.

``ALONE``: read one by one. ``KEPT``: a pattern matches the whole. ``BRACKETED``: like ``OTHER``, but the bracket at the
beginning may be a thread.
"""

COUNTED, EACH, BY_LOGGER = 1, 2, 3
"""Of lines of trouble the first, the last and their count are noted, or each one, or those of some loggers."""

_DIGITS = bytes.maketrans(b"123456789", b"000000000")
_OTHER, _ALONE = -2, -1
"""The numbers of kinds that need no template."""

_IS_TROUBLE = np.array([each in b"WEFS" for each in range(256)])
"""The first letters of the levels of lines of trouble."""

_ENDINGS, _KINDS = 1 << 12, 1 << 15
_BYTES_OF_ENDINGS, _BYTES_OF_KINDS = 1 << 18, 1 << 23


class SortedBlock(NamedTuple):
    """A block with the kind and class of each record, and where its message and its first line end. Also its ending,
    and whether it may be one of trouble.
    """

    block: RecordBlock
    numbers: Numbers
    classes: npt.NDArray[np.uint8]
    ends: Numbers
    stops: Numbers
    endings: Numbers
    troubles: npt.NDArray[np.uint8]


def record_at(file: str, records: SortedBlock, at: int, level: str, logger: str) -> LogRecord:
    """A record of a block, as an object."""
    block = records.block
    stop, last = int(records.stops[at]), int(block.starts[at + 1])
    # Records with other characters than ASCII have no ending here (`find_endings`), so any encoding will do.
    message = block.text[int(block.bodies[at]) : int(records.ends[at])].decode("latin-1")
    if stop < last:
        message = f"{message}\n{block.text[stop + 1 : last + 1].decode('latin-1').rstrip()}"
    time = int(block.times[at])
    return LogRecord(_position(file, block, at), None if time == NO_MOMENT else time, level, logger, None, message)


def _position(file: str, block: RecordBlock, at: int) -> LogPosition:
    return LogPosition(file, int(block.lines[at]), block.base + int(block.starts[at]) + 1)


class RecordKinds:
    """All kinds of records seen so far; ``dispatch`` finds a logger by its name, ``level`` the name of a level."""

    def __init__(
        self,
        dispatch: Callable[[bytes], LoggerDispatch],
        level: Callable[[bytes], str],
        statements: StatementReader,
    ) -> None:
        self._dispatch, self._level, self._statements = dispatch, level, statements
        self._loggers: list[LoggerDispatch] = []
        self._fold_rows = np.full(_ENDINGS, _ALONE, np.int64)
        self._folds = np.empty((0, 256), np.uint8)
        self._known_folds: dict[bytes, int] = {}
        self._forgotten = 0
        """How many endings were forgotten: the numbers of others come again."""
        self._reset()

    def _reset(self) -> None:
        """Forget all kinds and all endings."""
        self._endings, self._messages = DigitPool(_ENDINGS, _BYTES_OF_ENDINGS), DigitPool(_KINDS, _BYTES_OF_KINDS)
        self._loggers.clear()
        self._layouts = RecordLayouts()
        # The layouts of the kinds -2 and -1, which have none. So a kind and its layout differ by 2 in number, as in
        # `sort`.
        for _ in range(2):
            self._layouts.add(RecordLayout("", "", NO_MATCH, b""))
        self._packs = np.zeros(_KINDS + 2, np.uint8)
        self._classes = np.full(_KINDS + 2, ALONE, np.uint8)
        self._classes[_OTHER + 2] = OTHER
        self._troubles = np.zeros(_KINDS + 2, np.uint8)

    def sort(self, block: RecordBlock) -> SortedBlock:
        """Classify the records of a block by their kinds."""
        # Kinds are forgotten between blocks only: numbers must not change within one.
        if self._messages.is_nearly_full or self._endings.is_nearly_full:
            self._forgotten += len(self._endings)
            self._reset()
        text, count = np.frombuffer(block.text, np.uint8), len(block.bodies)
        ends, stops, endings, numbers = np.empty((4, count), np.int64)
        find_endings(text, block.starts, block.lines, block.bodies, block.plain, ends, stops)
        number_endings(text, ends, stops, IDENTITY, self._endings.arrays, endings)
        self._learn_endings()
        rows, store = self._fold_rows, self._messages.arrays
        number_kinds(text, block.starts, ends, endings, rows, self._folds, LONGEST_CACHED, store, numbers)
        self._learn_kinds()
        # The kinds -2 and -1 move to the places 0 and 1, so that arrays are indexed by kinds.
        numbers += 2
        troubles = self._troubles[numbers]
        troubles[(numbers == _OTHER + 2) & _IS_TROUBLE[text[block.starts[:count] + LEVEL]]] = BY_LOGGER
        return SortedBlock(block, numbers, self._classes[numbers], ends, stops, endings, troubles)

    def keep(self, rows: PackedRecords, file: str, records: SortedBlock, kept: Numbers) -> None:
        """Add those records of a block that a pattern matches: packed if they have one line and their kind packs."""
        block, numbers = records.block, records.numbers[kept]
        packed = (records.stops[kept] == block.starts[kept + 1]) & (self._packs[numbers] != 0)
        begin = 0
        for stop in (*np.flatnonzero(~packed).tolist(), len(kept)):
            if begin < stop:
                rows.pack(file, block, kept[begin:stop], self._layouts, numbers[begin:stop])
            if stop < len(kept):
                rows.append(self._match(file, records, int(kept[stop])))
            begin = stop + 1

    def _match(self, file: str, records: SortedBlock, at: int) -> MatchedRecord:
        """A record that a pattern matches, as an object."""
        layout = self._layouts[int(records.numbers[at])]
        return match_of(record_at(file, records, at, layout.level, layout.logger), layout.template_match)

    def note_loggers(self, tally: TroubleTally, file: str, records: SortedBlock) -> None:
        """Note the loggers of a block, each with its first record."""
        present = np.bincount(records.endings[records.endings >= 0], minlength=1)
        for number in np.flatnonzero(present).tolist():
            name, ending = self._loggers[number][0], self._forgotten + number
            if name and ending not in tally.noted:
                tally.noted.add(ending)
                first = int(np.argmax(records.endings == number))
                tally.note_logger(name, _position(file, records.block, first))

    def note_trouble(self, tally: TroubleTally, file: str, records: SortedBlock, begin: int, end: int) -> None:
        """Note the lines of trouble in a range of a block in which no record has to be read by itself."""
        found = begin + np.flatnonzero(records.troubles[begin:end])
        if not len(found):
            return
        how = records.troubles[found]
        for at in found[how == BY_LOGGER].tolist():
            name, level = self._loggers[int(records.endings[at])][0], self._level(records.block.raw(at).level)
            if self._statements.may_matter(level, name):
                self._statements.take(tally, record_at(file, records, at, level, name), described=False)
        for at in found[how == EACH].tolist():
            self._note_kind(tally, file, records, found[found == at])
        counted = found[how == COUNTED]
        for number in sorted(set(records.numbers[counted].tolist())):
            self._note_kind(tally, file, records, counted[records.numbers[counted] == number])

    def _note_kind(self, tally: TroubleTally, file: str, records: SortedBlock, alike: Numbers) -> None:
        """Note lines of one kind: the first, the last and their count."""
        layout = self._layouts[int(records.numbers[alike[0]])]
        first, last = (record_at(file, records, int(at), layout.level, layout.logger) for at in alike[[0, -1]])
        self._statements.take(tally, first, last, described=layout.template_match.whole, count=len(alike))

    def _trouble(self, layout: RecordLayout, message: str) -> int:
        """Whether lines of a kind are no trouble, are counted, or matter one by one."""
        if not self._statements.matters(layout.level, layout.logger, message):
            return 0
        return EACH if self._statements.keeps_each(layout.logger, message) else COUNTED

    def _learn_endings(self) -> None:
        """Find the loggers of new endings."""
        for number in range(len(self._loggers), len(self._endings)):
            found = LOGGER_LAST.fullmatch(self._endings.text(number))
            logger: LoggerDispatch = ("", None) if found is None else self._dispatch(found[1])
            self._loggers.append(logger)
            patterns = logger[1]
            # Without a logger, or with patterns that cannot be judged, nothing follows from a template.
            if found is None or (patterns is not None and patterns.table is None):
                self._fold_rows[number] = _ALONE
            elif patterns is not None and patterns.table is not None:
                self._fold_rows[number] = self._fold(patterns.table)
            else:
                own = self._statements.reads_below_warn(logger[0])
                self._fold_rows[number] = self._fold(_DIGITS) if own else _OTHER

    def _fold(self, table: bytes) -> int:
        """The index of a fold table in the array of all."""
        known = self._known_folds.get(table)
        if known is None:
            known = self._known_folds[table] = len(self._folds)
            self._folds = np.vstack((self._folds, np.frombuffer(table, np.uint8)))
        return known

    def _learn_kinds(self) -> None:
        """Match the messages of new kinds; the template of a message is matched in its place."""
        for number in range(len(self._layouts) - 2, len(self._messages)):
            level, _, message = self._messages.text(number).partition(b" ")
            name, patterns = self._loggers[self._messages.owner(number)]
            message = message.lstrip(b" ")
            template_match = NO_MATCH if patterns is None else patterns.match_uncached(message.decode("ascii"))
            layout = RecordLayout(self._level(level), name, template_match, message)
            self._layouts.add(layout)
            self._packs[number + 2] = layout.packs
            self._troubles[number + 2] = self._trouble(layout, message.decode("ascii"))
            if template_match.whole:
                self._classes[number + 2] = KEPT
            elif patterns is None:
                self._classes[number + 2] = OTHER
            elif not patterns.protocol and not template_match.field_layouts:
                self._classes[number + 2] = BRACKETED if message.startswith(b"[") else OTHER
