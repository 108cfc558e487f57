"""Short pieces of digits with numbers: equal ones of one owner have the same."""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.checker.array_code.array_function import ArrayFunction
from assay.traces.readers.stock import MIX, intern
from assay.traces.readers.stretch import Numbers

_IDENTITY = np.arange(256, dtype=np.uint8)
_LONGEST = 1 << 13


@ArrayFunction
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
    """The numbers of entries from one on, each of the chosen digits of its code; where it ends: before the first for which there is no room, or at the end."""
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


@ArrayFunction
def fill(marks: Any, count: int, slots: Any) -> None:
    """Put all that is known into new slots."""
    mask = slots.shape[0] - 1
    for known in range(count):
        slot = np.int64(marks[known] ^ (marks[known] >> MIX)) & mask
        while slots[slot]:
            slot = (slot + 1) & mask
        slots[slot] = known + 1


class Interning:
    """All pieces so far."""

    def __init__(self, most: int = 1 << 12) -> None:
        self._count = np.zeros(1, np.int64)
        self._marks, self._owners = np.zeros(most, np.uint64), np.zeros(most, np.int64)
        self._offsets, self._pieces = np.zeros(most + 1, np.int64), np.empty(16 * most, np.uint8)
        self._slots = np.zeros(2 * most, np.int64)
        self._scratch = np.empty(_LONGEST, np.uint8)

    def __len__(self) -> int:
        return int(self._count[0])

    def numbers(
        self, codes: Numbers, begins: Numbers, owners: Numbers, first: Numbers, chosen: Numbers, digits: Any
    ) -> Numbers:
        """The numbers of entries: of the digits of each, which begin somewhere, those that are chosen for its code."""
        found, at = np.empty(len(codes), np.int64), 0
        while at < len(codes):
            store = self._slots, self._marks, self._owners, self._offsets, self._pieces, self._count
            at = number_pieces(at, codes, begins, owners, first, chosen, digits, self._scratch, _IDENTITY, store, found)
            if at < len(codes):
                self._grow()
        return found

    def _grow(self) -> None:
        """Twice the room."""
        most = 2 * len(self._marks)
        self._marks, self._owners = _longer(self._marks, most), _longer(self._owners, most)
        self._offsets, self._pieces = _longer(self._offsets, most + 1), _longer(self._pieces, 2 * len(self._pieces))
        self._slots = np.zeros(2 * most, np.int64)
        fill(self._marks, len(self), self._slots)


def _longer(array: Any, size: int) -> Any:
    found = np.zeros(size, array.dtype)
    found[: len(array)] = array
    return found
