"""Many small levels one after the other, without Python between them: a chain of 100,000 states has as many levels.

The loop does for each level what a round does (``parallel_round.py``), in the same order, so that states get the same
numbers. Whatever is rare ends it before the level is touched. Rare are something undefined, a deadlock, a transition to
look at, a level that is not small, and a full table. The caller then searches that level by a round.

One call is to take about as long as a round. So it gets fewer states where they take long, and levels that would then
fill it are left to rounds.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from assay.checker.explicit.expansion.parallel_round import ROUND_SECONDS
from assay.checker.explicit.expansion.thread_buffer import Marks, ThreadBuffer
from assay.checker.explicit.store.hash_kernels import (
    ALL,
    HALF_MASK,
    OWNER_SHIFT,
    OWNERS,
    home,
    second_print,
    tail_of,
    word_of,
    write_slot,
)
from assay.checker.explicit.store.hash_table import StateKeys, StateTable
from assay.checker.explicit.store.level_file import CHUNK, RecordChunk
from assay.checker.jit.jit_function import ArrayFunction
from assay.checker.jit.machine_call import call_machine
from assay.checker.layout.call_frame import NEVER, ContextSlot
from assay.checker.layout.row import Rows
from assay.grammar.lazy_dataclass import dataclass

NARROW = 1024
"""The most states of a level that counts as small: fewer than a round would deal out to threads."""
WIDEST = 1 << 14
"""The most candidates of such a level: threads insert more of them sooner."""
FEWEST = 64
"""A level of so many states is small even if states take long, or have many successors."""
ROOM = 1 << 15
"""The most states, and the most levels, of one call."""

COUNT, OVERFLOW, CURRENT = int(ContextSlot.COUNT), int(ContextSlot.OVERFLOW), int(ContextSlot.CURRENT)
STUCK, DEAD, TERMINAL = int(ContextSlot.STUCK), int(ContextSlot.DEAD), int(ContextSlot.TERMINAL)
NO_LIMIT = 1 << 62
GOES_ON, IS_RARE, IS_FULL, IS_WIDE = 0, 1, 2, 3
"""Why the loop ended. ``GOES_ON``: at a limit, or with the search. ``IS_RARE``: before a level for a round, which has
something to look at. ``IS_FULL``: before a table must grow. ``IS_WIDE``: before a level with too many candidates.
"""


@dataclass(frozen=True, slots=True)
class SmallLevels:
    """What the loop found: the sizes of the levels, their records one level behind the other, and why it ended."""

    sizes: np.ndarray[Any, np.dtype[np.int64]]
    records: RecordChunk
    generated: int
    why: int


class NarrowLevels:
    """The arrays of the loop. They begin with the level that is expanded first. Levels of more than ``most`` states do
    not count as small."""

    def __init__(self, words: int, most: int = NARROW) -> None:
        self._most = most
        self._rows: Rows = np.empty((ROOM, words), np.uint64)
        self._parents = np.empty(ROOM, np.uint32)
        self._actions = np.empty(ROOM, np.uint16)
        self._ends = np.empty(ROOM, np.int64)
        self._room = FEWEST
        self._width = NARROW

    @property
    def width(self) -> int:
        """The most states of a level that counts as small now."""
        return min(self._most, CHUNK, self._width)

    def follow(
        self,
        lane: ThreadBuffer,
        table: StateTable,
        keys: StateKeys,
        level: Rows,
        number: int,
        most: tuple[int, int],
        known: tuple[Marks, Marks, Marks],
    ) -> SmallLevels:
        """Expand a level and those after it: at most so many levels, until there are so many states. Its first state
        has a number. Counts and findings in states are the buffer's. What is ``known`` ends nothing: of states, of steps,
        and of what is undefined, terminal or dead."""
        started, size = time.perf_counter(), len(level)
        # The first level is copied in front, so that all levels lie one behind the other.
        self._rows[:size] = level
        lane.begin_counting()
        expand, inspect = lane.machine.addresses
        levels, generated, why = follow(
            (expand, inspect), lane.context, lane.candidates,
            (lane.hits, np.empty_like(lane.hits), lane.found_states, lane.found_steps, *known),
            (table.slots, table.halves, table.caps, table.counts, table.stride, table.step, keys.has_second, table.size),
            (self._rows, self._parents, self._actions, self._ends),
            (size, number, most[0], min(most[1], number + size + self._room), min(WIDEST, CHUNK), self.width),
            (lane.taken, lane.fresh, lane.dropped),
        )  # fmt: skip
        self._pace(time.perf_counter() - started, why)
        ends = self._ends[:levels]
        end = int(ends[-1]) if levels else size
        records = RecordChunk(self._rows[size:end], self._parents[size:end], self._actions[size:end])
        return SmallLevels(np.diff(ends, prepend=size), records, generated, why)

    def _pace(self, took: float, why: int) -> None:
        """Make the next call longer or shorter by the seconds that this one took, and its levels by why it ended."""
        # A level that turns out to be wide was expanded in vain, so fewer of the next ones count as small.
        self._width = max(FEWEST, self._width // 2) if why == IS_WIDE else min(NARROW, 2 * self._width)
        if took > ROUND_SECONDS:
            self._room = max(FEWEST, self._room // 2)
            self._width = min(self._width, self._room)
        elif took < ROUND_SECONDS / 4:
            self._room = min(ROOM, 4 * self._room)


@ArrayFunction
def follow(  # noqa: PLR0913, PLR0917 - one loop, which takes its arrays one by one
    machine: Any, context: Any, candidates: Any, notes: Any, table: Any, out: Any, limits: Any, counted: Any
) -> tuple[int, int, int]:
    """The loop over levels. Returns how many were expanded, how many candidates they had, and why it ended."""
    expand, inspect = machine
    _rows, prints, _parents, _actions = candidates
    hits, saved, found_states, found_steps, known_states, known_steps, known_ends = notes
    _slots, _halves, caps, counts, _stride, _step, _long, _slot = table
    out_rows, out_parents, _out_actions, ends = out
    size, number, most_levels, most_states, widest, narrow = limits
    taken, _fresh, dropped = counted
    begin, end, level, generated = 0, size, 0, 0
    while level < most_levels and level < len(ends):
        for i in range(len(hits)):
            saved[i] = hits[i]
        # A level that a round expands again would count its bounds twice, so the counts before it are kept.
        for i in range(len(dropped)):
            dropped[i] = 0
        context[COUNT] = 0
        context[OVERFLOW] = 0
        context[CURRENT] = 0
        done = call_machine(expand, context, out_rows[begin], end - begin)
        count = np.int64(context[COUNT])
        why = GOES_ON
        # The record array is full. That says nothing about the level, so it is not called wide.
        if end + count > len(out_parents) and level > 0:
            most_levels = level  # the next call begins with this level
        elif done != end - begin or context[OVERFLOW] != 0 or count > widest or end + count > len(out_parents):
            why = IS_WIDE
        elif is_rare(context, found_steps, known_steps, known_ends):
            why = IS_RARE
        elif is_full(prints, count, counts, caps):
            why = IS_FULL
        if why != GOES_ON or most_levels == level:
            for i in range(len(hits)):
                hits[i] = saved[i]
            return level, generated, why
        new = insert_new(count, candidates, table, out, end, counted)
        generated = generated + int(count)
        for i in range(len(dropped)):
            taken[i] += dropped[i]
            generated = generated + int(dropped[i])
        ends[level] = end + new
        level += 1
        # The search is complete: its last level has no new state.
        if new == 0:
            break
        # Properties are looked at before the next level is begun, so the loop ends behind the level with the first
        # finding.
        call_machine(inspect, context, out_rows[end], new, number + end)
        begin, end = end, end + new
        if has_news(found_states, known_states) or number + end >= most_states or new > narrow:
            break
    return level, generated, GOES_ON


@ArrayFunction
def insert_new(count: int, candidates: Any, table: Any, out: Any, end: int, counted: Any) -> int:
    """Put candidates into the table. Returns how many are new: they become records from ``end`` on."""
    rows, prints, parents, actions = candidates
    slots, halves, caps, counts, stride, step, long, slot = table
    out_rows, out_parents, out_actions, _ends = out
    taken, fresh, _dropped = counted
    new = 0
    for i in range(count):
        taken[np.int64(actions[i])] += 1
        owner = np.int64(prints[i] >> OWNER_SHIFT)
        if long:
            fresh_here = put_long(halves, slot, 2 * owner * stride, caps[owner], prints[i], rows, i)
        else:
            fresh_here = put(slots, owner * stride, caps[owner], step, prints[i], rows, i)
        if fresh_here:
            counts[owner] += 1
            for w in range(rows.shape[1]):
                out_rows[end + new, w] = rows[i, w]
            out_parents[end + new] = parents[i]
            out_actions[end + new] = actions[i]
            fresh[np.int64(actions[i])] += 1
            new += 1
    return new


@ArrayFunction
def is_rare(context: Any, found_steps: Any, known_steps: Any, known_ends: Any) -> int:
    """Whether something in the states that were expanded is for a round."""
    rare = has_news(found_steps, known_steps)
    if context[STUCK] != NEVER and known_ends[0] == 0:
        rare = 1
    if context[TERMINAL] != NEVER and known_ends[1] == 0:
        rare = 1
    if context[DEAD] != NEVER and known_ends[2] == 0:
        rare = 1
    return rare


@ArrayFunction
def has_news(found: Any, known: Any) -> int:
    """Whether something was found that was not known."""
    news = 0
    for i in range(len(found)):
        if found[i] != NEVER and known[i] == 0:
            news = 1
    return news


@ArrayFunction
def is_full(prints: Any, count: int, counts: Any, caps: Any) -> int:
    """Whether a part of the table would be too full with all candidates."""
    full = 0
    for i in range(count):
        owner = np.int64(prints[i] >> OWNER_SHIFT)
        counts[owner] += 1
        # The load at which a part grows (`hash_table.LOAD`), in whole numbers.
        if 4 * counts[owner] > 3 * caps[owner]:
            full = 1
    # Candidates were only counted here: they are inserted later, if at all.
    for i in range(count):
        counts[np.int64(prints[i] >> OWNER_SHIFT)] -= 1
    return full


@ArrayFunction
def put(slots: Any, base: int, cap: int, step: int, mark: int, rows: Any, i: int) -> int:
    """Insert one candidate into its part; whether it was new."""
    end = base + step * cap
    at = base + step * home(mark, cap)
    found = slots[at]
    while found != 0:
        same = found == mark
        for w in range(step - 1):
            if not same:
                break
            same = slots[at + 1 + w] == rows[i, w]
        if same:
            return 0
        at += step
        if at == end:
            at = base
        found = slots[at]
    slots[at] = mark
    for w in range(step - 1):
        slots[at + 1 + w] = rows[i, w]
    return 1


@ArrayFunction
def put_long(halves: Any, size: int, base: int, cap: int, mark: Any, rows: Any, i: int) -> int:
    """As ``put``, with second fingerprints: slots have ``size`` half words, three or four."""
    tail = second_print(rows, i) & (HALF_MASK if size == 3 else ALL)
    end = base + size * cap
    at = base + size * home(mark, cap)
    found = word_of(halves, at)
    while found != 0:
        if found == mark and tail_of(halves, at, size) == tail:
            return 0
        at += size
        if at == end:
            at = base
        found = word_of(halves, at)
    write_slot(halves, at, size, mark, tail)
    return 1


def grown(table: StateTable) -> None:
    """Make room in every part of the table that is more than half full. Raises ``TableFullError``."""
    sizes = table.sizes_for(np.maximum(table.counts // 2, WIDEST // OWNERS))
    table.grow(0, OWNERS, sizes)
