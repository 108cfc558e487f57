"""Key files: the keys of the states in a level file, sorted, for tasks that only have to recognise these states.

A key is what tells states apart: one or two fingerprints of 64 bits. A table is built many times faster from sorted
keys than from rows. No fingerprints are computed, and the memory of the table is written from front to back.
docs/level-files.md describes every byte.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from assay.checker.explicit.expansion.compiled_interface import Compiled
from assay.checker.explicit.store.hash_kernels import OWNER_SHIFT, second_prints
from assay.checker.explicit.store.hash_table import StateKeys
from assay.checker.explicit.store.level_file import DamagedError, RecordChunk, sum_of
from assay.checker.layout.row import Rows

MAGIC = int.from_bytes(b"ASSAYKEY", "little")
FORMAT = 1
HEADER = 4


def sorted_keys(compiled: Compiled, chunks: Iterable[RecordChunk], keys: StateKeys) -> Rows:
    """The keys of the states in chunks, sorted by their first 64 bits; shape (states, words of a table slot)."""
    found = np.concatenate([_keys(compiled, np.ascontiguousarray(chunk.rows), keys) for chunk in chunks])
    if found.shape[1] == 1:
        found.sort(axis=0)
        return found
    # Keys move with their second words, so they are sorted by an index.
    ordered: Rows = found[np.argsort(found[:, 0], kind="stable")]
    return ordered


def _keys(compiled: Compiled, rows: Rows, keys: StateKeys) -> Rows:
    found = np.empty((len(rows), keys.bits // 64 or 1 + rows.shape[1]), np.uint64)
    found[:, 0] = compiled.machine.prints(rows)
    if keys is StateKeys.WIDE_PRINTS:
        more = np.empty((len(rows), 1), np.uint64)
        second_prints(rows, len(rows), more)
        found[:, 1:] = more
    return found


def pack(keys: Rows) -> Rows:
    """The words of a key file: header, keys, checksum."""
    words = np.empty(HEADER + keys.size + 1, np.uint64)
    words[:HEADER] = MAGIC, FORMAT, *keys.shape
    words[HEADER:-1] = keys.ravel()
    words[-1] = sum_of(words[:-1])
    return words


def unpack(words: Rows, count: int, keys: StateKeys) -> Rows:
    """The keys in a file of ``count`` keys; raises ``DamagedError``."""
    wide = keys.bits // 64
    if len(words) != HEADER + count * wide + 1 or tuple(words[:HEADER].tolist()) != (MAGIC, FORMAT, count, wide):
        raise DamagedError("it does not hold the keys that its manifest says")
    if int(words[-1]) != sum_of(words[:-1]):
        raise DamagedError("its checksum does not fit")
    return words[HEADER:-1].reshape(count, wide)


def owned(keys: Rows, first: int, last: int) -> Rows:
    """The keys of the owners ``first`` to ``last - 1``. The owner is in the highest bits of the first word, so that
    they lie together.
    """
    marks = [owner << int(OWNER_SHIFT) for owner in (first, last)]
    # The end of the last owner's range is 2 ** 64, which no word holds.
    begin, end = (len(keys) if mark >> 64 else int(np.searchsorted(keys[:, 0], np.uint64(mark))) for mark in marks)
    return keys[begin:end]
