"""The kinds of records in the stock layout: compiled code classifies the records of a block, and only records that a
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
from assay.traces.patterns.match import LONGEST_KEPT, NOTHING, LoggerShapes
from assay.traces.store.digit_pool import IDENTITY, DigitPool
from assay.traces.store.log4j_scanner import find_endings, number_endings, number_kinds
from assay.traces.store.matched_record import MatchedRecord, match_of
from assay.traces.store.message_templates import Mould, Moulds
from assay.traces.store.packed_records import Rows
from assay.traces.store.record_block import Numbers, Stretch

Dispatched = tuple[str, LoggerShapes | None]
"""The full name of a logger, and its patterns if it concerns the protocol."""

OTHER, ALONE, KEPT, BRACKETED = range(4)
"""The classes of kinds. ``OTHER``: counted only.

``ALONE``: read one by one. ``KEPT``: a pattern matches the whole. ``BRACKETED``: like ``OTHER``, but the bracket at the
beginning may be a thread.
"""

_OTHER, _ALONE = -2, -1
"""The numbers of kinds that need no template."""

_ENDINGS, _KINDS = 1 << 12, 1 << 15
_BYTES_OF_ENDINGS, _BYTES_OF_KINDS = 1 << 18, 1 << 23


class Sorted(NamedTuple):
    """A block with the kind and class of each record, where its message ends, and where its first line ends."""

    stretch: Stretch
    numbers: Numbers
    classes: npt.NDArray[np.uint8]
    ends: Numbers
    stops: Numbers


class RecordKinds:
    """All kinds of records seen so far; ``dispatch`` finds a logger by its name, ``level`` the name of a level."""

    def __init__(self, dispatch: Callable[[bytes], Dispatched], level: Callable[[bytes], str]) -> None:
        self._dispatch, self._level = dispatch, level
        self._loggers: list[Dispatched] = []
        self._rows = np.full(_ENDINGS, _ALONE, np.int64)
        self._folds = np.empty((0, 256), np.uint8)
        self._known_folds: dict[bytes, int] = {}
        self._begin_anew()

    def _begin_anew(self) -> None:
        """Forget all kinds and all endings."""
        self._endings, self._messages = DigitPool(_ENDINGS, _BYTES_OF_ENDINGS), DigitPool(_KINDS, _BYTES_OF_KINDS)
        self._loggers.clear()
        self._moulds = Moulds()
        for _ in range(2):
            self._moulds.add(Mould("", "", NOTHING, b""))
        self._packs = np.zeros(_KINDS + 2, np.uint8)
        self._classes = np.full(_KINDS + 2, ALONE, np.uint8)
        self._classes[_OTHER + 2] = OTHER

    def sort(self, stretch: Stretch) -> Sorted:
        """Classify the records of a block by their kinds."""
        # Kinds are forgotten between blocks only: numbers must not change within one.
        if self._messages.is_nearly_full or self._endings.is_nearly_full:
            self._begin_anew()
        text, count = np.frombuffer(stretch.text, np.uint8), len(stretch.bodies)
        ends, stops, endings, numbers = np.empty((4, count), np.int64)
        find_endings(text, stretch.starts, stretch.lines, stretch.bodies, stretch.plain, ends, stops)
        number_endings(text, ends, stops, IDENTITY, self._endings.arrays, endings)
        self._learn_endings()
        rows, store = self._rows, self._messages.arrays
        number_kinds(text, stretch.starts, ends, endings, rows, self._folds, LONGEST_KEPT, store, numbers)
        self._learn_kinds()
        numbers += 2
        return Sorted(stretch, numbers, self._classes[numbers], ends, stops)

    def keep(self, rows: Rows, file: str, records: Sorted, kept: Numbers) -> None:
        """Add those records of a block that a pattern matches: packed if they have one line and their kind packs."""
        stretch, numbers = records.stretch, records.numbers[kept]
        packed = (records.stops[kept] == stretch.starts[kept + 1]) & (self._packs[numbers] != 0)
        begin = 0
        for stop in (*np.flatnonzero(~packed).tolist(), len(kept)):
            if begin < stop:
                rows.pack(file, stretch, kept[begin:stop], self._moulds, numbers[begin:stop])
            if stop < len(kept):
                rows.append(self._match(file, records, int(kept[stop])))
            begin = stop + 1

    def _match(self, file: str, records: Sorted, at: int) -> MatchedRecord:
        """A record that a pattern matches, as an object."""
        stretch, mould = records.stretch, self._moulds[int(records.numbers[at])]
        start, stop, last = int(stretch.starts[at]), int(records.stops[at]), int(stretch.starts[at + 1])
        message = stretch.text[int(stretch.bodies[at]) : int(records.ends[at])].decode("latin-1")
        if stop < last:
            message = f"{message}\n{stretch.text[stop + 1 : last + 1].decode('latin-1').rstrip()}"
        place = LogPosition(file, int(stretch.lines[at]), stretch.base + start + 1)
        return match_of(
            LogRecord(place, int(stretch.times[at]), mould.level, mould.logger, None, message), mould.likeness
        )

    def _learn_endings(self) -> None:
        """Find the loggers of new endings."""
        for number in range(len(self._loggers), len(self._endings)):
            found = LOGGER_LAST.fullmatch(self._endings.text(number))
            logger: Dispatched = ("", None) if found is None else self._dispatch(found[1])
            self._loggers.append(logger)
            shapes = logger[1]
            if found is None or (shapes is not None and shapes.table is None):
                self._rows[number] = _ALONE
            else:
                table = None if shapes is None else shapes.table
                self._rows[number] = _OTHER if table is None else self._fold(table)

    def _fold(self, table: bytes) -> int:
        """The index of a fold table in the array of all."""
        known = self._known_folds.get(table)
        if known is None:
            known = self._known_folds[table] = len(self._folds)
            self._folds = np.vstack((self._folds, np.frombuffer(table, np.uint8)))
        return known

    def _learn_kinds(self) -> None:
        """Match the messages of new kinds; the template of a message is matched in its place."""
        for number in range(len(self._moulds) - 2, len(self._messages)):
            level, _, message = self._messages.text(number).partition(b" ")
            name, shapes = self._loggers[self._messages.owner(number)]
            message = message.lstrip(b" ")
            likeness = NOTHING if shapes is None else shapes.look(message.decode("ascii"))
            mould = Mould(self._level(level), name, likeness, message)
            self._moulds.add(mould)
            self._packs[number + 2] = mould.packs
            if likeness.whole:
                self._classes[number + 2] = KEPT
            elif shapes is not None and not shapes.protocol and not likeness.forms:
                self._classes[number + 2] = BRACKETED if message.startswith(b"[") else OTHER
