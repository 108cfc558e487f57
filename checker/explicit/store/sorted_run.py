"""Sorted runs: keys of visited states on disk, in the order of their fingerprints, in blocks that have checksums.

An index in memory finds a key without reading all of a run. It holds the first fingerprint, the place, the size and the
checksum of each block of ``BLOCK`` keys. So a damaged block is never taken for what was written.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

import numpy as np
import numpy.typing as npt

from assay.checker.explicit.store.level_file import DamagedError
from assay.checker.explicit.store.run_kernels import first_damaged, mark_old, write_blocks
from assay.checker.layout.row import Rows
from assay.grammar.lazy_dataclass import dataclass

Counts = npt.NDArray[np.int64]
Halves = npt.NDArray[np.uint32]
Marks = npt.NDArray[np.uint8]

BLOCK = 1024
"""Keys of a block."""
READ = 256
"""The most blocks that are read at one time."""


@dataclass(frozen=True, slots=True)
class SortedKeys:
    """Keys sorted by their fingerprints ``marks``; ``rest`` is what else identifies a state, in half words."""

    marks: Rows
    rest: Halves

    def without(self, old: Marks) -> SortedKeys:
        """Those that are not old."""
        new = old == 0
        width = len(self.rest) // max(1, len(self.marks))
        return SortedKeys(self.marks[new], self.rest.reshape(len(self.marks), width)[new].reshape(-1))


@dataclass(frozen=True, slots=True)
class BlockIndex:
    """Blocks in their order: first fingerprints, places in the file in words, numbers of keys, checksums."""

    firsts: Rows
    offsets: Counts
    counts: Counts
    sums: Rows

    def joined(self, others: Sequence[BlockIndex]) -> BlockIndex:
        """These blocks and others behind them."""
        columns = ([getattr(each, name) for each in (self, *others)] for name in INDEXED)
        return BlockIndex(*map(np.concatenate, columns))

    def part(self, begin: int, end: int) -> BlockIndex:
        """Some of them, with places that count from the first one."""
        offsets: Counts = self.offsets[begin:end] - self.offsets[begin]
        return BlockIndex(self.firsts[begin:end], offsets, self.counts[begin:end], self.sums[begin:end])


INDEXED = tuple(field.name for field in fields(BlockIndex))
NOTHING = BlockIndex(np.zeros(0, np.uint64), np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.uint64))


class SortedRun:
    """A run in a file of its own, for keys of ``width`` half words besides the fingerprint. Keys are appended in order,
    and found after ``finish``. Whatever reads or writes may raise ``OSError``, and whatever reads ``DamagedError``."""

    def __init__(self, path: Path, width: int) -> None:
        self.path = path
        self.bytes = 0
        self._width = width
        self._keys = 0
        self._index = NOTHING
        self._appended: list[BlockIndex] = []
        # The folder is empty at first, so a file of this name would be that of another search.
        self._file = path.open("xb+", buffering=0)

    def __len__(self) -> int:
        return self._keys

    def append(self, keys: SortedKeys) -> None:
        """Write keys, which come after all others."""
        n = len(keys.marks)
        if not n:
            return
        counts: Counts = np.full(-(-n // BLOCK), BLOCK, np.int64)
        counts[-1] = n - BLOCK * (len(counts) - 1)
        sizes = self._words(counts)
        offsets: Counts = np.cumsum(sizes) - sizes
        words, sums = np.zeros(int(sizes.sum()), np.uint64), np.zeros(len(counts), np.uint64)
        write_blocks(keys.marks, keys.rest, self._width, words, words.view(np.uint32), offsets, counts, sums)
        rest = words.view(np.uint8).data
        while rest:
            rest = rest[self._file.write(rest) :]
        self._appended.append(BlockIndex(keys.marks[::BLOCK].copy(), offsets + self.bytes // 8, counts, sums))
        self.bytes += words.nbytes
        self._keys += n

    def finish(self) -> None:
        """All keys are there."""
        self._index, self._appended = self._index.joined(self._appended), []

    def _words(self, counts: Counts) -> Counts:
        sizes: Counts = counts + (counts * self._width + 1) // 2
        return sizes

    def find(self, keys: SortedKeys, old: Marks) -> None:
        """Set ``old`` for those of the keys that are in the run. Only blocks are read that may hold one."""
        marks, firsts = keys.marks, self._index.firsts
        for begin, end in _stretches(firsts, marks):
            words, blocks = self._read(begin, end), self._index.part(begin, end)
            first = int(np.searchsorted(marks, firsts[begin], "left"))
            behind = len(marks) if end == len(firsts) else int(np.searchsorted(marks, firsts[end], "right"))
            mark_old(
                marks, keys.rest, first, behind, words, words.view(np.uint32), blocks.offsets, blocks.counts, self._width, old
            )  # fmt: skip

    def _read(self, begin: int, end: int) -> Rows:
        """The words of blocks, whose checksums fit."""
        blocks, start = self._index.part(begin, end), int(self._index.offsets[begin])
        words = np.empty(int(blocks.offsets[-1] + self._words(blocks.counts)[-1]), np.uint64)
        view, at = words.view(np.uint8).data, start * 8
        while view:
            # Several threads read one run at a time, so a position in the file must not be shared.
            got = os.preadv(self._file.fileno(), [view], at)
            if not got:
                raise DamagedError(f"`{self.path.name}` is cut off")
            view, at = view[got:], at + got
        if first_damaged(words, blocks.offsets, blocks.counts, blocks.sums, self._width) >= 0:
            raise DamagedError(f"a block of `{self.path.name}` is not what was written")
        return words

    def close(self) -> None:
        """Close the file and remove it."""
        self._file.close()
        self.path.unlink(missing_ok=True)


def _stretches(firsts: Rows, marks: Rows) -> list[tuple[int, int]]:
    """The stretches of blocks, given by their first fingerprints, that may hold some of the sorted fingerprints."""
    if not len(marks):
        return []
    low = max(0, int(np.searchsorted(firsts, marks[0], "left")) - 1)
    high = int(np.searchsorted(firsts, marks[-1], "right"))
    wanted = low + _wanted(firsts[low:high], marks)
    found: list[tuple[int, int]] = []
    if not len(wanted):
        return found
    # Neighbouring blocks are read together.
    for piece in np.split(wanted, np.flatnonzero(np.diff(wanted) > 1) + 1):
        found += [(at, min(at + READ, int(piece[-1]) + 1)) for at in range(int(piece[0]), int(piece[-1]) + 1, READ)]
    return found


def _wanted(firsts: Rows, marks: Rows) -> Counts:
    """The blocks that may hold some fingerprints. A block may end with the first fingerprint of the next one."""
    # The shorter row is looked up in the longer one. Looking up each key took 12 of 41 s where keys are many, and this
    # 2.4.
    if len(firsts) <= len(marks):
        begins = np.searchsorted(marks, firsts, "left")
        ends = np.append(np.searchsorted(marks, firsts[1:], "right"), len(marks))[: len(firsts)]
        return np.flatnonzero(ends > begins)
    left = np.maximum(np.searchsorted(firsts, marks, "left") - 1, 0)
    right = np.searchsorted(firsts, marks, "right") - 1
    there = right >= 0  # else it is smaller than all that is there
    size = len(firsts)
    opened: Counts = np.bincount(left[there], minlength=size + 1) - np.bincount(right[there] + 1, minlength=size + 1)
    return np.flatnonzero(np.cumsum(opened)[:size])
