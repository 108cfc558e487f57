"""The table of seen states: what it holds it finds again, whatever the fingerprints, and however much it grows."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.checker.explicit.expansion.thread_buffer import Arena
from assay.checker.explicit.store.hash_kernels import OWNERS, partition, second_prints
from assay.checker.explicit.store.hash_table import StateKeys, StateTable, TableFullError

KEYS = st.lists(st.integers(0, 40), min_size=1, max_size=300)
SPREAD = 0x9E3779B97F4A7C15


def spread(key: int) -> int:
    """A fingerprint whose owner and slot bits depend on the key."""
    return (key + 1) * SPREAD % (1 << 64)


def _second(keys: list[int]) -> list[int]:
    """The second fingerprints of rows of one word."""
    out = np.zeros((len(keys), 1), np.uint64)
    second_prints(np.array(keys, np.uint64).reshape(-1, 1), len(keys), out)
    return [int(word) for word in out[:, 0]]


def insert(
    table: StateTable, arena: Arena, keys: list[int], prints: list[int], second: list[int] | None = None
) -> list[int]:
    """The keys that the table says are new. Their second fingerprints are the keys, unless others are named."""
    n = len(keys)
    arena.rows[0, :n, 0], arena.prints[0, :n] = keys, prints
    listed = (arena.offsets[0], arena.order[0], arena.marks[0], arena.tails[0], arena.fresh[0], arena.recent[0])
    partition(arena.prints[0], arena.rows[0], n, *listed)
    if arena.tails.size:
        taken = arena.order[0, : arena.offsets[0, OWNERS]]
        arena.tails[0, : len(taken)] = np.array(second or keys, np.uint64)[taken]
    batch = arena.batch(1)
    table.grow(0, OWNERS, table.sizes_for(batch.incoming()))
    found = np.zeros(1, np.int64)
    for first in range(0, OWNERS, 64):
        table.insert(batch, first, first + 64, found)
    new = [key for key, fresh in zip(keys, arena.fresh[0, :n], strict=True) if fresh]
    assert len(new) == found[0]
    return new


@settings(deadline=None)
@given(KEYS, KEYS, st.sampled_from(list(StateKeys)))
def test_states_are_new_once_in_the_order_in_which_they_came(
    first: list[int], second: list[int], keys: StateKeys
) -> None:
    table, arena = StateTable(keys.halves(1), 1 << 24), Arena(1, 1, keys)
    together = [
        *insert(table, arena, first, list(map(spread, first))),
        *insert(table, arena, second, list(map(spread, second))),
    ]
    assert together == list(dict.fromkeys([*first, *second]))
    assert len(table) == len(together)


@settings(deadline=None)
@given(KEYS, st.sampled_from([StateKeys.ROWS, StateKeys.LONG_PRINTS, StateKeys.WIDE_PRINTS]))
def test_longer_keys_tell_states_of_one_fingerprint_apart(keys: list[int], kind: StateKeys) -> None:
    table, arena = StateTable(kind.halves(1), 1 << 24), Arena(1, 1, kind)
    assert insert(table, arena, keys, [key % 3 + 1 for key in keys]) == list(dict.fromkeys(keys))


def test_fingerprints_alone_do_not() -> None:
    table, arena = StateTable(2, 1 << 24), Arena(1, 1, StateKeys.PRINTS)
    assert insert(table, arena, [1, 2, 3, 1], [7, 7, 8, 7]) == [1, 3]


@pytest.mark.parametrize("keys", list(StateKeys))
def test_what_was_seen_is_seen_however_much_the_table_grows(keys: StateKeys) -> None:
    table, arena = StateTable(keys.halves(1), 64 << 20), Arena(1, 1, keys)
    before = table.bytes
    for start in range(0, 400_000, 20_000):
        some = list(range(start, start + 20_000))
        assert insert(table, arena, some, list(map(spread, some))) == some
    assert table.bytes > 2 * before
    assert not insert(table, arena, list(range(5_000, 25_000)), list(map(spread, range(5_000, 25_000))))
    assert len(table) == 400_000


def test_whole_rows_go_over_into_fingerprints() -> None:
    table, arena = StateTable(4, 64 << 20), Arena(1, 1, StateKeys.ROWS)
    seen = list(range(30_000))
    insert(table, arena, seen, list(map(spread, seen)))
    narrow = StateTable(StateKeys.LONG_PRINTS.halves(1), 64 << 20)
    narrow.narrow(table, 0, OWNERS, narrow.sizes_for(table.counts))
    assert len(narrow) == 30_000
    arena = Arena(1, 1, StateKeys.LONG_PRINTS)
    assert not insert(narrow, arena, seen, list(map(spread, seen)), _second(seen))
    assert insert(narrow, arena, seen, list(map(spread, seen)), _second([key + 1 for key in seen])) == seen


def test_of_96_bits_the_last_counts_and_no_bit_behind_it() -> None:
    """Four states of one fingerprint, in a part whose home slot is the last one, so that probing goes around its end."""
    table, arena = StateTable(StateKeys.LONG_PRINTS.halves(1), 1 << 24), Arena(1, 1, StateKeys.LONG_PRINTS)
    prints = [(1 << 56) - 1] * 6
    second = [0, 1 << 31, 1 << 32, 1 << 63, (1 << 32) - 1, (1 << 64) - 1]
    assert insert(table, arena, list(range(6)), prints, second) == [0, 1, 4]
    assert not insert(table, arena, list(range(6)), prints, second)


@settings(deadline=None, max_examples=30)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 15), st.integers(0, 3)), min_size=1, max_size=400),
    st.sampled_from(list(StateKeys)),
)
def test_a_crowded_part_grows_without_losing_or_inventing_a_state(
    keys: list[tuple[int, int, int]], kind: StateKeys
) -> None:
    """Keys that fall into one part, on four homes, and differ in what is behind the fingerprint; ten at a time."""
    table, arena = StateTable(kind.halves(1), 1 << 24), Arena(1, 1, kind)
    seen: set[tuple[int, int]] = set()
    table.caps[:] = 8
    for start in range(0, len(keys), 10):
        some = keys[start : start + 10]
        prints = [(place << 54) % (1 << 56) + low + 1 for place, low, _ in some]
        rows = [more for _, _, more in some]
        told = insert(table, arena, rows, prints, rows)
        named = [(mark, 0 if kind is StateKeys.PRINTS else row) for mark, row in zip(prints, rows, strict=True)]
        expected = [row for row, name in zip(rows, named, strict=True) if name not in seen and not seen.add(name)]  # type: ignore[func-returns-value]
        assert told == expected
    assert len(table) == len(seen)


def test_the_bound_on_missed_states_is_that_of_a_birthday() -> None:
    assert StateKeys.LONG_PRINTS.missed(10**9) < 1e-11 < StateKeys.PRINTS.missed(10**6)
    assert StateKeys.ROWS.missed(10**9) == 0
    small = 3 * 2 / 2 / 2**64  # three pairs, each of them equal with probability 2^-64
    assert small <= StateKeys.PRINTS.missed(3) < 2 * small


def test_a_table_does_not_outgrow_its_budget() -> None:
    table, arena = StateTable(2, 2 << 20), Arena(1, 1, StateKeys.PRINTS)
    for start in range(0, 220_000, 20_000):
        some = list(range(start, start + 20_000))
        insert(table, arena, some, list(map(spread, some)))
    assert table.bytes <= 2 << 20
    with pytest.raises(TableFullError):
        table.sizes_for(np.full(OWNERS, 200, np.int64))


@settings(deadline=None)
@given(KEYS, KEYS, KEYS, st.sampled_from([StateKeys.PRINTS, StateKeys.WIDE_PRINTS]))
def test_sorted_keys_are_taken_in_as_if_they_had_been_inserted(
    first: list[int], second: list[int], later: list[int], kind: StateKeys
) -> None:
    """Of a run each key is a fingerprint, and with 128 bits the key that ``insert`` names it by."""
    table, arena = StateTable(kind.halves(1), 1 << 24), Arena(1, 1, kind)
    runs = [set(first), set(second) - set(first)]
    table.adopt(
        [
            np.array(sorted((spread(key), key) for key in run), np.uint64).reshape(-1, 2)[:, : table.step].copy()
            for run in runs
        ]
    )
    assert len(table) == len(runs[0] | runs[1])
    new = insert(table, arena, later, list(map(spread, later)))
    assert new == [key for key in dict.fromkeys(later) if key not in runs[0] | runs[1]]


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is that of Linux")
def test_a_process_with_tables_can_start_others() -> None:
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    tables = [StateTable(2, memory * 7 // 10) for _ in range(2)]
    subprocess.run(["true"], preexec_fn=lambda: None, check=True)  # so Python forks, as pyspark does
    assert [len(table) for table in tables] == [0, 0]
