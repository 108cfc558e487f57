"""The state store: what it holds it finds again, whatever the fingerprints, and however much it grows."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.checker.explicit.table import find, insert, rehash

Rows = list[int]


def stored(keys: Rows, prints: list[int], *, exact: bool) -> list[int]:
    n = len(keys)
    rows = np.array(keys, np.uint64).reshape(n, 1)
    small = np.zeros(n, np.uint32)
    slots, numbers = np.zeros(1024, np.uint64), np.zeros(1024, np.uint32)
    store, parents = np.zeros((n, 1), np.uint64), np.zeros(n, np.uint32)
    marks = np.array(prints, np.uint64)
    fresh = np.zeros(1, np.int64)
    count = insert(rows, marks, small, small, n, 0, slots, numbers, store, parents, 0, fresh, exact)
    assert fresh[0] == count
    larger, moved = np.zeros(4096, np.uint64), np.zeros(4096, np.uint32)
    rehash(slots, numbers, larger, moved)
    for row, mark in zip(rows, marks, strict=True):
        if exact:
            number = find(row.reshape(1, 1), mark, larger, moved, store)
            assert store[number, 0] == row[0]
    return [int(x) for x in store[:count, 0]]


@settings(deadline=None)
@given(st.lists(st.integers(0, 40), min_size=1, max_size=300))
def test_states_are_stored_once_in_the_order_in_which_they_came(keys: Rows) -> None:
    assert stored(keys, [key + 1 for key in keys], exact=True) == list(dict.fromkeys(keys))
    assert stored(keys, [key + 1 for key in keys], exact=False) == list(dict.fromkeys(keys))


@settings(deadline=None)
@given(st.lists(st.integers(0, 40), min_size=1, max_size=300))
def test_exact_rows_tell_states_of_one_fingerprint_apart(keys: Rows) -> None:
    assert stored(keys, [key % 3 + 1 for key in keys], exact=True) == list(dict.fromkeys(keys))


def test_fingerprints_alone_do_not() -> None:
    assert stored([1, 2, 3, 1], [7, 7, 8, 7], exact=False) == [1, 3]
