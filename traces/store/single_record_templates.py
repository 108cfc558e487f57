"""Record layouts of records that are matched one by one: those that are not in the stock layout, or stand behind
prefixes.
"""

from __future__ import annotations

from typing import NamedTuple

from assay.traces.event import LogRecord
from assay.traces.patterns.match import LONGEST_KEPT, Likeness
from assay.traces.store.message_templates import Mould, Moulds
from assay.traces.store.packed_records import NEVER, Rows

_DIGITS = b"0123456789"
_NO_DIGITS = bytes(set(range(256)) - set(_DIGITS))

_MOST = 1 << 15
"""Above this number of kinds the cache is emptied; no ordinary log has so many."""


class _Kind(NamedTuple):
    """The key of a record layout."""

    level: str
    logger: str
    thread: str | None
    resolution: int
    skeleton: bytes


class SingleMoulds:
    """The record layouts of all such records seen so far."""

    def __init__(self) -> None:
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._moulds = Moulds()
        self._known: dict[_Kind, int] = {}

    def keep(self, rows: Rows, record: LogRecord, likeness: Likeness, table: bytes | None) -> bool:
        """Pack a record into ``rows`` if that is possible, and return whether it was.

        ``table`` maps its message to its template.
        """
        text = record.message
        if (
            table is None
            or record.time is None
            or record.time == NEVER
            or len(text) > LONGEST_KEPT
            or "\n" in text
            or not text.isascii()
        ):
            return False
        message = text.encode()
        kind = _Kind(record.level, record.logger, record.thread, record.resolution, message.translate(table))
        number = self._known.get(kind)
        if number is None:
            number = self._learn(kind, likeness)
        if not self._moulds[number].packs:
            return False
        rows.add(record.place, record.time, self._moulds, number, message.translate(None, _NO_DIGITS))
        return True

    def _learn(self, kind: _Kind, likeness: Likeness) -> int:
        """Add a record layout for a new kind; returns its number."""
        if len(self._known) == _MOST:
            self._begin_anew()
        mould = Mould(kind.level, kind.logger, likeness, kind.skeleton, kind.thread, kind.resolution)
        number = self._known[kind] = self._moulds.add(mould)
        return number
