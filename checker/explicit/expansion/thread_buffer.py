"""Thread buffers: where one thread turns a block of states into candidates, listed by the owner in the table."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from assay.checker.explicit.expansion.compiled_interface import Compiled
from assay.checker.explicit.store.hash_kernels import OWNERS, RECENT, gather, partition
from assay.checker.explicit.store.hash_table import Batch, StateKeys
from assay.checker.explicit.store.level_file import RecordChunk
from assay.checker.explicit.store.run_kernels import keep_new
from assay.checker.layout.call_frame import NEVER, WORDS, ContextSlot, Starts
from assay.checker.layout.row import Rows
from assay.checker.partial_order.stubborn_sets import StubbornFilter, WorkingMemory
from assay.grammar.lazy_dataclass import dataclass

ROOM = 1 << 16
"""The most candidates that one buffer has capacity for at first. Larger ones (131,072) made insertion up to a sixth
faster, and take too much memory."""

BUDGET = 1 << 18
"""How many picks and initial states one call tries: some hundredths of a second."""

Marks = npt.NDArray[np.uint8]
Counts = npt.NDArray[np.int64]


class Arena:
    """The arrays of all thread buffers, with the buffer as first index: candidates as compiled code writes them, and
    lists of them by owner."""

    def __init__(
        self, lanes: int, words: int, keys: StateKeys, room: int = ROOM, *, tells_arguments: bool = False
    ) -> None:
        self.keys = keys
        self.room = room
        self.rows: Rows = np.empty((lanes, room, words), np.uint64)
        self.prints: Rows = np.empty((lanes, room), np.uint64)
        self.parents = np.empty((lanes, room), np.uint32)
        self.actions = np.empty((lanes, room), np.uint32)
        self.arguments: Rows = np.empty((lanes, room if tells_arguments else 0), np.uint64)
        self.offsets: Counts = np.zeros((lanes, OWNERS + 1), np.int64)
        self.order = np.empty((lanes, room), np.uint32)
        self.marks: Rows = np.empty((lanes, room), np.uint64)
        self.fresh: Marks = np.empty((lanes, room), np.uint8)
        self.recent = np.empty((lanes, RECENT), np.int32)
        self.tails: Rows = np.empty((lanes, room if keys.has_second else 0), np.uint64)

    @property
    def nbytes(self) -> int:
        """The memory of the arrays once all of it was touched, in bytes."""
        arrays = (
            self.rows, self.prints, self.parents, self.actions, self.arguments, self.order, self.marks, self.tails, self.fresh,
        )  # fmt: skip
        return sum(array.nbytes for array in arrays)

    def batch(self, lanes: int, first: int = 0) -> Batch:
        """The content of ``lanes`` buffers from one on, for the table."""
        return Batch(
            lanes, self.offsets[first:], self.order[first:], self.marks[first:], self.tails[first:], self.rows[first:], self.fresh[first:]
        )  # fmt: skip


class Starting:
    """How far the enumeration of initial states has come, and whether one of them has no value."""

    def __init__(self, starts: Starts) -> None:
        self.positions: Rows = np.zeros(max(1, starts.picks), np.uint64)
        self.picks: Rows = np.zeros(starts.words, np.uint64)
        self.ended = self.stuck = False


@dataclass(frozen=True, slots=True)
class Block:
    """States to expand: their rows, and the place of the first one in the level."""

    first: int
    rows: Rows


class ThreadBuffer:
    """One buffer: a context for compiled code that points to its part of the arena.

    After ``expand`` the first ``done`` states of the block are expanded into ``count`` candidates. ``overflow`` means
    that one state alone has more successors than the buffer has capacity for. ``known`` are the guards already known to
    be decisive, which compiled code need not evaluate again. A buffer that ``drops`` has no candidate that equals a
    recent one, where compiled code can tell that.
    """

    def __init__(
        self,
        at: int,
        arena: Arena,
        compiled: Compiled,
        known: Marks,
        stubborn: StubbornFilter | None = None,
        *,
        drops: bool = False,
    ) -> None:
        self.at = at
        self._stubborn = stubborn
        self._room = None if stubborn is None else stubborn.room(arena.room)
        self.reduced: Marks = np.zeros(0, np.uint8)
        """Of which of the states that were expanded some steps were left out."""
        self.arena = arena
        self.machine = compiled.machine
        self.known = known
        self.hits = np.zeros(max(1, len(compiled.hits)), np.uint64)
        self.decisive = np.zeros(max(1, len(compiled.guards)), np.uint8)
        self.found_states = np.full(max(1, 2 * len(compiled.states)), NEVER, np.uint64)
        self.found_steps = np.full(max(1, 2 * len(compiled.steps)), NEVER, np.uint64)
        self.taken: Counts = np.zeros(max(1, compiled.actions), np.int64)
        self.fresh: Counts = np.zeros(max(1, compiled.actions), np.int64)
        self.dropped: Counts = np.zeros(max(1, compiled.actions), np.int64)
        """For each action how many candidates equal to another one were not written."""
        self.context = np.zeros(WORDS, np.uint64)
        self._point()
        self._drops = drops
        if drops:
            arena.recent[at] = 0
            self.context[ContextSlot.RECENT] = arena.recent[at].ctypes.data
            self.context[ContextSlot.DROPPED] = self.dropped.ctypes.data
        self.first = self.done = self.count = 0
        self.sources: Rows = arena.rows[at, :0]
        """The rows that were expanded."""
        self.overflow = False

    def _point(self) -> None:
        arena, at = self.arena, self.at
        pairs = (
            (ContextSlot.HITS, self.hits), (ContextSlot.DECISIVE, self.decisive), (ContextSlot.STATES, self.found_states), (ContextSlot.STEPS, self.found_steps),
            (ContextSlot.ROWS, arena.rows[at]), (ContextSlot.PRINTS, arena.prints[at]), (ContextSlot.PARENTS, arena.parents[at]), (ContextSlot.ACTIONS, arena.actions[at]),
        )  # fmt: skip
        # The context has addresses. So the arrays must stay where they are for as long as this buffer is used.
        for slot, array in pairs:
            self.context[slot] = array.ctypes.data
        if arena.arguments.size:
            self.context[ContextSlot.ARGUMENTS] = arena.arguments[at].ctypes.data
        self.context[ContextSlot.CAPACITY] = arena.room
        self.context[ContextSlot.RESERVE] = arena.room // 4

    def expand(self, block: Block, turn: int = 0) -> None:
        """Expand as many states of a block as the buffer has capacity for.

        Under partial-order reduction only some steps become candidates, others in each ``turn``.
        """
        self._forget(block.first)
        self.done = self.machine.expand(self.context, block.rows)
        self.overflow = bool(self.context[ContextSlot.OVERFLOW])
        self.count = int(self.context[ContextSlot.COUNT])
        self.sources = block.rows[: self.done]
        if self._stubborn is not None and self._room is not None:
            self._filter(self._stubborn, self._room, turn)
        self._list()

    def _filter(self, stubborn: StubbornFilter, room: WorkingMemory, turn: int) -> None:
        arena, at, count = self.arena, self.at, self.count
        arrays = arena.parents[at], arena.actions[at], arena.arguments[at]
        # Before candidates are listed: what is left out must not count as taken, nor enter the table.
        keep, self.reduced = stubborn.keep(
            *arrays, count, self.machine.judge(np.ascontiguousarray(self.sources)), room, turn
        )
        kept = np.flatnonzero(keep)
        self.count = len(kept)
        for array in (*arrays, arena.rows[at], arena.prints[at]):
            array[: self.count] = array[kept]

    def renumber(self, places: Counts) -> None:
        """Count predecessors by the places of the expanded states in their level, instead of in the block."""
        mine = self.arena.parents[self.at, : self.count]
        mine[:] = places[mine]

    def forget_findings(self) -> None:
        """Forget what was found in states that were expanded before."""
        self.hits[:] = 0
        self.found_steps[:] = NEVER
        self.context[[ContextSlot.STUCK, ContextSlot.DEAD, ContextSlot.TERMINAL]] = NEVER

    def _forget(self, first: int) -> None:
        self.first = first
        self.hits[:] = self.dropped[:] = 0
        # To see that a guard is decisive, all others have to be evaluated. For those that are known nobody does.
        self.decisive[:] = self.known
        self.found_steps[:] = self.found_states[:] = NEVER
        self.context[[ContextSlot.STUCK, ContextSlot.DEAD, ContextSlot.TERMINAL]] = NEVER
        self.context[ContextSlot.COUNT] = self.context[ContextSlot.OVERFLOW] = self.context[ContextSlot.CURRENT] = 0

    @property
    def generated(self) -> int:
        """How many successors there were."""
        return self.count + int(self.dropped.sum())

    @property
    def candidates(self) -> tuple[Rows, Rows, npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
        """Its candidates as compiled code writes them: rows, fingerprints, predecessors, actions."""
        arena, at = self.arena, self.at
        return arena.rows[at], arena.prints[at], arena.parents[at], arena.actions[at]

    def begin_counting(self) -> None:
        """Forget counts and findings, before compiled code is called from elsewhere."""
        self._forget(0)
        self.taken[:] = self.fresh[:] = 0

    def begin(self, starting: Starting) -> None:
        """Take initial states as candidates, as many as fit and are found within the budget, continuing where the last
        call paused."""
        self._forget(0)
        self.done = 0
        self.overflow = False
        self.context[ContextSlot.POSITIONS] = starting.positions.ctypes.data
        self.context[ContextSlot.PICKS] = starting.picks.ctypes.data
        self.context[ContextSlot.BUDGET] = BUDGET
        self.machine.begin(self.context)
        self.count = int(self.context[ContextSlot.COUNT])
        # A pause is no end: the buffer was full, or the budget of the call was used up.
        starting.ended = not self.context[ContextSlot.PAUSED]
        starting.stuck |= int(self.context[ContextSlot.STUCK]) != NEVER
        # Else it would be reported as a finding in a state that was expanded.
        self.context[ContextSlot.STUCK] = NEVER
        self._list()

    def load(self, rows: Rows) -> None:
        """Take states themselves as candidates, at most as many as fit; their predecessors are counted from 0."""
        # Else the place of an earlier block would be added to predecessors, and Spark's exchange would send wrong ones.
        self.first = 0
        self.dropped[:] = 0
        self.count = len(rows)
        self.arena.rows[self.at, : self.count] = rows
        self.arena.prints[self.at, : self.count] = self.machine.prints(rows)
        self._list()

    def _list(self) -> None:
        arena, at = self.arena, self.at
        partition(
            arena.prints[at], arena.rows[at], self.count,
            arena.offsets[at], arena.order[at], arena.marks[at], arena.tails[at], arena.fresh[at],
            arena.recent[at, : 0 if self._drops else RECENT],
        )  # fmt: skip

    def gather(self, stage: RecordChunk, at: int, new: int, number: int) -> None:
        """Stage the new candidates from position ``at`` on and check the state properties in them; the first one has
        this number."""
        self.pick(stage, at)
        self.machine.inspect(self.context, stage.rows[at : at + new], number)

    def pick(self, stage: RecordChunk, at: int) -> None:
        """Stage the new candidates from position ``at`` on."""
        arena, lane = self.arena, self.at
        self.taken[:], self.fresh[:] = self.dropped, 0
        gather(
            arena.rows[lane], arena.parents[lane], arena.actions[lane], arena.fresh[lane], self.count, self.first, arena.order[lane],
            stage.rows, stage.parents, stage.actions, at, self.taken, self.fresh,
        )  # fmt: skip

    def admit(self, chunk: RecordChunk, old: Marks, stage: RecordChunk, at: int, new: int, number: int) -> None:
        """Stage those of a chunk's records that are not ``old`` and check the state properties in them, as ``gather``
        does."""
        self.fresh[:] = 0
        self.found_states[:] = NEVER
        keep_new(
            chunk.rows, chunk.parents, chunk.actions, old, stage.rows, stage.parents, stage.actions, at, self.fresh
        )
        self.machine.inspect(self.context, stage.rows[at : at + new], number)
