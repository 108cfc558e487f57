"""Packets: candidates on their way to the search that owns them, as the chunks of level files (docs/level-files.md).

The owners are dealt to searches in stretches of nearly the same size, so that a state's fingerprint says where it belongs.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from assay.checker.explicit.expansion.thread_buffer import ThreadBuffer
from assay.checker.explicit.store.hash_kernels import OWNERS, take
from assay.checker.explicit.store.level_file import ChunkLayout, Parent, RecordChunk
from assay.checker.layout.row import Rows

RECORDS = 1 << 14
"""Of a full packet, at most."""
ALL_RECORDS = 1 << 19
"""Of all packets together that are being filled."""
REMEMBERED = 1 << 18
"""Fingerprints of which it is remembered, at most, that they were sent."""

Packet = tuple[int, Rows]
"""For whom, and the words of a chunk."""


def stretches(parts: int) -> list[tuple[int, int]]:
    """The owners of each of so many searches: from the first number up to the second. There are no more searches than owners."""
    return list(pairwise(np.linspace(0, OWNERS, parts + 1).astype(int).tolist()))


class Packing:
    """Fills packets for the searches that own what was found; ``own`` is the one that keeps its own, if any.

    With ``remember``, fingerprints alone tell states apart, and what was sent lately is not sent again.
    """

    def __init__(self, words: int, parts: int, own: int | None = None, *, remember: bool = False) -> None:
        self.layout = ChunkLayout(words, Parent.PRINT)
        self.records = 0
        """Records that went into packets."""
        self._stretches = stretches(parts)
        self._own = own
        room = min(RECORDS, max(64, ALL_RECORDS // parts))
        self._rows: Rows = np.empty((parts, room, words), np.uint64)
        self._parents: Rows = np.empty((parts, room), np.uint64)
        self._actions = np.empty((parts, room), np.uint16)
        self._filled = np.zeros((parts, 1), np.int64)
        self._sent: Rows = np.zeros(REMEMBERED if remember else 0, np.uint64)

    def add(self, lane: ThreadBuffer, names: Rows) -> Iterator[Packet]:
        """Take out of a lane what others own, by the fingerprints of the states that were expanded; the packets that are full."""
        arena, at = lane.arena, lane.at
        offsets = arena.offsets[at]
        for part, (first, last) in enumerate(self._stretches):
            if part == self._own:
                continue
            begin, end = int(offsets[first]), int(offsets[last])
            while begin < end:
                begin = take(
                    arena.rows[at], arena.parents[at], arena.actions[at], arena.fresh[at], arena.order[at], arena.marks[at], begin, end,
                    names, self._sent, self._rows[part], self._parents[part], self._actions[part], self._filled[part],
                )  # fmt: skip
                if self._filled[part, 0] == len(self._rows[part]):
                    yield part, self._packet(part)
        if self._own is not None:  # nothing else is left for the table
            first, last = self._stretches[self._own]
            offsets[: first + 1] = offsets[first]
            offsets[last:] = offsets[last]

    def rest(self) -> Iterator[Packet]:
        """The packets that are not full, at the end of a level."""
        for part in np.flatnonzero(self._filled[:, 0]).tolist():
            yield part, self._packet(part)

    def _packet(self, part: int) -> Rows:
        n = int(self._filled[part, 0])
        self._filled[part, 0] = 0
        self.records += n
        return self.layout.assemble(RecordChunk(self._rows[part, :n], self._parents[part, :n], self._actions[part, :n]))
