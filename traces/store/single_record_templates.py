"""The moulds of records that are looked at one by one: those of other layouts than the stock one, or behind prefixes."""

from __future__ import annotations

from typing import NamedTuple

from assay.traces.event import LogRecord
from assay.traces.patterns.match import LONGEST_KEPT, Likeness
from assay.traces.store.message_templates import Mould, Moulds
from assay.traces.store.packed_records import NEVER, Rows

_DIGITS = b"0123456789"
_NO_DIGITS = bytes(set(range(256)) - set(_DIGITS))

_MOST = 1 << 15
"""Of more kinds of records than that, the earlier ones are forgotten: no log is made of so many."""


class _Kind(NamedTuple):
    """What equal moulds are made of."""

    level: str
    logger: str
    thread: str | None
    resolution: int
    skeleton: bytes


class SingleMoulds:
    """All kinds of such records seen so far."""

    def __init__(self) -> None:
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._moulds = Moulds()
        self._known: dict[_Kind, int] = {}

    def keep(self, rows: Rows, record: LogRecord, likeness: Likeness, table: bytes | None) -> bool:
        """Add a record to rows, packed; nothing is done, and said so, if it can not be. ``table`` makes its message a skeleton: all of these are alike."""
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
        """The number of a kind that is new."""
        if len(self._known) == _MOST:
            self._begin_anew()
        mould = Mould(kind.level, kind.logger, likeness, kind.skeleton, kind.thread, kind.resolution)
        number = self._known[kind] = self._moulds.add(mould)
        return number
