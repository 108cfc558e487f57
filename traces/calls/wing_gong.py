"""The search for a linearization, as machine code.

The algorithm is that of Wing and Gong ("Testing and verifying concurrent objects", 1993), with the memo of Lowe
("Testing for linearizability", 2017). A call that may come next is taken, until the return of an open call stands in
the way. Then the last one is put back. A configuration, the set of the calls taken and the state of the object, is
visited once.

States and effects of calls are numbers. The machine code knows the effects that it was given; it stops where it needs
another one, and goes on when it has got it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.checker.jit.jit_function import ArrayFunction

ENTRY, STATE, DEPTH, LEFT, FURTHEST, COUNT, LOW, ASKED, ANSWER, REACHED = range(10)
"""The registers of a search: the entry at which it stands, the state, and how many calls were taken. How many are left
that have to be. The last return that stood in the way, and how many configurations are known. The first call that is
not taken. The kind of the call whose effect is needed, and that effect, or ``UNKNOWN`` if none was asked for. The state
of which it has to be known which results may still come.
"""

REFUTED, FOUND, ASKS, FULL, STOPPED, LOOKS = range(6)
"""The answers of a search."""

LOOK_AHEAD = 1_000
"""How many beginnings and returns ahead are looked at for a result that can no longer come."""

UNKNOWN, ILLEGAL = -2, -1
"""No effect is known; the call is not possible in this state."""

FACTOR = np.uint64(0x9E3779B97F4A7C15)
BITS = 64


@ArrayFunction
def mixed(word: Any) -> Any:
    """A word with its bits mixed."""
    spread = np.uint64(word) * FACTOR
    return spread ^ (spread >> np.uint64(29))


@ArrayFunction
def effect(keys: Any, effects: Any, key: int) -> int:
    """The state after a call, by the key of state and call; ``UNKNOWN`` if it was not put in."""
    mask = keys.shape[0] - 1
    at = np.int64(mixed(key)) & mask
    while keys[at] != 0:
        if keys[at] == key:
            return int(effects[at])
        at = (at + 1) & mask
    return -2


@ArrayFunction
def put_effect(keys: Any, effects: Any, key: int, after: int) -> None:
    """Put in the state after a call; there must be room."""
    mask = keys.shape[0] - 1
    at = np.int64(mixed(key)) & mask
    while keys[at] != 0:
        at = (at + 1) & mask
    keys[at] = key
    effects[at] = after


@ArrayFunction
def put_effects(keys: Any, effects: Any, more: Any, afters: Any) -> None:
    """Put in all effects of another table."""
    for i in range(more.shape[0]):
        if more[i] != 0:
            put_effect(keys, effects, more[i], afters[i])


@ArrayFunction
def is_taken(taken: Any, bit: int) -> Any:
    """Whether the call of a bit was taken."""
    return (taken[bit // BITS] >> np.uint64(bit % BITS)) & np.uint64(1)


@ArrayFunction
def flip(taken: Any, bit: int) -> None:
    """Take the call of a bit, or put it back."""
    taken[bit // BITS] = taken[bit // BITS] ^ (np.uint64(1) << np.uint64(bit % BITS))


@ArrayFunction
def slot_of(slots: Any, rows: Any, row: Any) -> int:
    """The slot of a configuration, or the free one where it belongs."""
    mark = np.uint64(0)
    for i in range(row.shape[0]):
        mark = mixed(mark ^ row[i])
    mask = slots.shape[0] - 1
    at = np.int64(mark) & mask
    while slots[at] != 0:
        known, same = slots[at] - 1, 1
        for i in range(row.shape[0]):
            if rows[known, i] != row[i]:
                same = 0
                break
        if same:
            return int(at)
        at = (at + 1) & mask
    return int(at)


@ArrayFunction
def put_rows(slots: Any, rows: Any, count: int) -> None:
    """Put the first ``count`` rows into empty slots."""
    for i in range(count):
        slots[slot_of(slots, rows, rows[i])] = i + 1


@ArrayFunction
def write_row(row: Any, taken: Any, state: int, low: int, wide: int, first_optional: int) -> None:
    """Write a configuration: the state, the first call that is not taken, and which calls from there on are taken, as
    ``wide`` words. Then which optional ones are.
    """
    row[0] = state
    row[1] = low
    word, by = low // BITS, low % BITS
    for i in range(wide):
        part = taken[word + i] >> np.uint64(by)
        # The window begins inside a word: the rest of it comes from the next one.
        if by:
            part = part | (taken[word + i + 1] << np.uint64(BITS - by))
        row[2 + i] = part
    for i in range(row.shape[0] - 2 - wide):
        row[2 + wide + i] = taken[first_optional + i]


@ArrayFunction
def unlink(links: Any, entry: int) -> None:
    """Take an entry out of the list."""
    links[links[entry, 0], 1] = links[entry, 1]
    links[links[entry, 1], 0] = links[entry, 0]


@ArrayFunction
def link(links: Any, entry: int) -> None:
    """Put an entry back to where it was."""
    links[links[entry, 0], 1] = entry
    links[links[entry, 1], 0] = entry


@ArrayFunction
def lies_in(rank: int, low: int, high: int) -> int:
    """Whether a rank lies in a range, whose end is not in it."""
    return low <= rank and rank < high  # noqa: PLR1716 - the compiled language has no chains


@ArrayFunction
def possible(entry: int, history: Any, taken: Any, table: Any, registers: Any, sizes: Any) -> int:
    """The state after the call that begins at an entry, or ``ILLEGAL``, or ``UNKNOWN``."""
    entries, _, calls = history
    keys, effects, ranges = table
    call = entries[entry, 0]
    before, state, rank = calls[call, 3], registers[STATE], calls[call, 5]
    # The call before is the last one of the same caller. Of equal calls that may never happen it is another of these:
    # they are interchangeable, and in no fixed order each subset would be tried.
    if before >= 0 and not is_taken(taken, before):
        return -1
    # A call that changes nothing and need not happen is never taken: it would only make more configurations.
    if calls[call, 4] and not calls[call, 2]:
        return -1
    is_known = rank >= 0 and state < ranges.shape[0] and ranges[state, 0] >= 0
    if is_known and not lies_in(rank, ranges[state, 0], ranges[state, 1]):  # not even if the value grows
        return -1
    after = effect(keys, effects, state * sizes[0] + calls[call, 0] + 1)
    if after == state and not calls[call, 2]:  # a call that may never happen, and would change nothing
        return -1
    return int(after)


@ArrayFunction
def may_begin_anew(rank: int, entry: int, until: int, history: Any) -> int:
    """Whether an open call before an entry, other than that of ``entry``, may make a value from which a result can
    come.
    """
    entries, links, calls = history
    at = links[entries.shape[0], 1]
    while at != until:
        call = entries[at, 0]
        if at != entry and entries[at, 1] != -2 and lies_in(rank, calls[call, 6], calls[call, 7]):
            return 1
        at = links[at, 1]
    return 0


@ArrayFunction
def hopeless(entry: int, after: int, history: Any, ranges: Any, most: int) -> int:
    """The first return ahead of a result that can no longer come once the call of an entry led to a state, or -1."""
    entries, links, calls = history
    head, at, seen = entries.shape[0], links[entries.shape[0], 1], 0
    while at != head and seen < most:
        rank = calls[entries[at, 0], 5]
        if entries[at, 1] == -2 and at != entries[entry, 1] and rank >= 0:
            fits = lies_in(rank, ranges[after, 0], ranges[after, 1])
            if not fits and may_begin_anew(rank, entry, at, history) == 0:
                return int(at)
        at = links[at, 1]
        seen = seen + 1
    return -1


@ArrayFunction
def take(entry: int, after: int, history: Any, taken: Any, stack: Any, memo: Any, registers: Any, sizes: Any) -> int:  # noqa: PLR0913, PLR0917
    """Take the call that begins at an entry; returns 1, or 0 if that leads to a known configuration."""
    entries, links, calls = history
    slots, rows, row = memo
    call = entries[entry, 0]
    flip(taken, calls[call, 1])
    low = registers[LOW]
    while low < sizes[3] and is_taken(taken, low):
        low += 1
    write_row(row, taken, after, low, sizes[1], sizes[2])
    slot = slot_of(slots, rows, row)
    # The configuration was reached before, and everything behind it has failed (Lowe 2017): its calls and its state are
    # all that matters.
    if slots[slot] != 0:
        flip(taken, calls[call, 1])
        return 0
    known, depth = registers[COUNT], registers[DEPTH]
    for i in range(row.shape[0]):
        rows[known, i] = row[i]
    slots[slot] = known + 1
    stack[depth, 0] = entry
    stack[depth, 1] = registers[STATE]
    stack[depth, 2] = registers[LOW]
    registers[COUNT] = known + 1
    registers[DEPTH] = depth + 1
    registers[STATE] = after
    registers[LOW] = low
    registers[LEFT] = registers[LEFT] - calls[call, 2]
    unlink(links, entry)
    if entries[entry, 1] >= 0:
        unlink(links, entries[entry, 1])
    return 1


@ArrayFunction
def put_back(history: Any, taken: Any, stack: Any, registers: Any) -> int:
    """Put back the last call for which there was a choice; returns the entry to go on with, or -1."""
    entries, links, calls = history
    while registers[DEPTH] > 0:
        depth = registers[DEPTH] - 1
        entry = stack[depth, 0]
        call = entries[entry, 0]
        if entries[entry, 1] >= 0:
            link(links, entries[entry, 1])
        link(links, entry)
        flip(taken, calls[call, 1])
        same = registers[STATE] == stack[depth, 1]
        registers[DEPTH] = depth
        registers[STATE] = stack[depth, 1]
        registers[LOW] = stack[depth, 2]
        registers[LEFT] = registers[LEFT] + calls[call, 2]
        # A call that never changes a state and was possible may as well come first: nothing else is tried instead. (One
        # that tells which of several states the object is in may not.)
        if calls[call, 4] == 0 or not same:
            return int(links[entry, 1])
    return -1


@ArrayFunction
def search(history: Any, taken: Any, stack: Any, memo: Any, table: Any, registers: Any, sizes: Any) -> int:
    """Search from where the registers stand.

    ``history``: entries, links, calls. Entries: for each beginning or return its call, and the entry of its return (-1:
    none, -2: it is one itself). Links: the entry before and behind each; the last row is the head. Calls: the kind, the
    bit, and whether it has to be taken. Then the bit of the call that has to be taken before it (-1: none), and
    whether it never changes a state. Then the rank of its result among those that a growing value leads to (-1: none).
    Last are the first and last rank that its own effect leads to, whatever was before. ``taken``: bits. ``stack``:
    for each call taken its entry, the state before, the first call that was not taken. ``memo``: slots, rows, a row
    to write. ``table``: effects by key, and for each state the ranks of the results that may still come (-1:
    unknown). ``sizes``: kinds, words of the window, word of the first optional call, calls that have to be taken,
    most configurations, how far is looked ahead.
    """
    entries, links, calls = history
    slots, rows, _ = memo
    if registers[ANSWER] != -2:
        # One more than the number of state and kind, because a key of 0 marks a free slot.
        put_effect(table[0], table[1], registers[STATE] * sizes[0] + registers[ASKED] + 1, registers[ANSWER])
        registers[ANSWER] = -2
    head, entry = entries.shape[0], registers[ENTRY]
    while registers[LEFT] > 0 and entry >= 0:
        registers[ENTRY] = entry
        # A return is next in the list, and its call is not taken: every call that may come earlier was tried.
        if entries[entry, 1] == -2:
            if entry > registers[FURTHEST]:  # noqa: PLR1730 - the compiled language has no `max`
                registers[FURTHEST] = entry
            entry = put_back(history, taken, stack, registers)
            continue
        after = possible(entry, history, taken, table, registers, sizes)
        if after == -2:
            # The effect is not known yet. The model is asked outside, and the search is entered again at this point.
            registers[ASKED] = calls[entries[entry, 0], 0]
            return 2
        moved = 0
        if after >= 0 and sizes[5] > 0:
            if after >= table[2].shape[0] or table[2][after, 0] < 0:
                registers[REACHED] = after
                return 5
            behind = hopeless(entry, after, history, table[2], sizes[5])
            if behind >= 0:
                if behind > registers[FURTHEST]:  # noqa: PLR1730 - the compiled language has no `max`
                    registers[FURTHEST] = behind
                after = -1
        if after >= 0:
            # Tested before the row is written: the tables must have room, for compiled code checks no bounds.
            if registers[COUNT] >= sizes[4]:
                return 4
            if (registers[COUNT] + 1) * 2 > slots.shape[0] or registers[COUNT] == rows.shape[0]:
                return 3
            moved = take(entry, after, history, taken, stack, memo, registers, sizes)
        entry = links[head, 1] if moved else links[entry, 1]
    return int(registers[LEFT] == 0)
