"""The kernels of the state store: open addressing over fingerprints, in numba.

A table slot holds a fingerprint (0: empty) and, beside it, the number of the state. Candidates are taken in batches: the slots of a whole
batch are read first, so that the memory works on many of them at once, and looked at afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np

BATCH = 32

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """The function as machine code that runs without the interpreter's lock, kept on disk where there is a place for it."""
    try:
        return cast(F, numba.njit(cache=True, nogil=True, boundscheck=False)(function))
    except RuntimeError:  # numba found no directory that it may write to
        return cast(F, numba.njit(nogil=True, boundscheck=False)(function))


@compiled
def same_row(rows: Any, a: Any, others: Any, b: Any) -> bool:
    """Whether two rows are equal."""
    for at in range(rows.shape[1]):  # noqa: SIM110 - a generator would not compile
        if rows[a, at] != others[b, at]:
            return False
    return True


@compiled
def insert(  # noqa: PLR0913, PLR0917 - a kernel takes its arrays one by one
    rows: Any, prints: Any, parents: Any, actions: Any, n: int, base: int,
    slots: Any, numbers: Any, store: Any, store_parents: Any, count: int, fresh: Any, exact: bool,
) -> int:  # fmt: skip
    """Store the candidates that are new, in order; how many states there are then.

    ``base`` is the number of the state at position 0 of ``parents``. With ``exact`` states of equal fingerprints are compared.
    """
    mask = np.uint64(len(slots) - 1)
    seen = np.empty(BATCH, np.uint64)
    for begin in range(0, n, BATCH):
        size = min(BATCH, n - begin)
        for k in range(size):
            seen[k] = slots[prints[begin + k] & mask]
        for k in range(size):
            i = begin + k
            mark = prints[i]
            at = mark & mask
            found = seen[k] if seen[k] != 0 else slots[at]
            while found != 0:
                if found == mark and (not exact or same_row(rows, i, store, np.int64(numbers[at]))):
                    break
                at = (at + np.uint64(1)) & mask
                found = slots[at]
            if found == 0:
                slots[at] = mark
                numbers[at] = count
                for w in range(rows.shape[1]):
                    store[count, w] = rows[i, w]
                store_parents[count] = base + parents[i]
                fresh[actions[i]] += 1
                count += 1
    return count


@compiled
def rehash(old_slots: Any, old_numbers: Any, slots: Any, numbers: Any) -> None:
    """Move everything into a larger table."""
    mask = np.uint64(len(slots) - 1)
    for i in range(len(old_slots)):
        mark = old_slots[i]
        if mark != 0:
            at = mark & mask
            while slots[at] != 0:
                at = (at + np.uint64(1)) & mask
            slots[at] = mark
            numbers[at] = old_numbers[i]


@compiled
def find(row: Any, mark: Any, slots: Any, numbers: Any, store: Any) -> Any:
    """The number of the state with that row; -1 if there is none."""
    mask = np.uint64(len(slots) - 1)
    at = mark & mask
    while slots[at] != 0:
        if slots[at] == mark and same_row(row, 0, store, np.int64(numbers[at])):
            return np.int64(numbers[at])
        at = (at + np.uint64(1)) & mask
    return -1
