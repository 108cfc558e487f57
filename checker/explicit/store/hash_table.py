"""The hash table of visited states: open addressing, in parts that grow one by one, in place.

A slot begins with the 64-bit fingerprint of a state (0: empty). What else identifies the state follows: nothing, 32 or
64 more bits of fingerprint, or the whole row. Each part has its own range of one reserved region of addresses, of which
only the used pages take memory. So the peak is the size of one table, not of an old and a new one.
"""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from contextlib import suppress
from enum import Enum
from threading import local

import numpy as np
import numpy.typing as npt

from assay.checker.explicit.store.hash_kernels import OWNER_SHIFT, OWNERS, insert, move, move_all, move_halves, narrow
from assay.checker.layout.row import Rows
from assay.grammar.lazy_dataclass import dataclass

Counts = npt.NDArray[np.int64]

STARTS: Rows = np.arange(OWNERS, dtype=np.uint64) << OWNER_SHIFT
"""The lowest fingerprint of each owner."""
PAGE_WORDS = 512
POPULATE_WRITE = 23
"""`MADV_POPULATE_WRITE` of Linux 5.14 and newer, for which Python has no name."""
LOAD = 0.75
"""How full a part may be before it grows."""
TIGHT = 0.9
"""How full a part may be once memory is exhausted."""
GROWTH = 1.7
"""The factor by which a part grows. A smaller one leaves fewer empty slots and moves everything more often. With 1.35,
and slots moved in one pass, growth to ten million states took 0.7 s instead of 0.4 s."""
LAST_GROWTH = 1.2
FAST_GROWTH = 6.0
SMALL = 32 << 20
"""Parts of tables below this many bytes grow by ``FAST_GROWTH``: there moving costs more than empty slots do."""


HALF = 4
"""Bytes of half a word."""


class StateKeys(Enum):
    """What identifies a state in the table: its whole row, or fingerprints of 64, 96 or 128 bits.

    Fingerprints are two 64-bit functions of the row that share nothing, the second one cut to what is left. A state is
    missed only if it has the fingerprint of another one. Were each of b bits a fair coin, that would happen to two
    given states with probability 2^-b. Among n states there are n (n - 1) / 2 pairs. So it happens to any of them with
    a probability below n^2 / 2^(b + 1) (``missed``). For 10^9 states that is 0.027 with 64 bits, 6.4e-12 with 96,
    1.5e-21 with 128.
    """

    ROWS = "exact"
    PRINTS = "64"
    LONG_PRINTS = "96"
    WIDE_PRINTS = "128"

    @property
    def bits(self) -> int:
        """The width of the fingerprints; 0 where whole rows are compared."""
        return {"exact": 0, "64": 64, "96": 96, "128": 128}[self.value]

    @property
    def has_second(self) -> bool:
        """Whether more than 64 bits of fingerprint are compared."""
        return self.bits > 64

    def halves(self, row: int) -> int:
        """The half words of a slot, where a row has ``row`` words."""
        return {"exact": 2 + 2 * row, "64": 2, "96": 3, "128": 4}[self.value]

    def missed(self, states: int) -> float:
        """An upper bound of the probability that one of so many states was taken for another one."""
        return states * states / 2.0 ** (self.bits + 1) if self.bits else 0.0


class TableFullError(Exception):
    """The table cannot grow within its budget."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Candidates of ``lanes`` buffers, listed by owner; arrays have the buffer as first index. ``marks`` and ``tails``
    are the first and second fingerprints of those listed, ``rows`` those of all."""

    lanes: int
    offsets: Counts
    order: npt.NDArray[np.uint32]
    marks: Rows
    tails: Rows
    rows: Rows
    fresh: npt.NDArray[np.uint8]

    def incoming(self) -> Counts:
        """How many candidates each owner gets."""
        total: Counts = np.diff(self.offsets[: self.lanes], axis=1).sum(axis=0)
        return total


