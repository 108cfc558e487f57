"""One parallel round of the search: blocks of a level are expanded, inserted into the table, and what is new is staged.

1. Blocks are expanded in parallel, each into a thread buffer of its own.
2. Each part of the table takes its candidates, buffer after buffer. Parts share nothing, and within a part candidates
   come in the order of the level. So a candidate is new exactly if no earlier one of the whole level is equal to it.
3. The new states of each buffer are staged behind those of the buffers before it.

The result is the same for any number of threads and any cut of the level into blocks.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from itertools import pairwise
from typing import TypeVar

import numpy as np

from assay.checker.explicit.expansion.compiled_interface import Compiled
from assay.checker.explicit.expansion.thread_buffer import ROOM, Arena, Block, Counts, Marks, Starting, ThreadBuffer
from assay.checker.explicit.store.hash_kernels import OWNERS
from assay.checker.explicit.store.hash_table import StateKeys, StateTable
from assay.checker.explicit.store.level_file import CHUNK, RecordChunk
from assay.checker.explicit.store.levels import Levels
from assay.checker.layout.row import Rows
from assay.checker.partial_order.stubborn_sets import StubbornFilter

T = TypeVar("T")

MOST_LANES = 64
LANES_A_THREAD = 4
"""With several threads; one thread alone has one buffer of their size, since each costs it calls and nobody waits."""
SLICES_A_THREAD = 4
"""Owners are dealt in this many slices per thread, so that a thread that was held up does not hold up the others."""
AMONG_THREADS = 2048
"""Rounds of fewer states are done by the calling thread alone: waking other threads takes longer."""
ROUND_SECONDS = 0.1
"""About how long a round may take, in seconds: limits and progress are handled between rounds."""
MOST_CANDIDATES = 1 << 20
"""The capacity of all thread buffers together at first, in candidates."""
FULL = 0.5
"""The share of a thread buffer that a block is expected to fill. The rest is reserve for blocks with more successors
than usual."""


class WorkerThreads:
    """A pool of threads for pieces of work; the caller's thread is one of them."""

    def __init__(self, threads: int | None) -> None:
        self.threads = threads or os.cpu_count() or 1
        self._pool = ThreadPoolExecutor(self.threads - 1) if self.threads > 1 else None
        self.writer = ThreadPoolExecutor(1) if self.threads > 1 else None
        """One thread that does things in order, while others search."""

    def do(self, work: Callable[[T], object], items: Sequence[T], *, alone: bool = False) -> None:
        """Do the work on every item, in no fixed order, and return when all is done."""
        if self._pool is None or alone or len(items) == 1:
            for item in items:
                work(item)
            return
        rest = iter(items)

        def take() -> None:
            for item in rest:  # each item goes to one thread: the interpreter hands out the next one as a whole
                work(item)

        others = [self._pool.submit(take) for _ in range(min(self.threads, len(items)) - 1)]
        try:
            take()
        finally:
            # Even if this thread has failed: the others still write into shared arrays.
            wait(others)
        for each in others:
            each.result()

    def close(self) -> None:
        """Shut the threads down."""
        for pool in (self._pool, self.writer):
            if pool is not None:
                pool.shutdown()


