"""A sorted run finds the keys that were written and no others, whatever blocks they lie in, and notices each changed byte."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.checker.explicit.store import sorted_run
from assay.checker.explicit.store.hash_table import StateTable
from assay.checker.explicit.store.level_file import DamagedError
from assay.checker.explicit.store.run_kernels import sorted_part
from assay.checker.explicit.store.sorted_run import SortedKeys, SortedRun

Key = tuple[int, int]
MARKS = st.one_of(st.integers(1, 12), st.integers(1, (1 << 64) - 1), st.integers((1 << 63) - 3, (1 << 63) + 3))
KEYS = st.lists(st.tuples(MARKS, st.integers(0, 3)), max_size=60)


def keys_of(pairs: list[Key]) -> SortedKeys:
    ordered = sorted(pairs)
    marks = np.array([mark for mark, _ in ordered], np.uint64)
    return SortedKeys(marks, np.array([rest for _, rest in ordered], np.uint32))


@settings(deadline=None)
@given(KEYS, KEYS, st.integers(1, 7), st.integers(1, 4))
def test_what_was_written_is_found_and_nothing_else(
    written: list[Key], asked: list[Key], block: int, read: int
) -> None:
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorted_run, "BLOCK", block)
        patch.setattr(sorted_run, "READ", read)
        run = SortedRun(Path(folder) / "run", 1)
        there = sorted(set(written))
        for begin in range(0, len(there), 13):
            run.append(keys_of(there[begin : begin + 13]))
        run.finish()
        wanted = sorted(set(asked) | set(there[::3]))
        old = np.zeros(len(wanted), np.uint8)
        run.find(keys_of(wanted), old)
        run.close()
    assert len(run) == len(there)
    assert [bool(each) for each in old] == [key in set(there) for key in wanted]


def test_every_changed_byte_is_noticed_where_it_is_read(tmp_path: Path) -> None:
    random = Random(3)
    keys = keys_of([(random.getrandbits(64), random.getrandbits(32)) for _ in range(3000)])
    run = SortedRun(tmp_path / "run", 1)
    run.append(keys)
    run.finish()
    whole = run.path.read_bytes()
    for at in (0, 7, len(whole) // 2, len(whole) - 5):
        with run.path.open("r+b") as file:
            file.seek(at)
            file.write(bytes([whole[at] ^ 1]))
        with pytest.raises(DamagedError, match="is not what was written"):
            run.find(keys, np.zeros(3000, np.uint8))
        run.path.write_bytes(whole)
    run.find(keys, np.zeros(3000, np.uint8))
    run.path.write_bytes(whole[:-8])
    with pytest.raises(DamagedError, match="is cut off"):
        run.find(keys, np.zeros(3000, np.uint8))
    run.close()
    assert not list(tmp_path.iterdir())


def test_few_keys_are_found_by_reading_few_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(5)
    keys = keys_of([(random.getrandbits(64), 0) for _ in range(50_000)])
    run = SortedRun(tmp_path / "run", 1)
    run.append(keys)
    run.finish()
    read = list[int]()
    preadv = os.preadv

    def counted(file: int, buffers: list[memoryview], at: int) -> int:
        read.append(sum(map(len, buffers)))
        return preadv(file, buffers, at)

    monkeypatch.setattr(os, "preadv", counted)
    few = SortedKeys(keys.marks[[100, 40_000]], keys.rest[[100, 40_000]])
    old = np.zeros(2, np.uint8)
    run.find(few, old)
    run.close()
    assert old.tolist() == [1, 1]
    assert sum(read) <= 4 * 12 * sorted_run.BLOCK < run.bytes // 10


@pytest.mark.parametrize("size", [2, 3, 4, 6])
def test_a_part_of_the_table_gives_its_keys_in_order(size: int) -> None:
    """Also where the part is nearly full, so that keys went on at its beginning."""
    random, cap = Random(size), 64
    table = StateTable(size, 4 << 20)
    halves = table.halves
    for _ in range(61):
        mark, words = (7 << 56) | random.getrandbits(56), [random.getrandbits(32) for _ in range(size - 2)]
        at = (((mark >> 24) & 0xFFFFFFFF) * cap) >> 32
        while halves[at * size] or halves[at * size + 1]:
            at = (at + 1) % cap
        halves[at * size : (at + 1) * size] = [mark & 0xFFFFFFFF, mark >> 32, *words]
    marks, rest = np.zeros(61, np.uint64), np.zeros(61 * (size - 2), np.uint32)
    assert sorted_part(halves, 0, cap, size, marks, rest) == 61
    slots = halves[: cap * size].reshape(cap, size)
    used = sorted((int(a) | int(b) << 32, *map(int, more)) for a, b, *more in slots.tolist() if a or b)
    assert [(int(m), *map(int, r)) for m, r in zip(marks, rest.reshape(61, size - 2), strict=True)] == used