class StateTable:
    """The visited states, with slots of so many half words, in at most ``budget`` bytes. Raises ``TableFullError`` if
    that is too little to begin.

    Slots of whole words are read as such (``slots``), ``step`` of them each; others as half words (``halves``), which
    are the same memory. Part p begins at word ``p * stride``.
    """

    def __init__(self, halves: int, budget: int) -> None:
        self.size = halves
        self.step = halves // 2
        self._slot = halves * HALF
        self._budget = budget
        self._rooms = local()
        self.counts: Counts = np.zeros(OWNERS, np.int64)
        # Each part begins with a page, since less would take a page of memory too.
        first = max(16, PAGE_WORDS * 8 // self._slot)
        self.caps: Counts = np.full(OWNERS, first, np.int64)
        if self.bytes > budget:
            raise TableFullError
        # Fingerprints are spread evenly, so all parts get the same share.
        self._most = budget // (OWNERS * self._slot)
        self.stride = -(-self._most * self._slot // (PAGE_WORDS * 8)) * PAGE_WORDS
        try:
            # This reserves addresses. A page takes memory when it is first written.
            self._region = mmap.mmap(-1, OWNERS * self.stride * 8, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        except OSError:
            raise TableFullError from None
        self._keep_from_children()
        self.slots = np.frombuffer(self._region, np.uint64)
        self.halves = np.frombuffer(self._region, np.uint32)

    def __len__(self) -> int:
        return int(self.counts.sum())

    @property
    def bytes(self) -> int:
        """The memory of the slots, in bytes."""
        return int(self.caps.sum()) * self._slot

    @property
    def load(self) -> float:
        """The share of the slots that are used."""
        return len(self) / int(self.caps.sum())

    def sizes_for(self, incoming: Counts) -> Counts:
        """The slots of each part once so many more states fit. Raises ``TableFullError`` if the budget does not allow
        that.

        A part that comes near its share of the budget gets all of it at once. In small steps each round moved
        everything again, and a search of 363 million states crawled at its end.
        """
        wanted = self.counts + incoming
        growth = np.where(self.caps < SMALL // (OWNERS * self._slot), FAST_GROWTH, GROWTH)
        larger = np.maximum(np.ceil(wanted / LOAD), np.ceil(self.caps * growth))
        larger = np.where(larger * LAST_GROWTH > self._most, self._most, larger).astype(np.int64)
        sizes: Counts = np.where(wanted > LOAD * self.caps, np.maximum(larger, self.caps), self.caps)
        if (wanted > TIGHT * sizes).any():
            raise TableFullError
        return sizes

    def grow(self, first: int, last: int, sizes: Counts) -> None:
        """Give the parts from ``first`` up to ``last`` their new sizes."""
        for owner in (first + np.flatnonzero(sizes[first:last] > self.caps[first:last])).tolist():
            old, new = int(self.caps[owner]), int(sizes[owner])
            base, used = owner * self.stride, -(-old * self._slot // 8)
            # Before the slots move: their new homes lie on pages that were never touched.
            self._populate(base + used, base + -(-new * self._slot // 8))
            if self.counts[owner]:
                # The part grows where it is. A slot's new home may be where another one has not moved yet, so all
                # are put aside first.
                aside = self._aside(used)
                aside[:] = self.slots[base : base + used]
                self.slots[base : base + used] = 0
                if self.size % 2:
                    move_halves(aside.view(np.uint32), old, self.halves, 2 * base, new)
                else:
                    move(aside, 0, old, self.step, self.slots, base, new, self.step)
            self.caps[owner] = new

    def clear(self) -> None:
        """Forget all states; the parts keep their sizes."""
        for owner in range(OWNERS):
            base = owner * self.stride
            # Rounded up to whole words: slots of three half words may end within one.
            self.slots[base : base - (-int(self.caps[owner]) * self._slot // 8)] = 0
        self.counts[:] = 0

    def _aside(self, words: int) -> Rows:
        """Scratch space for the slots of a part, reused by each thread: fresh pages would fault once each."""
        room: Rows | None = getattr(self._rooms, "room", None)
        if room is None or len(room) < words:
            room = self._rooms.room = np.empty(words, np.uint64)
        return room[:words]

    def _keep_from_children(self) -> None:
        """Exclude the region from forks: Linux refuses to fork a process that has reserved more at one place than the
        machine has."""
        with suppress(OSError, AttributeError):  # Linux alone has the request, and the limit
            self._region.madvise(mmap.MADV_DONTFORK)

    def _populate(self, begin: int, end: int) -> None:
        """Map the pages between two words at once. Otherwise each page costs two faults, on which threads wait for one
        another.

        Huge pages were tried and dropped: with parts of half a megabyte the rounding costs more memory than the table
        has.
        """
        page = PAGE_WORDS * 8
        first = begin * 8 // page * page
        with suppress(OSError, ValueError):  # an older kernel, or another system
            self._region.madvise(POPULATE_WRITE, first, end * 8 - first)

    def insert(self, batch: Batch, first: int, last: int, found: Counts) -> None:
        """Insert the candidates of the owners from ``first`` up to ``last``, for which there is capacity; ``found``
        counts the new ones by buffer."""
        insert(
            self.slots, self.halves, self.size, self.stride, self.caps, self.counts, first, last,
            batch.lanes, batch.offsets, batch.order, batch.marks, batch.tails, batch.rows, batch.fresh, found,
        )  # fmt: skip

    def adopt(self, runs: Sequence[Rows], spare: int = 0) -> None:
        """Insert keys that all differ and are not in the table; each run is sorted by fingerprint. Raises
        ``TableFullError``.

        Each part gets capacity for ``spare`` more, if the budget allows it.
        """
        cuts = [np.searchsorted(run[:, 0], STARTS) for run in runs]
        sizes = [np.diff(cut, append=len(run)) for cut, run in zip(cuts, runs, strict=True)]
        incoming: Counts = np.sum(sizes, axis=0, dtype=np.int64)
        roomy = incoming + spare
        # Room to spare is asked for only if the budget has it: too little of it is no reason to fail.
        fits = bool((self.counts + roomy <= LOAD * self._most).all())
        self.grow(0, OWNERS, self.sizes_for(roomy if fits else incoming))
        for run, cut, size in zip(runs, cuts, sizes, strict=True):
            move_all(run.reshape(-1), cut, size, self.slots, self.stride, self.caps, self.step)
        self.counts += incoming

    def narrow(self, table: StateTable, first: int, last: int, sizes: Counts) -> None:
        """Take over the parts from ``first`` up to ``last`` of a table of whole rows, into parts of these sizes, under
        fingerprints of 96 bits."""
        self.grow(first, last, sizes)
        for owner in range(first, last):
            source, base = owner * table.stride, 2 * owner * self.stride
            narrow(table.slots, source, int(table.caps[owner]), table.step, self.halves, base, int(self.caps[owner]))
        self.counts[first:last] = table.counts[first:last]
