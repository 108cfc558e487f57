"""Level files: what is written is read, column by column, and what docs/level-files.md says of the bytes is so."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.checker.explicit.store.level_file import (
    CHUNK,
    HEADER,
    ChunkLayout,
    DamagedError,
    LevelHeader,
    Parent,
    RecordChunk,
    sum_of,
    unpack_header,
)

IDENTITY = bytes(range(32))


def records(n: int, layout: ChunkLayout) -> RecordChunk:
    random = np.random.default_rng(n)
    return RecordChunk(
        random.integers(0, 1 << 63, (n, layout.words), np.uint64),
        random.integers(0, 1 << 32, n, np.uint64).astype(layout.parent_type),
        random.integers(0, 1 << 16, n).astype(np.uint16),
    )


@given(st.integers(1, 70), st.integers(1, 5), st.sampled_from(list(Parent)))
def test_a_chunk_is_read_as_it_was_written(n: int, words: int, parent: Parent) -> None:
    layout = ChunkLayout(words, parent)
    written = records(n, layout)
    whole = layout.assemble(written)
    assert len(whole) == layout.size(n)
    read = layout.whole(np.concatenate([whole, np.ones(7, np.uint64)]))
    for column in ("rows", "parents", "actions"):
        assert np.array_equal(getattr(read, column), getattr(written, column))


@given(st.integers(1, 9), st.integers(1, 3), st.data())
def test_a_changed_bit_of_a_chunk_is_found(n: int, words: int, data: st.DataObject) -> None:
    layout = ChunkLayout(words)
    whole = layout.assemble(records(n, layout))
    whole[data.draw(st.integers(0, len(whole) - 1))] ^= np.uint64(1 << data.draw(st.integers(0, 63)))
    with pytest.raises(DamagedError):
        layout.whole(whole)


def test_the_columns_lie_where_the_page_says() -> None:
    layout = ChunkLayout(2)
    words = layout.assemble(
        RecordChunk(np.full((3, 2), 9, np.uint64), np.array([1, 2, 3], np.uint32), np.array([4, 5, 6], np.uint16))
    )
    assert words[:-1].tolist() == [3, *[9] * 6, 1 | 2 << 32, 3, 4 | 5 << 16 | 6 << 32]


def test_a_header_is_read_as_it_was_written() -> None:
    header = LevelHeader(IDENTITY, 3, 12, 64, Parent.PRINT, 16, 32)
    words = header.pack()
    assert len(words) == HEADER
    assert words[:11].tobytes()[:8] == b"ASSAYLVL"
    assert words[1:11].tolist() == [1, 3, 12, 64, 1, 16, 32, 0, header.layout, CHUNK]
    assert words[11:15].tobytes() == IDENTITY
    assert unpack_header(words) == header


def test_a_damaged_header_says_what_is_wrong() -> None:
    words = LevelHeader(IDENTITY, 3, 12, 64).pack()
    for at, message in ((0, "no level file"), (1, "version 9"), (5, "damaged"), (15, "damaged")):
        other = words.copy()
        other[at] = 9
        with pytest.raises(DamagedError, match=message):
            unpack_header(other)


@given(st.lists(st.integers(0, (1 << 64) - 1), max_size=11))
def test_the_checksum_is_the_one_of_the_page(words: list[int]) -> None:
    def step(total: int, word: int) -> int:
        total = (total ^ word) * 0x9E3779B97F4A7C15 % (1 << 64)
        return total ^ total >> 32

    sums = [0x243F6A8885A308D3] * 4
    whole = len(words) // 4 * 4
    for at in range(whole):
        sums[at % 4] = step(sums[at % 4], words[at])
    total = sums[0]
    for word in (*words[whole:], *sums[1:]):
        total = step(total, word)
    assert sum_of(np.array(words, np.uint64)) == total
