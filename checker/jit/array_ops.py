"""Set operations on arrays by sorting.

``numpy.unique`` of a single array uses a hash table since NumPy 2.3. That takes a hundred times as long for values that
lie close together, as times and positions do. For 700,000 times it takes 2.5 s, against 0.02 s by sorting (NumPy 2.4).
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

Scalar = TypeVar("Scalar", bound=np.generic)


def distinct(values: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
    """The distinct values of an array, sorted."""
    ordered = np.sort(values, axis=None)
    return ordered[_heads(ordered)]


def repeated(values: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
    """The values that an array has more than once, each once, sorted."""
    ordered = np.sort(values, axis=None)
    again = ~_heads(ordered)
    # A value that occurs three times is behind an equal one twice.
    return distinct(ordered[again])


def among(values: npt.NDArray[Any], ordered: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """For each value whether it occurs in a sorted array."""
    if not len(ordered):
        return np.zeros(values.shape, np.bool_)
    # A value beyond the last has a place behind the end.
    at = np.minimum(np.searchsorted(ordered, values), len(ordered) - 1)
    return np.asarray(ordered[at] == values)


def _heads(ordered: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Which values differ from the one before."""
    found = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=found[1:])
    return found
