"""Room for large arrays: in memory up to a budget, in files of a temporary folder beyond it."""

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
    """Gives arrays until ``budget`` bytes are given, then arrays in files, which are removed together with the room.

    ``spilled`` counts the bytes in files.
    """

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._given = 0
        self._folder: Path | None = None
        self._files = 0
        self.spilled = 0

    def empty(self, n: int, kind: npt.DTypeLike) -> Array:
        """An array of n numbers, of which nothing is known."""
        size = n * np.dtype(kind).itemsize
        if self._given + size <= self._budget:
            self._given += size
            return np.empty(n, kind)
        self.spilled += size
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
        """Room of what is left of the budget."""
        return Room(max(0, self._budget - self._given))

    def take_back(self, array: Array) -> None:
        """Count an array that is not used any more as not given."""
        if not isinstance(array.base, np.memmap):
            self._given -= array.nbytes


class Column:
    """Numbers that are appended bunch by bunch, in memory or in a file as there is room."""

    def __init__(self, room: Room, kind: npt.DTypeLike) -> None:
        self._room = room
        self._array = room.empty(1 << 16, kind)
        self.size = 0

    def append(self, numbers: Array) -> None:
        """Append numbers."""
        end = self.size + len(numbers)
        if end > len(self._array):
            larger = self._room.empty(max(end, 2 * len(self._array)), self._array.dtype)
            larger[: self.size] = self._array[: self.size]
            self._room.take_back(self._array)
            self._array = larger
        self._array[self.size : end] = numbers
        self.size = end

    @property
    def numbers(self) -> Array:
        """All of them."""
        return self._array[: self.size]
