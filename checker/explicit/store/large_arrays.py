"""Large arrays: in memory up to a budget, in files of a temporary folder beyond it."""

from __future__ import annotations

from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any
from weakref import finalize

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


class Room:
    """Hands out arrays in memory until ``budget`` bytes are used, then arrays in files, which are removed with this
    object.

    ``spilled`` counts the bytes in files.
    """

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._given = 0
        self._folder: Path | None = None
        self._files = 0
        self.spilled = 0

    def empty(self, n: int, kind: npt.DTypeLike) -> Array:
        """An uninitialised array of n numbers."""
        size = n * np.dtype(kind).itemsize
        if self._given + size <= self._budget:
            self._given += size
            return np.empty(n, kind)
        self.spilled += size
        # A file without bytes cannot be mapped.
        return np.asarray(np.memmap(self._file(), kind, "w+", shape=max(1, n)))[:n]

    def zeros(self, n: int, kind: npt.DTypeLike) -> Array:
        """An array of n zeros."""
        array = self.empty(n, kind)
        array[:] = 0
        return array

    def _file(self) -> Path:
        if self._folder is None:
            self._folder = Path(mkdtemp(prefix="assay-"))
            finalize(self, rmtree, self._folder, ignore_errors=True)
        self._files += 1
        return self._folder / f"array-{self._files:06d}"

    def inner(self) -> Room:
        """A separate allocator for what is left of the budget."""
        return Room(max(0, self._budget - self._given))

    def resize(self, array: Array, length: int) -> bool:
        """Resize an array in memory in place if the budget allows it; returns whether that was done."""
        more = length * array.itemsize - array.nbytes
        if array.base is not None or self._given + more > self._budget:
            return False
        # numpy does not look for views of the array then: none may be in use, as it may move.
        array.resize(length, refcheck=False)
        self._given += more
        return True

    def take_back(self, array: Array) -> None:
        """Return the memory of an array that is no longer used to the budget."""
        if array.base is None:  # else it is in a file
            self._given -= array.nbytes


GROWTH = 1.25
"""The factor by which a full column grows."""


class Column:
    """A growing array of numbers, in memory or in a file, of the narrowest of the given types that holds them."""

    def __init__(self, room: Room, *kinds: npt.DTypeLike) -> None:
        self._room = room
        self._array = room.empty(1 << 12, kinds[0])
        self._wider = list(kinds[1:])
        self.size = 0

    def append(self, numbers: Array) -> None:
        """Append numbers."""
        while self._wider and len(numbers) and int(numbers.max()) > np.iinfo(self._array.dtype).max:
            self._move(len(self._array), self._wider.pop(0))
        end = self.size + len(numbers)
        if end > len(self._array):
            length = max(end, int(GROWTH * len(self._array)))
            if not self._room.resize(self._array, length):
                self._move(length, self._array.dtype)
        self._array[self.size : end] = numbers
        self.size = end

    def _move(self, length: int, kind: npt.DTypeLike) -> None:
        larger = self._room.empty(length, kind)
        larger[: self.size] = self._array[: self.size]
        self._room.take_back(self._array)
        self._array = larger

    @property
    def numbers(self) -> Array:
        """All numbers, without the unused capacity."""
        if self._room.resize(self._array, self.size):
            return self._array
        return self._array[: self.size]
