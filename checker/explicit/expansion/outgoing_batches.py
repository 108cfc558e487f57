"""Batches of candidates on their way to the shard that owns them. A batch is a chunk of a level file
(docs/level-files.md).

Each shard has a contiguous range of owners, all ranges of nearly the same size. So a state's fingerprint determines its
shard.
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
"""The most records of one batch."""
ALL_RECORDS = 1 << 19
"""The most records of all batches that are being filled at one time."""
REMEMBERED = 1 << 18
"""The most fingerprints that are remembered as sent."""

OutgoingBatch = tuple[int, Rows]
"""The shard that a batch is for, and the words of a chunk."""


def owner_ranges(parts: int) -> list[tuple[int, int]]:
    """The range of owners of each of ``parts`` shards: from the first up to the second number. There are no more shards
    than owners."""
    return list(pairwise(np.linspace(0, OWNERS, parts + 1).astype(int).tolist()))


class BatchPacker:
    """Fills batches for the shards that own the candidates; ``own`` is the shard that keeps its own, if any.

    With ``remember``, fingerprints alone identify states, and a state that was sent lately is not sent again.
    """

    def __init__(self, words: int, parts: int, own: int | None = None, *, remember: bool = False) -> None:
        self.layout = ChunkLayout(words, Parent.PRINT)
        self.records = 0
        """Records that went into packets."""
        self._splits = owner_ranges(parts)
        self._own = own
        # For 256 shards, batches of full size would hold four million records.
        room = min(RECORDS, max(64, ALL_RECORDS // parts))
        self._rows: Rows = np.empty((parts, room, words), np.uint64)
        self._parents: Rows = np.empty((parts, room), np.uint64)
        self._actions = np.empty((parts, room), np.uint16)
        self._filled = np.zeros((parts, 1), np.int64)
        self._sent: Rows = np.zeros(REMEMBERED if remember else 0, np.uint64)

    def add(self, lane: ThreadBuffer, names: Rows) -> Iterator[OutgoingBatch]:
        """Take out of a buffer what other shards own, and yield the batches that become full.

        ``names`` are the fingerprints of the states that were expanded; they become the predecessors' names in the
        batch.
        """
        arena, at = lane.arena, lane.at
        offsets = arena.offsets[at]
        for part, (first, last) in enumerate(self._splits):
            # Its candidates stay in the buffer, and are inserted like those of a local search.
            if part == self._own:
                continue
            begin, end = int(offsets[first]), int(offsets[last])
            while begin < end:
                begin = take(
                    arena.rows[at], arena.parents[at], arena.actions[at], arena.fresh[at], arena.order[at], arena.marks[at], begin, end,
                    names, self._sent, self._rows[part], self._parents[part], self._actions[part], self._filled[part],
                )  # fmt: skip
                # A full batch leaves, and `take` goes on with an empty one.
                if self._filled[part, 0] == len(self._rows[part]):
                    yield part, self._packet(part)
        if self._own is not None:  # nothing else is left for the table
            first, last = self._splits[self._own]
            offsets[: first + 1] = offsets[first]
            offsets[last:] = offsets[last]

    def rest(self) -> Iterator[OutgoingBatch]:
        """The batches that are not full, at the end of a level."""
        for part in np.flatnonzero(self._filled[:, 0]).tolist():
            yield part, self._packet(part)

    def _packet(self, part: int) -> Rows:
        n = int(self._filled[part, 0])
        self._filled[part, 0] = 0
        self.records += n
        return self.layout.assemble(RecordChunk(self._rows[part, :n], self._parents[part, :n], self._actions[part, :n]))
