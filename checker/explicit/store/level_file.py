"""Level files: the states of one level of a search with the steps that found them. docs/level-files.md describes every
byte.

A file is a header of ``HEADER`` words and then chunks, all of 64-bit little-endian words. A full chunk holds ``CHUNK``
records, so that any record is located without reading others; only the last chunk of a level may hold fewer. In memory
a level has the same words.
"""

from __future__ import annotations

from dataclasses import fields
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.checker.explicit.store.hash_kernels import OWNERS, checksum
from assay.checker.layout.row import LAYOUT_VERSION, Rows
from assay.grammar.lazy_dataclass import dataclass

MAGIC = int.from_bytes(b"ASSAYLVL", "little")
FORMAT = 1
HEADER = 16
CHUNK = 1 << 15
"""Records of a full chunk."""
SEED = 0
"""Names the family of fingerprints; there is one so far."""


class DamagedError(Exception):
    """A level file is damaged or of another kind; the message says how."""


class Parent(IntEnum):
    """How a record names its predecessor, which is a state of the level before."""

    PLACE = 0
    """By its place in that level: 32 bits."""
    PRINT = 1
    """By its 64-bit fingerprint: where levels are spread over several owners."""


@dataclass(frozen=True, slots=True)
class LevelHeader:
    """The header of a level file: whose states, which level, and how to read them.

    ``identity`` is a 32-byte hash of the compiled kernel. ``bits`` is the width of the fingerprints that identified
    states while the file was written, 0 where whole rows did. The file holds the states of the owners from
    ``first_owner`` up to ``last_owner``.
    """

    identity: bytes
    words: int
    level: int
    bits: int
    parent: Parent = Parent.PLACE
    first_owner: int = 0
    last_owner: int = OWNERS
    seed: int = SEED
    layout: int = LAYOUT_VERSION
    chunk: int = CHUNK

    def pack(self) -> Rows:
        """The words of the header."""
        numbers = [getattr(self, field.name) for field in fields(self)[1:]]
        known = np.frombuffer(self.identity, "<u8").astype(np.uint64)
        words = np.zeros(HEADER, np.uint64)
        words[:2] = MAGIC, FORMAT
        words[2 : 2 + len(numbers)] = numbers
        words[11:15] = known
        words[15] = sum_of(words[:15])
        return words


def unpack_header(words: Rows) -> LevelHeader:
    """The header of a level file; raises ``DamagedError``."""
    if len(words) < HEADER:
        raise DamagedError("it is cut off")
    if int(words[0]) != MAGIC:
        raise DamagedError("it is no level file")
    if int(words[1]) != FORMAT:
        raise DamagedError(f"it has version {int(words[1])} of the format, and this program reads version {FORMAT}")
    if int(words[15]) != sum_of(words[:15]):
        raise DamagedError("its header is damaged")
    numbers = [int(word) for word in words[2:11]]
    return LevelHeader(words[11:15].tobytes(), numbers[0], numbers[1], numbers[2], Parent(numbers[3]), *numbers[4:])


def sum_of(words: Rows) -> int:
    """The checksum of words, as a number without a sign."""
    return int(checksum(words)) % (1 << 64)


@dataclass(frozen=True, slots=True)
class RecordChunk:
    """Records, column by column: rows, predecessors, and the positions of actions in ``Kernel.next`` (0 for an initial
    state)."""

    rows: Rows
    parents: npt.NDArray[Any]
    actions: npt.NDArray[np.uint16]


@dataclass(frozen=True, slots=True)
class ChunkLayout:
    """Where the columns of a chunk lie, for rows of ``words`` words."""

    words: int
    parent: Parent = Parent.PLACE

    def size(self, n: int) -> int:
        """The words of a chunk of n records."""
        return 2 + n * self.words + self._parent_words(n) + -(-n // 4)

    def sizes(self, of: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The same for several chunks, with predecessors by place."""
        assert self.parent is Parent.PLACE
        words: npt.NDArray[np.int64] = 2 + of * self.words + -(-of // 2) + -(-of // 4)
        return words

    def _parent_words(self, n: int) -> int:
        return -(-n // 2) if self.parent is Parent.PLACE else n

    @property
    def parent_type(self) -> type[np.uint32] | type[np.uint64]:
        """The numbers that name predecessors."""
        return np.uint32 if self.parent is Parent.PLACE else np.uint64

    def view(self, words: Rows) -> RecordChunk:
        """The records of the chunk that begins at the first of the words; raises ``DamagedError``."""
        n = int(words[0]) if len(words) else 0
        # The size is read before the checksum can be compared, so it may be any number.
        if not 0 < n <= CHUNK or self.size(n) > len(words):
            raise DamagedError("a chunk of it is cut off")
        parents = 1 + n * self.words
        actions = parents + self._parent_words(n)
        return RecordChunk(
            words[1:parents].reshape(n, self.words),
            words[parents:actions].view(self.parent_type)[:n],
            words[actions : self.size(n) - 1].view(np.uint16)[:n],
        )

    def whole(self, words: Rows) -> RecordChunk:
        """As ``view``, the checksum compared."""
        chunk = self.view(words)
        end = self.size(len(chunk.rows)) - 1
        if int(words[end]) != sum_of(words[:end]):
            raise DamagedError("a chunk of it is damaged")
        return chunk

    def assemble(self, content: RecordChunk) -> Rows:
        """The words of a chunk with these records."""
        n = len(content.rows)
        words = np.empty(self.size(n), np.uint64)
        # The last word of predecessors, and that of actions, may be filled in part.
        words[n * self.words + self._parent_words(n)] = words[-2] = 0
        words[0] = n
        into = self.view(words)
        into.rows[:], into.parents[:], into.actions[:] = content.rows, content.parents, content.actions
        words[-1] = sum_of(words[:-1])
        return words


def map_words(path: Path) -> Rows:
    """The words of a file, read from it when they are looked at; raises ``DamagedError`` or ``OSError``."""
    # A write that was cut off may end within a word.
    size = path.stat().st_size // 8
    if not size:
        raise DamagedError("it is cut off")
    # Copy on write: whoever changes what was read does not change the file.
    return np.asarray(np.memmap(path, np.uint64, "c", shape=(size,)))
