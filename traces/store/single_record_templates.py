"""Record layouts of records that are matched one by one: those that are not in the stock layout, or stand behind
prefixes.
"""

from __future__ import annotations

from typing import NamedTuple

from assay.traces.event import LogRecord
from assay.traces.patterns.match import LONGEST_CACHED, TemplateMatch
from assay.traces.store.packed_records import NEVER, PackedRecords
from assay.traces.store.record_layouts import RecordLayout, RecordLayouts

_DIGITS = b"0123456789"
_NO_DIGITS = bytes(set(range(256)) - set(_DIGITS))

_MAX_KINDS = 1 << 15
"""Above this number of kinds the cache is emptied; no ordinary log has so many."""


class _Kind(NamedTuple):
    """The key of a record layout."""

    level: str
    logger: str
    thread: str | None
    resolution: int
    template: bytes


class SingleRecordLayouts:
    """The record layouts of all such records seen so far."""

    def __init__(self) -> None:
        self._reset()

    def _reset(self) -> None:
        # A new object, not an emptied one: packed records of earlier kinds still point to the old layouts.
        self._layouts = RecordLayouts()
        self._known: dict[_Kind, int] = {}

    def keep(self, rows: PackedRecords, record: LogRecord, template_match: TemplateMatch, table: bytes | None) -> bool:
        """Pack a record into ``rows`` if that is possible, and return whether it was.

        ``table`` maps its message to its template.
        """
        text = record.message
        if (
            table is None
            or record.time is None
            or record.time == NEVER
            or len(text) > LONGEST_CACHED
            or "\n" in text
            or not text.isascii()
        ):
            return False
        message = text.encode()
        kind = _Kind(record.level, record.logger, record.thread, record.resolution, message.translate(table))
        number = self._known.get(kind)
        if number is None:
            number = self._learn(kind, template_match)
        if not self._layouts[number].packs:
            return False
        rows.add(record.place, record.time, self._layouts, number, message.translate(None, _NO_DIGITS))
        return True

    def _learn(self, kind: _Kind, template_match: TemplateMatch) -> int:
        """Add a record layout for a new kind; returns its number."""
        if len(self._known) == _MAX_KINDS:
            self._reset()
        layout = RecordLayout(kind.level, kind.logger, template_match, kind.template, kind.thread, kind.resolution)
        number = self._known[kind] = self._layouts.add(layout)
        return number
