"""The visited set beyond memory: sorted runs on disk, and duplicates that are detected later than they are found.

The table holds only the states of late. What it does not hold waits: its key in memory, its record in levels of its
own. A merge compares all keys that wait with the runs. What none of them has is new, in the order in which it was
found. When the table is full, its keys become the next run. The argument is in docs/design/visited-on-disk.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

import numpy as np

from assay.checker.explicit.expansion.parallel_round import Rounds, WorkerThreads
from assay.checker.explicit.expansion.thread_buffer import Counts, Marks, ThreadBuffer
from assay.checker.explicit.store.hash_kernels import OWNERS
from assay.checker.explicit.store.hash_table import HALF, TIGHT, StateTable, TableFullError
from assay.checker.explicit.store.level_file import RecordChunk
from assay.checker.explicit.store.levels import Levels
from assay.checker.explicit.store.run_kernels import set_aside, sorted_part
from assay.checker.explicit.store.sorted_run import SortedKeys, SortedRun
from assay.checker.layout.row import Rows
from assay.checker.report import DiskEffort

WAITING = 0.5
"""How many keys may wait, for each that the table holds. A merge reads all runs, so more of them make fewer merges."""
RECORDS = 0.1
"""The share of the memory for records that wait; more of them go to files."""
TOGETHER = 1 << 15
"""About so many keys are sorted together, and looked for in the runs: fewer take more calls, more leave the cache."""
FOLDER = "visited"
"""The folder of the runs in that of a checkpoint."""


class WaitingKeys:
    """The keys of states that may be new, by owner, with the numbers of their records: ``most`` of each owner."""

    def __init__(self, size: int, most: int) -> None:
        self.most = most
        self.size = size
        self.counts: Counts = np.zeros(OWNERS, np.int64)
        self._marks: Rows = np.empty((OWNERS, most), np.uint64)
        self._rest = np.empty((OWNERS, most * (size - 2)), np.uint32)
        self._numbers = np.empty((OWNERS, most), np.uint32)

    def __len__(self) -> int:
        return int(self.counts.sum())

    def take(self, rounds: Rounds, lanes: Sequence[ThreadBuffer], workers: WorkerThreads) -> None:
        """List what is fresh in buffers."""
        batch = rounds.arena.batch(len(lanes), lanes[0].at)
        ranks = np.zeros(batch.fresh.shape, np.uint32)
        number = len(self)
        for at, lane in enumerate(lanes):
            # Each fresh candidate gets the number of its record: those that wait, and the fresh ones before it in this
            # round.
            np.cumsum(batch.fresh[at, : lane.count], out=ranks[at, : lane.count], dtype=np.uint32)
            ranks[at, : lane.count] += np.uint32(number) - batch.fresh[at, : lane.count]
            number += int(np.count_nonzero(batch.fresh[at, : lane.count]))

        def work(part: tuple[int, int]) -> None:
            set_aside(
                *part, len(lanes), self.size, batch.offsets, batch.order, batch.marks, batch.tails, batch.rows, batch.fresh, ranks,
                self._marks, self._rest, self._numbers, self.counts,
            )  # fmt: skip

        workers.do(work, rounds.slices)

    def of(self, owners: range) -> tuple[SortedKeys, Counts]:
        """The keys of some owners in order, and the numbers of their records."""
        width, sizes = self.size - 2, [(owner, int(self.counts[owner])) for owner in owners]
        marks = np.concatenate([self._marks[owner, :n] for owner, n in sizes])
        rest = np.concatenate([self._rest[owner, : n * width] for owner, n in sizes]).reshape(len(marks), width)
        numbers = np.concatenate([self._numbers[owner, :n] for owner, n in sizes])
        order = np.argsort(marks)
        return SortedKeys(marks[order], rest[order].reshape(-1)), numbers[order].astype(np.int64)


class VisitedOnDisk:
    """The runs, the table of late states, and what waits for a merge.

    ``room`` bytes of memory are for the table and what waits. ``make`` makes levels of which so many bytes stay in
    memory. ``heed`` raises ``Stopped`` once ``due`` is true.
    Whatever reads runs may raise ``DamagedError``, and whatever reads or writes ``OSError``.
    """

    def __init__(
        self,
        table: StateTable,
        room: int,
        rounds: Rounds,
        workers: WorkerThreads,
        make: Callable[[int], Levels],
        limits: tuple[Callable[[], bool], Callable[[], None]],
        checkpoint: Path | None,
    ) -> None:
        self.table = table
        self._kept = int(RECORDS * room)
        self.levels = make(self._kept)
        self._make = make
        self._rounds = rounds
        self._workers = workers
        self._due, self._heed = limits
        self._size = table.size
        self._room = room
        self._runs: list[SortedRun] = []
        self._waiting = WaitingKeys(self._size, 0)
        self._merges = self._levels = 0
        self._merged_level = -1
        self.folder = _folder(checkpoint)

    def __len__(self) -> int:
        """The states in runs."""
        return sum(map(len, self._runs))

    @property
    def bytes(self) -> int:
        """Bytes of the runs."""
        return sum(run.bytes for run in self._runs)

    @property
    def effort(self) -> DiskEffort:
        """What that took."""
        return DiskEffort(len(self._runs), self.bytes, self._merges, self._levels)

    @property
    def waits(self) -> bool:
        """Whether states wait for a merge."""
        return len(self._waiting) > 0

    # ------------------------------------------------------------------------------------------------ the table

    def begin(self) -> None:
        """Replace the table, whose states are in runs, by a smaller one, with room for keys that wait."""
        slot = self._size * HALF / TIGHT
        # A key that waits has its rest, a fingerprint of 8 bytes, a number of 4, and a byte that says whether it is
        # old.
        key = (self._size - 2) * HALF + 8 + 4 + 1
        states = (1 - RECORDS) * self._room / (slot + WAITING * key)
        self.table = StateTable(self._size, int(states * slot))
        self._waiting = WaitingKeys(self._size, int(WAITING * states / OWNERS))

    def insert(self, lanes: Sequence[ThreadBuffer]) -> None:
        """Insert what buffers hold; what the table did not have waits. Raises ``TableFullError`` before anything is
        inserted."""
        incoming = self._rounds.arena.batch(len(lanes), lanes[0].at).incoming()
        # Checked first: a table that has taken them in would not list them as fresh again.
        if (self._waiting.counts + incoming > self._waiting.most).any():
            raise TableFullError
        new = self._rounds.insert(self.table, lanes)
        self._waiting.take(self._rounds, lanes, self._workers)
        self._rounds.stage(lanes, new, self.levels)
        self.levels.commit(int(new.sum()))

    def insert_known(self, lanes: Sequence[ThreadBuffer]) -> None:
        """Insert states that are new, and have records. Raises ``TableFullError`` before anything is inserted."""
        self._rounds.insert(self.table, lanes)

    def dump(self) -> None:
        """Make a run of what the table holds and no run has; the table is empty then. Nothing may wait."""
        run = SortedRun(self.folder / f"run-{len(self._runs) + 1:06d}", self._size - 2)
        # Listed before it is written, so that `close` removes its file where writing fails.
        self._runs.append(run)
        groups = _groups(len(self.table))
        step = 2 * self._workers.threads
        for first in range(0, len(groups), step):
            # Sorted copies exist of a few groups at a time, not of the whole table.
            for keys in self._parts(groups[first : first + step]):
                run.append(keys)
        run.finish()
        self.table.clear()

    def _parts(self, groups: Sequence[range]) -> list[SortedKeys]:
        found: dict[range, SortedKeys] = {}

        def work(owners: range) -> None:
            found[owners] = self._part(owners)

        self._do(work, groups)
        return [found[owners] for owners in groups]

    def _part(self, owners: range) -> SortedKeys:
        """The keys in some parts of the table that no earlier run has."""
        table, width, begin = self.table, self._size - 2, 0
        n = int(table.counts[owners.start : owners.stop].sum())
        keys = SortedKeys(np.empty(n, np.uint64), np.empty(n * width, np.uint32))
        for owner in owners:
            marks, rest = keys.marks[begin:], keys.rest[begin * width :]
            begin += sorted_part(
                table.halves, 2 * owner * table.stride, int(table.caps[owner]), self._size, marks, rest
            )
        old = np.zeros(n, np.uint8)
        # The last run is the one that is being written.
        for run in self._runs[:-1]:
            run.find(keys, old)
        return keys.without(old)

    # ------------------------------------------------------------------------------------------------ merges

    def old(self, level: int) -> Marks:
        """For each state that waits in a level, whether a run has it."""
        found: Marks = np.zeros(len(self._waiting), np.uint8)

        def work(owners: range) -> None:
            keys, numbers = self._waiting.of(owners)
            old = np.zeros(len(numbers), np.uint8)
            for run in self._runs:
                run.find(keys, old)
            # Groups have different keys, so no two threads write one place.
            found[numbers] = old

        self._do(work, _groups(len(self._waiting)))
        self._merges += 1
        self._levels += level != self._merged_level
        self._merged_level = level
        return found

    def _do(self, work: Callable[[range], object], groups: Sequence[range]) -> None:
        """Do the work for groups of owners, by all threads; limits are heeded between them."""
        left: list[range] = []

        def unless_due(owners: range) -> None:
            if left or self._due():
                left.append(owners)
            else:
                work(owners)

        self._workers.do(unless_due, groups)
        if left:
            self._heed()
            raise AssertionError("a merge was left, and no limit is reached")

    def records(self) -> Iterator[RecordChunk]:
        """The records of the states that wait, in the order in which they were found."""
        return self.levels.checked_chunks()

    def forget(self) -> None:
        """Nothing waits any more."""
        self._waiting.counts[:] = 0
        self.levels.close()
        self.levels = self._make(self._kept)

    def close(self) -> None:
        """Remove all files."""
        self.levels.close()
        for run in self._runs:
            run.close()
        rmtree(self.folder, ignore_errors=True)


def _groups(keys: int) -> list[range]:
    """The owners, in groups of some thousand keys each."""
    size = OWNERS
    while size > 1 and keys * size > OWNERS * TOGETHER:
        size //= 2
    return [range(first, first + size) for first in range(0, OWNERS, size)]


def _folder(checkpoint: Path | None) -> Path:
    """An empty folder for runs: in that of a checkpoint, which may be on a larger disk, or a temporary one."""
    if checkpoint is None:
        return Path(mkdtemp(prefix="assay-"))
    folder = checkpoint / FOLDER
    rmtree(folder, ignore_errors=True)  # what a search that was killed left
    folder.mkdir(parents=True)
    return folder
