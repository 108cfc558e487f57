"""Columns of integers in as few bytes as they need."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


class CompactColumn:
    """A column of integers, stored as differences from the least of them in the smallest fitting type.

    Times, lines and offsets of one log differ by what fits into half the bytes. Gigabytes of logs have millions of
    them.
    """

    __slots__ = ("_beyond", "_kind", "_least")

    def __init__(self, values: npt.NDArray[Any]) -> None:
        self._kind, self._least = values.dtype, int(values.min(initial=0)) if len(values) else 0
        self._beyond = np.empty(0, np.uint8)
        if len(values):
            self._least = int(values.min())
            # Differences from `NEVER` (-2^62) fit into 64 bits; a column that holds it is simply not made smaller.
            kind = np.min_scalar_type(int(values.max()) - self._least)
            self._beyond = np.subtract(values, self._least, dtype=np.int64).astype(kind)

    def __len__(self) -> int:
        return len(self._beyond)

    def at(self, which: Any) -> npt.NDArray[Any]:
        """Some of the integers: by a slice, positions, or one truth value each."""
        found: npt.NDArray[Any] = (self._beyond[which].astype(np.int64) + self._least).astype(self._kind, copy=False)
        return found

    def one(self, at: int) -> int:
        """One of the integers."""
        return int(self._beyond[at]) + self._least

    def all(self) -> npt.NDArray[Any]:
        """All of them."""
        return self.at(slice(None))
