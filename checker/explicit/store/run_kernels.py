"""The inner loops over sorted runs of the visited set, as machine code.

Keys have ``width`` half words besides their 64-bit fingerprint. Machine code compares words as signed numbers, so
fingerprints are compared with their highest bit flipped.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.checker.explicit.store.hash_kernels import HALF, HALF_MASK, checksum, home, word_of
from assay.checker.jit.jit_function import ArrayFunction

TOP = np.uint64(1 << 63)


@ArrayFunction
def set_aside(  # noqa: PLR0913, PLR0917 - a kernel takes its arrays one by one
    first: int, last: int, lanes: int, size: int, offsets: Any, order: Any, marks: Any, tails: Any, rows: Any, fresh: Any, ranks: Any,
    out_marks: Any, out_rest: Any, out_numbers: Any, counts: Any,
) -> None:  # fmt: skip
    """List the keys of what is fresh in buffers, for the owners from ``first`` up to ``last``; ``ranks`` are the
    numbers of their records."""
    width = size - 2
    for owner in range(first, last):
        for lane in range(lanes):
            for k in range(offsets[lane, owner], offsets[lane, owner + 1]):
                i = np.int64(order[lane, k])
                if fresh[lane, i]:
                    at = counts[owner]
                    out_marks[owner, at] = marks[lane, k]
                    out_numbers[owner, at] = ranks[lane, i]
                    for w in range(width):
                        if len(tails[lane]):
                            out_rest[owner, at * width + w] = (tails[lane, k] >> (HALF * np.uint64(w))) & HALF_MASK
                        else:
                            out_rest[owner, at * width + w] = (rows[lane, i, w // 2] >> (HALF * np.uint64(w % 2))) & HALF_MASK  # fmt: skip
                    counts[owner] = at + 1


@ArrayFunction
def put_key(halves: Any, place: int, size: int, mark: Any, n: int, marks: Any, rest: Any) -> None:
    """Insert the key of a slot into ``n`` sorted ones."""
    width = size - 2
    # From the end: keys come nearly sorted, so that a key seldom moves far.
    at = n
    while at > 0 and (marks[at - 1] ^ TOP) > (mark ^ TOP):
        marks[at] = marks[at - 1]
        for w in range(width):
            rest[at * width + w] = rest[at * width - width + w]
        at -= 1
    marks[at] = mark
    for w in range(width):
        rest[at * width + w] = halves[place + 2 + w]


@ArrayFunction
def sorted_part(halves: Any, base: int, cap: int, size: int, marks: Any, rest: Any) -> int:
    """Take the keys of a part of the table, sorted by fingerprint; how many there are.

    Homes are in the order of fingerprints. So a key moves as far as it was displaced, but for those that went on at the
    part's beginning: they come last.
    """
    n = 0
    for slot in range(cap):
        mark = word_of(halves, base + slot * size)
        if mark != 0 and home(mark, cap) <= slot:
            put_key(halves, base + slot * size, size, mark, n, marks, rest)
            n += 1
    # Probing goes on at the beginning of a part. So keys that belong to its end are there, before the first empty slot.
    for slot in range(cap):
        mark = word_of(halves, base + slot * size)
        if mark == 0:
            break
        if home(mark, cap) > slot:
            put_key(halves, base + slot * size, size, mark, n, marks, rest)
            n += 1
    return n


@ArrayFunction
def write_blocks(  # noqa: PLR0913, PLR0917 - a kernel takes its arrays one by one
    marks: Any, rest: Any, width: int, words: Any, halves: Any, offsets: Any, counts: Any, sums: Any
) -> None:
    """Write sorted keys as blocks at their offsets: fingerprints, then the rest. ``halves`` is the memory of ``words``,
    which is zero before."""
    key = 0
    for block in range(len(offsets)):
        base, n = offsets[block], counts[block]
        for i in range(n):
            words[base + i] = marks[key + i]
        for i in range(n * width):
            halves[2 * (base + n) + i] = rest[key * width + i]
        end = base + n + (n * width + 1) // 2
        sums[block] = checksum(words[base:end])
        key += n


@ArrayFunction
def first_damaged(words: Any, offsets: Any, counts: Any, sums: Any, width: int) -> int:
    """The first block whose checksum is another one; -1 if there is none."""
    for block in range(len(offsets)):
        base, n = offsets[block], counts[block]
        end = base + n + (n * width + 1) // 2
        if checksum(words[base:end]) != sums[block]:
            return block
    return -1


@ArrayFunction
def mark_old(  # noqa: PLR0913, PLR0917 - a kernel takes its arrays one by one
    marks: Any, rest: Any, first: int, last: int, words: Any, halves: Any, offsets: Any, counts: Any, width: int, old: Any
) -> None:  # fmt: skip
    """Set ``old`` for those of the sorted keys from ``first`` up to ``last`` that blocks hold."""
    key = first
    for block in range(len(offsets)):
        base, n = offsets[block], counts[block]
        # Keys with one fingerprint may lie on both sides of the border of blocks.
        while key > first and marks[key - 1] == words[base]:
            key -= 1
        at = 0
        while key < last and at < n:
            mark = marks[key]
            # Both rows are sorted, so that one pass over them is enough.
            while at < n and (words[base + at] ^ TOP) < (mark ^ TOP):
                at += 1
            same = at
            while same < n and words[base + same] == mark:
                equal = 1
                for w in range(width):
                    if rest[key * width + w] != halves[2 * (base + n) + same * width + w]:
                        equal = 0
                if equal:
                    old[key] = 1
                same += 1
            # The block has ended otherwise, and the key may be in the next one.
            if at < n:
                key += 1


@ArrayFunction
def keep_new(  # noqa: PLR0913, PLR0917 - a kernel takes its arrays one by one
    rows: Any, parents: Any, actions: Any, old: Any, out_rows: Any, out_parents: Any, out_actions: Any, at: int, found: Any
) -> None:  # fmt: skip
    """Append those of a chunk's records that are not old from ``at`` on, and count them by action."""
    for i in range(len(parents)):
        if old[i] == 0:
            for w in range(rows.shape[1]):
                out_rows[at, w] = rows[i, w]
            out_parents[at] = parents[i]
            out_actions[at] = actions[i]
            found[np.int64(actions[i])] += 1
            at += 1
