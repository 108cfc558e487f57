"""Short sequences of digits, numbered: equal ones of one owner have the same number."""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.checker.jit.jit_function import LinearFunction
from assay.traces.store.log4j_scanner import MIX, intern
from assay.traces.store.record_block import Numbers

IDENTITY = np.arange(256, dtype=np.uint8)
"""A ``fold`` table that replaces no byte."""

# As `LONGEST_CACHED` of `patterns/match.py`: longer messages are never packed. Compiled code does not check bounds.
_LONGEST = 1 << 13


@LinearFunction
def number_pieces(  # noqa: PLR0913, PLR0917
    at: int,
    codes: Any,
    begins: Any,
    owners: Any,
    first: Any,
    chosen: Any,
    digits: Any,
    scratch: Any,
    fold: Any,
    store: Any,
    numbers: Any,
) -> int:
    """Number the chosen digits of entries, from the entry ``at`` on.

    Returns where it stopped: at the end, or before the first entry for which the store has no room.
    """
    while at < codes.shape[0]:
        code, begin = codes[at], begins[at]
        size = first[code + 1] - first[code]
        for place in range(size):
            scratch[place] = digits[begin + chosen[first[code] + place]]
        number = intern(scratch, 0, size, owners[at], fold, store)
        if number < 0:
            break
        numbers[at] = number
        at += 1
    return at


@LinearFunction
def fill(hashes: Any, count: int, slots: Any) -> None:
    """Insert all known pieces into new hash slots."""
    mask = slots.shape[0] - 1
    for known in range(count):
        # The same probe as in `intern`, which would otherwise not find the pieces again.
        slot = np.int64(hashes[known] ^ (hashes[known] >> MIX)) & mask
        while slots[slot]:
            slot = (slot + 1) & mask
        slots[slot] = known + 1


class DigitPool:
    """Byte sequences numbered from 0, each with an owner.

    ``arrays`` is the ``store`` that ``log4j_scanner.intern`` takes.
    """

    def __init__(self, most: int, size: int) -> None:
        self._count = np.zeros(1, np.int64)
        self._hashes, self._owners = np.zeros(most, np.uint64), np.zeros(most, np.int64)
        self._offsets, self._pieces = np.zeros(most + 1, np.int64), np.empty(size, np.uint8)
        # At least every second slot stays free: the probe of `intern` ends at a free slot and has no other limit.
        self._slots = np.zeros(2 * most, np.int64)

    def __len__(self) -> int:
        return int(self._count[0])

    @property
    def arrays(self) -> tuple[Any, ...]:
        """Slots, hashes, owners, where each piece begins, the pieces, and how many there are."""
        return self._slots, self._hashes, self._owners, self._offsets, self._pieces, self._count

    def text(self, number: int) -> bytes:
        """The byte sequence of a number."""
        return self._pieces[self._offsets[number] : self._offsets[number + 1]].tobytes()

    def owner(self, number: int) -> int:
        """The owner of a number."""
        return int(self._owners[number])

    @property
    def is_nearly_full(self) -> bool:
        """Whether less than an eighth of the room is left."""
        most, size = len(self._owners), len(self._pieces)
        return len(self) > most - most // 8 or int(self._offsets[len(self)]) > size - size // 8

    def grow(self) -> None:
        """Double the room; numbers stay as they are."""
        most = 2 * len(self._hashes)
        self._hashes, self._owners = longer(self._hashes, most), longer(self._owners, most)
        self._offsets, self._pieces = longer(self._offsets, most + 1), longer(self._pieces, 2 * len(self._pieces))
        self._slots = np.zeros(2 * most, np.int64)
        fill(self._hashes, len(self), self._slots)


def longer(array: Any, size: int) -> Any:
    """A copy of the array with zeros appended up to ``size``."""
    found = np.zeros((size, *array.shape[1:]), array.dtype)
    found[: len(array)] = array
    return found


class DigitInterner:
    """Numbers for the chosen digits of messages; the store behind it grows as needed."""

    def __init__(self, most: int = 1 << 12) -> None:
        self._store = DigitPool(most, 16 * most)
        self._scratch = np.empty(_LONGEST, np.uint8)

    def __len__(self) -> int:
        return len(self._store)

    def numbers(
        self, codes: Numbers, begins: Numbers, owners: Numbers, first: Numbers, chosen: Numbers, digits: Any
    ) -> Numbers:
        """The numbers of entries: of the digits of each, which begin at ``begins``, those that are
        chosen for its code.
        """
        found, at = np.empty(len(codes), np.int64), 0
        while at < len(codes):
            store = self._store.arrays
            # It stops at the first piece without room. The room is doubled, and the same piece is tried again.
            at = number_pieces(at, codes, begins, owners, first, chosen, digits, self._scratch, IDENTITY, store, found)
            if at < len(codes):
                self._store.grow()
        return found
