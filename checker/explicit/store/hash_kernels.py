"""The inner loops of the hash table, as machine code. They run without the interpreter's lock and touch nothing but
arrays.

Each state belongs to one of ``OWNERS`` parts of the table, by the highest bits of its fingerprint. Other bits give its
home slot in that part. Two threads never work on one part at the same time, so nothing is locked. Candidates
(successors of a block) come in buffers ("lanes"). ``order`` lists those of a lane by owner, and within one owner in the
order in which they were made.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.checker.jit.jit_function import ArrayFunction
from assay.checker.jit.machine_call import prefetch
from assay.checker.layout.call_frame import RECENT_ROOM

# Bits 56 to 63 of a fingerprint name the owner, 24 to 55 the home slot, 0 to 11 the place among recent candidates. No
# two uses share a bit.
OWNERS = 256
OWNER_SHIFT = np.uint64(56)
HOME_SHIFT = np.uint64(24)
HOME_BITS = np.uint64(32)
HOME_MASK = np.uint64((1 << 32) - 1)
HALF = np.uint64(32)
HALF_MASK = np.uint64((1 << 32) - 1)
ALL = np.uint64((1 << 64) - 1)
RECENT = RECENT_ROOM
RECENT_MASK = np.uint64(RECENT - 1)
AHEAD = 32
"""So many candidates ahead, slots are asked for: their cache misses overlap, and nothing waits for them."""
MOVED = 4096
"""This many slots are scanned for used ones before those are moved."""
MIX_START = np.uint64(0x243F6A8885A308D3)
MIX_STEP = np.uint64(0x9E3779B97F4A7C15)
MIX_FIRST, MIX_SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@ArrayFunction
def home(mark: Any, cap: Any) -> Any:
    """The slot, among ``cap``, where probing for a fingerprint begins. It is monotone in the middle bits, so growing a
    part moves slots in order."""
    # The upper half of a product, so that nothing is divided.
    return np.int64((((mark >> HOME_SHIFT) & HOME_MASK) * np.uint64(cap)) >> HOME_BITS)


@ArrayFunction
def same_row(rows: Any, a: int, b: int) -> bool:
    """Whether two rows are equal."""
    for at in range(rows.shape[1]):  # noqa: SIM110
        if rows[a, at] != rows[b, at]:
            return False
    return True


@ArrayFunction
def partition(prints: Any, rows: Any, n: int, offsets: Any, order: Any, marks: Any, tails: Any, fresh: Any, recent: Any) -> None:  # fmt: skip # noqa: PLR0913, PLR0917
    """List candidates by owner: those of owner p are ``order[offsets[p]:offsets[p + 1]]``, their fingerprints likewise
    in ``marks``, and second fingerprints in ``tails`` if that is not empty.

    A candidate equal to one of the last few thousand is not ``fresh`` and not listed. This drops 37 % of all
    candidates, six in ten duplicates. ``recent`` is the table in which those are found; it is empty where compiled code
    has dropped them (`native/fingerprint.py`).
    """
    offsets[:] = 0
    # How many candidates each owner gets.
    recent[:] = -1
    if len(recent) == 0:
        for i in range(n):
            fresh[i] = 1
            offsets[np.int64(prints[i] >> OWNER_SHIFT)] += 1
    else:
        for i in range(n):
            mark = prints[i]
            slot = np.int64(mark & RECENT_MASK)
            known = recent[slot]
            fresh[i] = known < 0 or prints[known] != mark or not same_row(rows, i, known)
            if fresh[i]:
                recent[slot] = i
                offsets[np.int64(mark >> OWNER_SHIFT)] += 1
    # Counts become the places where owners begin.
    total = 0
    for owner in range(OWNERS + 1):
        begin = total
        total += offsets[owner]
        offsets[owner] = begin
    for i in range(n):
        if fresh[i]:
            part = np.int64(prints[i] >> OWNER_SHIFT)
            at = offsets[part]
            offsets[part] = at + 1
            order[at] = i
            marks[at] = prints[i]
            # Here the second fingerprint lies in the order of insertion. While it was looked up by candidate, 96 bits
            # took 3.3 s instead of 2.0 (docs/design/certainty-at-size.md).
            if len(tails):
                tails[at] = second_print(rows, i)
    # Each offset has moved to the end of its owner, which is where the next owner begins.
    for owner in range(OWNERS, 0, -1):
        offsets[owner] = offsets[owner - 1]
    offsets[0] = 0


@ArrayFunction
def insert_prints(slots: Any, base: int, cap: int, marks: Any, order: Any, begin: int, end: int, fresh: Any) -> int:  # noqa: PLR0913, PLR0917
    """Insert keys that are fingerprints alone. ``fresh`` receives whether each candidate was new; returns how many
    were."""
    new = 0
    for k in range(begin, min(begin + AHEAD, end)):
        prefetch(slots, base + home(marks[k], cap))
    # 0 marks an empty slot. No state has it as fingerprint (`native/fingerprint.py`).
    for k in range(begin, end):
        if k + AHEAD < end:
            prefetch(slots, base + home(marks[k + AHEAD], cap))
        mark = marks[k]
        at = home(mark, cap)
        found = slots[base + at]
        while found != 0 and found != mark:  # noqa: PLR1714
            at += 1
            if at == cap:
                at = 0
            found = slots[base + at]
        fresh[order[k]] = found == 0
        if found == 0:
            slots[base + at] = mark
            new += 1
    return new


@ArrayFunction
def insert_rows(slots: Any, base: int, cap: int, marks: Any, order: Any, begin: int, end: int, fresh: Any, rows: Any) -> int:  # fmt: skip # noqa: PLR0913, PLR0917
    """As ``insert_prints``, with whole rows, which follow the fingerprint in the slot."""
    wide = rows.shape[1]
    step = wide + 1
    new = 0
    for k in range(begin, min(begin + AHEAD, end)):
        prefetch(slots, base + step * home(marks[k], cap))
        prefetch(rows, order[k])
    for k in range(begin, end):
        if k + AHEAD < end:
            prefetch(slots, base + step * home(marks[k + AHEAD], cap))
            prefetch(rows, order[k + AHEAD])
        i, mark = order[k], marks[k]
        at = base + step * home(mark, cap)
        found = slots[at]
        while found != 0:
            same = found == mark
            for w in range(wide):
                if not same:
                    break
                same = slots[at + 1 + w] == rows[i, w]
            if same:
                break
            at += step
            if at == base + step * cap:
                at = base
            found = slots[at]
        fresh[i] = found == 0
        if found == 0:
            slots[at] = mark
            for w in range(wide):
                slots[at + 1 + w] = rows[i, w]
            new += 1
    return new


@ArrayFunction
def word_of(halves: Any, at: int) -> Any:
    """The word whose lower half stands at a place, and its upper half behind it."""
    return np.uint64(halves[at]) | (np.uint64(halves[at + 1]) << HALF)


@ArrayFunction
def tail_of(halves: Any, at: int, size: int) -> Any:
    """What of the second fingerprint is in a slot of ``size`` half words, three or four."""
    tail = np.uint64(halves[at + 2])
    return tail if size == 3 else tail | (np.uint64(halves[at + 3]) << HALF)


@ArrayFunction
def write_slot(halves: Any, at: int, size: int, mark: Any, tail: Any) -> None:
    """Fill a slot of ``size`` half words with a first and a second fingerprint."""
    halves[at] = mark & HALF_MASK
    halves[at + 1] = mark >> HALF
    halves[at + 2] = tail & HALF_MASK
    if size != 3:
        halves[at + 3] = tail >> HALF


@ArrayFunction
def insert_long(halves: Any, size: int, base: int, cap: int, marks: Any, tails: Any, order: Any, begin: int, end: int, fresh: Any) -> int:  # fmt: skip # noqa: PLR0913, PLR0917
    """As ``insert_prints``, with second fingerprints: slots have ``size`` half words, three or four."""
    new = 0
    mask = HALF_MASK if size == 3 else ALL
    for k in range(begin, min(begin + AHEAD, end)):
        prefetch(halves, base + size * home(marks[k], cap))
    for k in range(begin, end):
        if k + AHEAD < end:
            prefetch(halves, base + size * home(marks[k + AHEAD], cap))
        mark, tail = marks[k], tails[k] & mask
        at = base + size * home(mark, cap)
        found = word_of(halves, at)
        while found != 0 and (found != mark or tail_of(halves, at, size) != tail):
            at += size
            if at == base + size * cap:
                at = base
            found = word_of(halves, at)
        fresh[order[k]] = found == 0
        if found == 0:
            write_slot(halves, at, size, mark, tail)
            new += 1
    return new


@ArrayFunction
def insert(  # noqa: PLR0913, PLR0917 - a kernel takes its arrays one by one
    slots: Any, halves: Any, size: int, stride: int, caps: Any, counts: Any, first: int, last: int,
    lanes: int, offsets: Any, order: Any, marks: Any, tails: Any, rows: Any, fresh: Any, found: Any,
) -> None:  # fmt: skip
    """Insert the candidates of the owners from ``first`` up to ``last``, lane after lane; ``found`` counts the new ones
    of each lane."""
    for owner in range(first, last):
        base, cap = owner * stride, caps[owner]
        # Buffers in the order of the level: of equal candidates the first one counts as new, for any number of threads.
        for lane in range(lanes):
            begin, end = offsets[lane, owner], offsets[lane, owner + 1]
            if size == 2:
                new = insert_prints(slots, base, cap, marks[lane], order[lane], begin, end, fresh[lane])
            elif len(tails[lane]):
                new = insert_long(
                    halves, size, 2 * base, cap, marks[lane], tails[lane], order[lane], begin, end, fresh[lane]
                )
            else:
                new = insert_rows(slots, base, cap, marks[lane], order[lane], begin, end, fresh[lane], rows[lane])
            counts[owner] += new
            found[lane] += new


@ArrayFunction
def move(source: Any, start: int, old: int, old_step: int, slots: Any, base: int, cap: int, step: int) -> None:  # noqa: PLR0913, PLR0917
    """Move the first ``step`` words of each used one of ``old`` slots into another part of ``cap`` slots; all keys
    differ."""
    used = np.empty(MOVED, np.int64)
    for begin in range(0, old, MOVED):
        n = 0
        # Used slots are listed without a branch: whether a slot is used is a coin toss, which no processor predicts.
        # That made growth 8.7 ns a slot instead of 16.
        for i in range(begin, min(begin + MOVED, old)):
            used[n] = start + i * old_step
            n += source[start + i * old_step] != 0
        for k in range(n):
            place = used[k]
            at = home(source[place], cap)
            while slots[base + at * step] != 0:
                at += 1
                if at == cap:
                    at = 0
            for w in range(step):
                slots[base + at * step + w] = source[place + w]


@ArrayFunction
def move_halves(source: Any, old: int, halves: Any, base: int, cap: int) -> None:
    """As ``move``, for slots of three half words."""
    used = np.empty(MOVED, np.int64)
    for begin in range(0, old, MOVED):
        n = 0
        for i in range(begin, min(begin + MOVED, old)):
            used[n] = 3 * i
            n += word_of(source, 3 * i) != 0
        for k in range(n):
            place = used[k]
            at = base + 3 * home(word_of(source, place), cap)
            while word_of(halves, at) != 0:
                at += 3
                if at == base + 3 * cap:
                    at = base
            for w in range(3):
                halves[at + w] = source[place + w]


@ArrayFunction
def narrow(source: Any, start: int, old: int, old_step: int, halves: Any, base: int, cap: int) -> None:
    """Put each used one of ``old`` slots of whole rows into a part of ``cap`` slots of three half words."""
    for slot in range(old):
        place = start + slot * old_step
        mark = source[place]
        if mark != 0:
            # As `second_print` makes it of a row: later candidates are compared with this.
            state = MIX_START
            for w in range(1, old_step):
                state = mixed(state, source[place + w])
            at = base + 3 * home(mark, cap)
            while word_of(halves, at) != 0:
                at += 3
                if at == base + 3 * cap:
                    at = base
            write_slot(halves, at, 3, mark, state)


@ArrayFunction
def move_all(source: Any, starts: Any, sizes: Any, slots: Any, stride: int, caps: Any, step: int) -> None:
    """Insert keys of ``step`` words into the parts of their owners. All keys differ from each other and from those in
    the table."""
    for owner in range(OWNERS):
        if sizes[owner]:
            move(source, starts[owner] * step, sizes[owner], step, slots, owner * stride, caps[owner], step)


@ArrayFunction
def gather(  # noqa: PLR0913, PLR0917 - a kernel takes its arrays one by one
    rows: Any, parents: Any, actions: Any, fresh: Any, n: int, first: int, kept: Any,
    out_rows: Any, out_parents: Any, out_actions: Any, at: int, taken: Any, found: Any,
) -> None:  # fmt: skip
    """Append the new candidates of a lane from ``at`` on; ``first`` is the place in its level of the block's first
    state.

    ``kept`` is scratch space for one number per candidate.
    """
    size = 0
    for i in range(n):  # likewise without a branch: which candidates are new cannot be predicted either
        taken[np.int64(actions[i])] += 1
        kept[size] = i
        size += fresh[i] != 0
    for k in range(size):
        new = np.int64(kept[k])
        for w in range(rows.shape[1]):
            out_rows[at + k, w] = rows[new, w]
        out_parents[at + k] = first + np.int64(parents[new])
        out_actions[at + k] = actions[new]
        found[np.int64(actions[new])] += 1


@ArrayFunction
def take(  # noqa: PLR0913, PLR0917 - a kernel takes its arrays one by one
    rows: Any, parents: Any, actions: Any, fresh: Any, order: Any, marks: Any, begin: int, end: int,
    names: Any, sent: Any, out_rows: Any, out_parents: Any, out_actions: Any, filled: Any,
) -> int:  # fmt: skip
    """Append listed candidates to a batch of size ``filled[0]``. Returns the position of the first one that did not
    fit.

    ``names`` are the fingerprints of the states that were expanded. ``sent`` remembers fingerprints, and what it holds
    is not sent again; it may be empty. What is taken does not count as fresh any more.
    """
    at, room, memory = filled[0], len(out_rows), len(sent)
    for i in range(begin, end):
        if at == room:
            filled[0] = at
            return i
        candidate, mark = np.int64(order[i]), marks[i]
        fresh[candidate] = 0
        if memory:
            # A slot may be overwritten. Then a state is sent again, and its owner finds that it knows it.
            slot = np.int64(mark & np.uint64(memory - 1))
            if sent[slot] == mark:
                continue
            sent[slot] = mark
        for w in range(rows.shape[1]):
            out_rows[at, w] = rows[candidate, w]
        out_parents[at] = names[np.int64(parents[candidate])]
        out_actions[at] = actions[candidate]
        at += 1
    filled[0] = at
    return end


@ArrayFunction
def rename(parents: Any, begin: int, end: int, first: int, names: Any) -> None:
    """Replace predecessors, counted from ``first``, by the names at their places."""
    for i in range(begin, end):
        parents[i] = names[np.int64(parents[i]) - first]


@ArrayFunction
def mixed(state: Any, word: Any) -> Any:
    """A fingerprint with one more word in it."""
    state = (state ^ word) + MIX_STEP
    state = (state ^ (state >> np.uint64(30))) * MIX_FIRST
    state = (state ^ (state >> np.uint64(27))) * MIX_SECOND
    return state ^ (state >> np.uint64(31))


@ArrayFunction
def second_print(rows: Any, i: int) -> Any:
    """A second 64 bits of fingerprint of a row: each word is mixed in by the finalizer of splitmix64 (Steele, Lea,
    Flood 2014)."""
    state = MIX_START
    for w in range(rows.shape[1]):
        state = mixed(state, rows[i, w])
    return state


@ArrayFunction
def second_prints(rows: Any, n: int, out: Any) -> None:
    """The second 64 bits of fingerprint of each of the first ``n`` rows."""
    for i in range(n):
        out[i, 0] = second_print(rows, i)


@ArrayFunction
def checksum(words: Any) -> Any:
    """A sum over words that depends on each of them and on their order. It detects damage, not malice."""
    a = b = c = d = MIX_START
    whole = len(words) // 4 * 4
    for i in range(0, whole, 4):  # four independent sums: multiplications overlap in the pipeline
        a = (a ^ words[i]) * MIX_STEP
        b = (b ^ words[i + 1]) * MIX_STEP
        c = (c ^ words[i + 2]) * MIX_STEP
        d = (d ^ words[i + 3]) * MIX_STEP
        a ^= a >> np.uint64(32)
        b ^= b >> np.uint64(32)
        c ^= c >> np.uint64(32)
        d ^= d >> np.uint64(32)
    for i in range(whole, len(words)):
        a = (a ^ words[i]) * MIX_STEP
        a ^= a >> np.uint64(32)
    for each in (b, c, d):
        a = (a ^ each) * MIX_STEP
        a ^= a >> np.uint64(32)
    return a


@ArrayFunction
def assemble_all(rows: Any, parents: Any, actions: Any, sizes: Any, words: Any) -> None:
    """The words of chunks, one behind the other (``level_file.ChunkLayout``), with predecessors by place; ``words`` is
    zero before."""
    first = begin = 0
    for level in range(len(sizes)):
        n = sizes[level]
        words[begin] = n
        at = begin + 1
        for i in range(first, first + n):
            for w in range(rows.shape[1]):
                words[at] = rows[i, w]
                at += 1
        for i in range(n):
            shift = np.uint64(32 * (i % 2))
            words[at + i // 2] |= np.uint64(parents[first + i]) << shift
        at += (n + 1) // 2
        for i in range(n):
            shift = np.uint64(16 * (i % 4))
            words[at + i // 4] |= np.uint64(actions[first + i]) << shift
        at += (n + 3) // 4
        words[at] = checksum(words[begin:at])
        begin = at + 1
        first += n