class Rounds:
    """Does rounds over a table and levels that may be replaced between rounds. ``known`` are the guards already known
    to be decisive. Buffers may be such as ``drops`` says."""

    def __init__(
        self,
        compiled: Compiled,
        levels: Levels,
        workers: WorkerThreads,
        known: Marks,
        stubborn: StubbornFilter | None = None,
        *,
        drops: bool = False,
    ) -> None:
        self.levels = levels
        self._drops = drops and stubborn is None
        self._stubborn = stubborn
        self._compiled = compiled
        self._workers = workers
        self._known = known
        self._lanes: list[ThreadBuffer] = []
        self._fan_out = 4.0
        self._size = 1024
        slices = min(OWNERS, SLICES_A_THREAD * workers.threads) if workers.threads > 1 else 1
        self.slices: list[tuple[int, int]] = list(pairwise(np.linspace(0, OWNERS, slices + 1).astype(int).tolist()))
        """The owners, dealt in slices."""
        self.use(StateKeys.ROWS)

    def use(self, keys: StateKeys, room: int | None = None) -> None:
        """Make thread buffers for keys of this kind, or larger ones."""
        threads = self._workers.threads
        lanes = 1 if threads == 1 else min(MOST_LANES, LANES_A_THREAD * threads)
        room = room or min(LANES_A_THREAD * ROOM if threads == 1 else ROOM, MOST_CANDIDATES // lanes)
        words = self._compiled.layout.words
        self._lanes.clear()
        tells = bool(self._compiled.refinements) or self._stubborn is not None
        self.arena = Arena(lanes, words, keys, room, tells_arguments=tells)
        self._lanes = [
            ThreadBuffer(at, self.arena, self._compiled, self._known, self._stubborn, drops=self._drops)
            for at in range(lanes)
        ]

    # ------------------------------------------------------------------------------------------------- expand

    def expand(self, place: int, count: int) -> list[ThreadBuffer]:
        """Expand states of the last finished level (``count`` states) from ``place`` on. Returns the filled buffers, in
        order."""
        while True:
            blocks = self._blocks(place, count)
            lanes = self._lanes[: len(blocks)]
            states = sum(len(block.rows) for block in blocks)
            pairs = list(zip(lanes, blocks, strict=True))
            self._workers.do(lambda pair: pair[0].expand(pair[1]), pairs, alone=states < AMONG_THREADS)
            ready = list(_ready(pairs))
            if not ready[-1].overflow:
                # It rises at once and falls slowly: a block that overflows its buffer costs a whole round.
                self._fan_out = max(0.9 * self._fan_out, 0.1, *(lane.count / lane.done for lane in ready))
                return ready
            if len(ready) > 1:
                return ready[:-1]  # the state with too many successors comes first in the next round
            self.use(self.arena.keys, 4 * self.arena.room)

    def _blocks(self, place: int, count: int) -> list[Block]:
        level = len(self.levels.counts) - 1
        most = max(1, min(self._size, int(FULL * self.arena.room / self._fan_out)))
        blocks: list[Block] = []
        while place < count and len(blocks) < len(self._lanes):
            # A block never crosses the border of a chunk: it is a view, and nothing is copied.
            rows = self.levels.chunk(level, place // CHUNK).rows[place % CHUNK :][:most]
            blocks.append(Block(place, rows))
            place += len(rows)
        return blocks

    def pace(self, started: float) -> None:
        """Make the blocks of the next round larger or smaller, by the time that this one took."""
        took = time.perf_counter() - started
        self._size = max(1, self._size // 2) if took > ROUND_SECONDS else min(CHUNK, self._size * 2)

    def expand_alone(self, block: Block, turn: int = 0) -> ThreadBuffer:
        """Expand states that need not belong to a level, into the first buffer; ``turn`` as of ``ThreadBuffer``."""
        while True:
            lane = self._lanes[0]
            lane.expand(block, turn)
            if not lane.overflow:
                return lane
            self.use(self.arena.keys, 4 * self.arena.room)

    @property
    def first_lane(self) -> ThreadBuffer:
        """The first buffer, for work that one thread does alone."""
        return self._lanes[0]

    def begin(self, starting: Starting) -> ThreadBuffer:
        """Fill the first buffer with the next initial states as candidates."""
        self._lanes[0].begin(starting)
        return self._lanes[0]

    # ------------------------------------------------------------------------------------------------- insert

    def insert(self, table: StateTable, lanes: Sequence[ThreadBuffer]) -> Counts:
        """Insert what buffers hold; returns the number of new states of each. Raises ``TableFullError`` before anything
        is inserted."""
        batch = self.arena.batch(len(lanes), lanes[0].at)
        # For all parts before any of them grows: where this raises, nothing has changed.
        sizes = table.sizes_for(batch.incoming())
        # A row for each slice, so that no two threads count in one place.
        found = np.zeros((len(self.slices), len(lanes)), np.int64)

        def work(at: int) -> None:
            first, last = self.slices[at]
            table.grow(first, last, sizes)
            table.insert(batch, first, last, found[at])

        small = sum(lane.count for lane in lanes) < AMONG_THREADS
        self._workers.do(work, range(len(self.slices)), alone=small)
        total: Counts = found.sum(axis=0)
        return total

    def stage(
        self, lanes: Sequence[ThreadBuffer], new: Counts, aside: Levels | None = None
    ) -> tuple[RecordChunk, list[int]]:
        """Stage what is new in buffers: returns the stage, and where in it each buffer's states begin. They are not
        committed yet. What is put ``aside`` is not looked at: it may not be new."""
        levels, total = self.levels if aside is None else aside, int(new.sum())
        stage = levels.stage(total)
        places = (levels.staged + np.cumsum(new) - new).tolist()
        number = len(levels) - levels.staged

        def work(at: int) -> None:
            if aside is None:
                lanes[at].gather(stage, places[at], int(new[at]), number + places[at])
            else:
                lanes[at].pick(stage, places[at])

        self._workers.do(work, range(len(lanes)), alone=total < AMONG_THREADS)
        return stage, places

    def admit(
        self, chunks: Sequence[RecordChunk], old: Sequence[Marks]
    ) -> Iterator[tuple[ThreadBuffer, RecordChunk, int, int]]:
        """Stage those records of chunks, at most one a buffer, that are not ``old``. Yields each buffer with the stage,
        where in it its states begin, and how many they are; these are not committed yet."""
        new = np.array([len(each) - np.count_nonzero(each) for each in old], np.int64)
        stage = self.levels.stage(int(new.sum()))
        places = (self.levels.staged + np.cumsum(new) - new).tolist()
        number = len(self.levels) - self.levels.staged

        def work(at: int) -> None:
            self._lanes[at].admit(chunks[at], old[at], stage, places[at], int(new[at]), number + places[at])

        self._workers.do(work, range(len(chunks)), alone=int(new.sum()) < AMONG_THREADS)
        yield from zip(self._lanes, [stage] * len(chunks), places, new.tolist(), strict=False)

    @property
    def width(self) -> int:
        """How many buffers there are."""
        return len(self._lanes)

    def narrowed(self, table: StateTable, budget: int) -> StateTable:
        """A table of the same states, whose whole rows were compared, under fingerprints of 96 bits; raises
        ``TableFullError``."""
        new = StateTable(StateKeys.LONG_PRINTS.halves(0), budget)
        sizes = new.sizes_for(table.counts)
        self._workers.do(lambda part: new.narrow(table, *part, sizes), self.slices)
        return new

    # ------------------------------------------------------------------------------------------------- refill

    def load(self, rows: Rows) -> ThreadBuffer:
        """Fill the first buffer with states themselves as candidates, at most a chunk of them."""
        self._lanes[0].load(rows)
        return self._lanes[0]

    def refill(self, table: StateTable, rows: Iterable[Rows]) -> None:
        """Insert states themselves, as after a change of keys. Raises ``TableFullError``."""
        for lanes in self.loaded(rows):
            self.insert(table, lanes)

    def loaded(self, rows: Iterable[Rows]) -> Iterator[list[ThreadBuffer]]:
        """Buffers with states themselves as candidates, until all of them had their turn."""
        for some in rows:
            parts = np.array_split(some, max(1, -(-len(some) // self.arena.room)))
            for begin in range(0, len(parts), len(self._lanes)):
                lanes = self._lanes[: len(parts) - begin]
                pairs = list(zip(lanes, parts[begin:], strict=False))
                self._workers.do(lambda pair: pair[0].load(pair[1]), pairs)
                yield lanes


def _ready(pairs: Sequence[tuple[ThreadBuffer, Block]]) -> Iterable[ThreadBuffer]:
    """The buffers up to the first whose block was not fully expanded: what follows it would be out of order."""
    for lane, block in pairs:
        yield lane
        if lane.overflow or lane.done < len(block.rows):
            return
