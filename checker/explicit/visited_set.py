"""The visited states: their hash table, the keys that identify them, the memory that both may take, and the disk beyond
it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from assay.checker.explicit.expansion.parallel_round import Rounds
from assay.checker.explicit.expansion.thread_buffer import ThreadBuffer
from assay.checker.explicit.store.hash_table import HALF, StateKeys, StateTable, TableFullError
from assay.checker.explicit.store.levels import KEPT, Levels
from assay.checker.explicit.store.memory_limit import default_budget, taken
from assay.checker.options import SearchOptions
from assay.grammar.diagnostics.diagnostic import NOWHERE, Diagnostic, SpecError

if TYPE_CHECKING:
    from assay.checker.explicit.expansion.visited_on_disk import VisitedOnDisk

EXACT_BYTES = 48 << 20
"""Whole rows are compared while rows and fingerprints together take no more: 2,097,152 states of two words. With twice
as many, ten million states took a tenth longer, because three words a slot are read and moved."""
NARROW_LIMIT = 100_000_000
"""Beyond this many states, fingerprints of 64 bits are too likely to collide (about 2.7e-4 at the limit). Tasks on
Spark use them until then, because each sends fingerprints to others."""
TOO_LITTLE = "E821"
LEAST = 16 << 20
"""Bytes without which a table is not worth beginning."""


class VisitedSet:
    """The visited states, within a memory budget. Raises ``SpecError`` if a budget that the user chose is too small to
    begin with.

    With fingerprints ``auto``, whole rows are compared as long as they take little memory; then 96-bit fingerprints
    identify states. Tasks on Spark compare 64 bits, and beyond ``NARROW_LIMIT`` states 128. Whatever enlarges the table
    may raise ``TableFullError``. ``to_disk`` makes a set on disk from a table and bytes of memory. Where it is given,
    the states go there once the table is full.
    """

    def __init__(
        self,
        options: SearchOptions,
        words: int,
        rounds: Rounds,
        to_disk: Callable[[StateTable, int], VisitedOnDisk] | None = None,
    ) -> None:
        self.keys = StateKeys.ROWS if options.fingerprints == "auto" else StateKeys(options.fingerprints)
        self.peak = self._base = taken()
        self.reserved = 0
        """Bytes that are kept for something else."""
        self.disk: VisitedOnDisk | None = None
        self._to_disk = to_disk
        self.budget = options.memory or default_budget()
        self._chosen = options.fingerprints
        self._words = words
        self._rounds = rounds
        self._table: StateTable | None = None
        rounds.use(self.keys)
        if options.memory is not None and self.room < LEAST:
            least = self.budget - self.room + LEAST
            text = f"a search of this spec needs a memory budget of {least / 1e6:,.0f} MB at least"
            raise SpecError([Diagnostic(TOO_LITTLE, NOWHERE, text)])

    @property
    def may_go_to_disk(self) -> bool:
        """Whether the states go to disk once the table is full."""
        return self._to_disk is not None

    @property
    def room(self) -> int:
        """Bytes of the budget left for the table. Thread buffers, the stage (no larger than they are) and levels take
        the rest."""
        return self.budget - self._base - KEPT - 2 * self._rounds.arena.nbytes - self.reserved

    @property
    def table(self) -> StateTable:
        """The table, which ``fill`` made."""
        assert self._table is not None
        return self._table

    @property
    def filled(self) -> bool:
        """Whether there is a table."""
        return self._table is not None

    @property
    def load(self) -> float:
        """The share of the slots that are used; 0 without a table."""
        return self._table.load if self._table is not None else 0.0

    @property
    def bytes(self) -> int:
        """The memory that slots take; 0 without a table."""
        return self._table.bytes if self._table is not None else 0

    @property
    def disk_bytes(self) -> int:
        """The bytes of sorted runs."""
        return 0 if self.disk is None else self.disk.bytes

    def note_peak(self) -> int:
        """The memory of the process now; ``peak`` becomes the maximum that was noted."""
        now = taken()
        self.peak = max(self.peak, now)
        return now

    def collision(self, states: int) -> float:
        """An upper bound of the probability that one of so many states was taken for another one, and so missed
        (``StateKeys``). It is 0 where rows were compared.
        """
        if self._chosen != "auto":
            return StateKeys(self._chosen).missed(states)
        # Rows are never taken up again: where they are the keys now, nothing else ever was.
        if self.keys is not StateKeys.WIDE_PRINTS:
            return self.keys.missed(states)
        # A state that was missed under 64 bits stays missed, however wide the keys are later
        # (docs/design/certainty-at-size.md).
        return StateKeys.PRINTS.missed(min(states, NARROW_LIMIT)) + StateKeys.WIDE_PRINTS.missed(states)

    def _is_exact_enough(self, states: int) -> bool:
        return states * StateKeys.ROWS.halves(self._words) * HALF <= min(EXACT_BYTES, self.room // 4)

    def fill(self, levels: Levels, heed: Callable[[], None] = lambda: None) -> None:
        """Make the table anew, from the rows of all levels. ``heed`` raises where that is to end."""
        self._table = None
        self.close()
        # The header of a level file says by which keys its states were told apart.
        levels.bits = self.keys.bits
        self._table = StateTable(self.keys.halves(self._words), self.room)
        for lanes in self._rounds.loaded(levels.every_row()):
            heed()
            self._add(lanes)

    def _add(self, lanes: Sequence[ThreadBuffer]) -> None:
        """Insert states that all differ from those before."""
        if self.disk is None:
            try:
                self._rounds.insert(self.table, lanes)
            except TableFullError:
                self.go_to_disk()
            else:
                return
        assert self.disk is not None
        for lane in lanes:
            try:
                self.disk.insert_known([lane])
            except TableFullError:
                self.disk.dump()
                self.disk.insert_known([lane])

    def go_to_disk(self) -> None:
        """Make a sorted run of what the table holds. Raises ``TableFullError`` where the states are to stay in memory,
        ``OSError`` where they cannot be written, and what heeding limits raises."""
        if self._to_disk is None:
            raise TableFullError
        self.disk = self._to_disk(self.table, self.room)
        self.disk.dump()
        # The large table goes before the smaller one is made: the budget has no room for both.
        self._table = None
        self.disk.begin()
        self._table = self.disk.table

    def close(self) -> None:
        """Remove what is on disk."""
        if self.disk is not None:
            self.disk.close()
            self.disk = None

    def leave(self, keys: StateKeys) -> None:
        """Drop the table: tasks elsewhere remember the states from now on, under keys of this kind."""
        self._table = None
        self.keys = keys

    def adapt(self, levels: Levels) -> None:
        """Change to fingerprints where rows take too much memory, and to 128 bits where 64 would collide: those of a search that
        was on Spark."""
        if self.disk is not None:  # runs have keys of one kind
            return
        self.narrow(levels, len(levels))
        if self._chosen == "auto" and self.keys is StateKeys.PRINTS and len(levels) > NARROW_LIMIT:
            self.use(StateKeys.WIDE_PRINTS)
            self.fill(levels)

    def narrow(self, levels: Levels, states: int) -> None:
        """Change to fingerprints if the rows of so many states would take too much memory."""
        if self._chosen == "auto" and self.keys is StateKeys.ROWS and not self._is_exact_enough(states):
            self.use(StateKeys.LONG_PRINTS)
            levels.bits = self.keys.bits
            narrow = self._rounds.narrowed(self.table, self.room)
            # For this moment there are two tables.
            self.note_peak()
            self._table = narrow

    def use(self, keys: StateKeys) -> None:
        """Identify states by other keys. The caller makes the table anew afterwards."""
        self.keys = keys
        self._rounds.use(keys)
