"""Compiled code asked about single blocks of states, outside a search: their successors, and where properties are
violated."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from assay.checker.explicit.expansion.compiled_interface import Compiled
from assay.checker.explicit.store.row_store import RowStore
from assay.checker.layout.call_frame import NEVER, WORDS, ContextSlot
from assay.checker.layout.row import Rows
from assay.checker.report import EnginesDisagreeError
from assay.checker.search_interface.finding import DEADLOCK, PropertyFinding
from assay.grammar.lazy_dataclass import dataclass

BLOCK = 4096
"""How many states one call looks at."""
ROOM = 1 << 12
"""The capacity for successors at first; it grows by a factor of four."""

Words32 = npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Successors:
    """What ``expand`` found, as parallel arrays: rows, fingerprints, positions of predecessors, and actions. The next
    call overwrites them."""

    rows: Rows
    prints: Rows
    parents: Words32
    actions: Words32


class Probe:
    """A context for compiled code with arrays of its own. One thread at a time may use it.

    ``position`` gives the first row of the last block whose expansion is stuck, dead or terminal. Stuck: an instance
    has no value. Dead: no successor. Terminal: a terminal condition has no value there. ``NEVER`` stands for none.
    ``hits`` and ``decisive`` add up over calls.
    """

    def __init__(self, compiled: Compiled) -> None:
        self._compiled = compiled
        self._machine = compiled.machine
        self.hits: Rows = np.zeros(max(1, len(compiled.hits)), np.uint64)
        self.decisive = np.zeros(max(1, len(compiled.guards)), np.uint8)
        self._found_states: Rows = np.full(max(1, 2 * len(compiled.states)), NEVER, np.uint64)
        self._found_steps: Rows = np.full(max(1, 2 * len(compiled.steps)), NEVER, np.uint64)
        self._context: Rows = np.zeros(WORDS, np.uint64)
        for slot, array in (
            (ContextSlot.HITS, self.hits), (ContextSlot.DECISIVE, self.decisive), (ContextSlot.STATES, self._found_states), (ContextSlot.STEPS, self._found_steps),
        ):  # fmt: skip
            self._context[slot] = array.ctypes.data
        self._make_room(ROOM)

    def _make_room(self, room: int) -> None:
        self._rows: Rows = np.empty((room, self._compiled.layout.words), np.uint64)
        self._prints: Rows = np.empty(room, np.uint64)
        self._parents: Words32 = np.empty(room, np.uint32)
        self._actions: Words32 = np.empty(room, np.uint32)
        for slot, array in (
            (ContextSlot.ROWS, self._rows), (ContextSlot.PRINTS, self._prints), (ContextSlot.PARENTS, self._parents), (ContextSlot.ACTIONS, self._actions),
        ):  # fmt: skip
            self._context[slot] = array.ctypes.data
        self._context[ContextSlot.CAPACITY] = room
        # A block is one call here: where its successors do not fit, all of it is repeated with more room.
        self._context[ContextSlot.RESERVE] = 0

    def expand(self, rows: Rows) -> Successors:
        """The successors of rows. All arrays of the answer are valid until the next call."""
        hits = self.hits.copy()
        while True:
            # A repeated call would count the same bounds again.
            self.hits[:] = hits
            self._context[[ContextSlot.STUCK, ContextSlot.DEAD, ContextSlot.TERMINAL]] = NEVER
            self._found_steps[:] = NEVER
            self._context[ContextSlot.COUNT] = self._context[ContextSlot.OVERFLOW] = 0
            done = self._machine.expand(self._context, rows)
            if done == len(rows) and not self._context[ContextSlot.OVERFLOW]:
                count = int(self._context[ContextSlot.COUNT])
                return Successors(
                    self._rows[:count], self._prints[:count], self._parents[:count], self._actions[:count]
                )
            self._make_room(4 * len(self._prints))

    def position(self, slot: ContextSlot) -> int:
        """A position that the last ``expand`` noted; ``NEVER`` if there is none."""
        return int(self._context[slot])

    def false_steps(self) -> list[int]:
        """For each property of steps the first successor of the last ``expand`` where it is false, then where it is
        undefined."""
        return [int(each) for each in self._found_steps]

    def decided(self, rows: Rows) -> list[int]:
        """For each property of states the first of the rows that decides it, then the first where it has no value."""
        self._found_states[:] = NEVER
        self._machine.inspect(self._context, rows, 0)
        return [int(each) for each in self._found_states]

    # ---------------------------------------------------------------------------------------- in many rows

    def offending(self, name: str, rows: Rows) -> Iterator[int]:
        """The positions of all rows in which, or on a step from which, a property is violated."""
        if name == DEADLOCK:
            return self.all_dead(rows)
        if name in self._compiled.steps:
            return self.all_false_steps(rows, self._compiled.steps.index(name))
        return self.all_decided(rows, self._compiled.states.index(name))

    def all_decided(self, rows: Rows, at: int) -> Iterator[int]:
        """The positions of all rows that decide the property of states in place ``at``."""
        begin = 0
        while begin < len(rows):
            found = self.decided(rows[begin:])[2 * at]
            if found == NEVER:
                return
            yield begin + found
            begin += found + 1

    def all_false_steps(self, rows: Rows, at: int) -> Iterator[int]:
        """The positions of all rows with a step on which the property of steps in place ``at`` is false."""
        begin = 0
        while begin < len(rows):
            # Compiled code notes the first step alone, so what follows the state is expanded anew.
            successors = self.expand(rows[begin:])
            found = self.false_steps()[2 * at]
            if found == NEVER:
                return
            begin += int(successors.parents[found])
            yield begin
            begin += 1

    def all_dead(self, rows: Rows) -> Iterator[int]:
        """The positions of all rows without a successor in which no terminal condition holds."""
        begin = 0
        while begin < len(rows):
            self.expand(rows[begin:])
            found = self.position(ContextSlot.DEAD)
            if found == NEVER:
                return
            begin += found
            yield begin
            begin += 1


def offenders(
    confirm: Callable[[str, int], PropertyFinding | None], compiled: Compiled, store: RowStore, name: str, first: int
) -> Iterator[PropertyFinding]:
    """Where else a property is violated: states with a number above ``first``, found by compiled code and confirmed by
    the reference evaluator.

    ``confirm`` gives the evaluator's finding for a property in the state of a number, and None where it has none.
    """
    probe = Probe(compiled)
    for begin, rows in store.blocks(first + 1, BLOCK):
        for at in probe.offending(name, rows):
            finding = confirm(name, begin + at)
            if finding is None:
                raise EnginesDisagreeError(
                    f"compiled code finds `{name}` violated where the reference evaluator does not"
                )
            yield finding
