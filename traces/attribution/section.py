"""The records of one log that one process run wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from assay.traces.store.record_block import Numbers

if TYPE_CHECKING:
    from assay.traces.store.packed_records import PackedRecords


class Section(NamedTuple):
    """Records of one log that one process run wrote, with their positions in the log."""

    stream: str
    positions: Numbers
    matches: PackedRecords
