"""Breadth-first search by blocks: expand, store what is new, check it. Level by level, in the order in which states were found.

The rules of the search (when it stops, what is a finding, how it is told) are those of the reference search. Compiled code only says at
which states and steps something is to be found first; the finding itself is made there by the reference evaluator.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.checker.evaluate.model import Model
from assay.checker.explicit.machine import Machine
from assay.checker.explicit.orbits import representative, see_steps
from assay.checker.explicit.probe import offenders
from assay.checker.explicit.store import Candidates, EnginesDisagreeError, RowStore
from assay.checker.layout.context import NEVER, WORDS, Slot
from assay.checker.layout.row import RowLayout, Rows
from assay.checker.options import SearchOptions
from assay.checker.reference.bfs import Search, Stopped
from assay.checker.reference.watch import DEADLOCK, DEFINED, Finding
from assay.checker.symmetry.reduction import Reduction
from assay.checker.verdict import State

BLOCK = 4096
"""How many states are expanded at once."""
ROOM = 1 << 16
"""How many successors of a block there is room for at first."""
MOST_LANES = 16
"""The most blocks that are expanded or wait to be stored."""

Marks = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Compiled:
    """Compiled code with the names behind its arrays: bound labels, guards (action, label), properties of states and of steps."""

    machine: Machine
    layout: RowLayout
    hits: tuple[str, ...]
    guards: tuple[tuple[str, str], ...]
    states: tuple[str, ...]
    steps: tuple[str, ...]


class Lane:
    """Room in which one thread at a time expands a block: a context, the arrays it points to, and the candidates.

    ``known`` are the guards of which it is known already that they are decisive: code need not ask again.
    """

    def __init__(self, compiled: Compiled, known: Marks) -> None:
        self._compiled = compiled
        self._known = known
        self.hits = np.zeros(max(1, len(compiled.hits)), np.uint64)
        self.decisive = np.zeros(max(1, len(compiled.guards)), np.uint8)
        self.found_states = np.full(max(1, 2 * len(compiled.states)), NEVER, np.uint64)
        self.found_steps = np.full(max(1, 2 * len(compiled.steps)), NEVER, np.uint64)
        self.context = np.zeros(WORDS, np.uint64)
        self.context[Slot.HITS] = self.hits.ctypes.data
        self.context[Slot.DECISIVE] = self.decisive.ctypes.data
        self.context[Slot.STATES] = self.found_states.ctypes.data
        self.context[Slot.STEPS] = self.found_steps.ctypes.data
        self.candidates = self._with_room(ROOM)
        self.done = 0
        self.count = 0

    def _with_room(self, room: int) -> Candidates:
        words = self._compiled.layout.words
        new = Candidates(
            np.empty((room, words), np.uint64),
            np.empty(room, np.uint64),
            np.empty(room, np.uint32),
            np.empty(room, np.uint32),
        )
        for slot, array in (
            (Slot.ROWS, new.rows), (Slot.PRINTS, new.prints), (Slot.PARENTS, new.parents), (Slot.ACTIONS, new.actions),
        ):  # fmt: skip
            self.context[slot] = array.ctypes.data
        self.context[Slot.CAPACITY] = room
        self.context[Slot.RESERVE] = room // 4
        return new

    def expand(self, rows: Rows) -> Lane:
        """Expand the first ``done`` of some rows into ``count`` candidates.

        Where one row alone has too many successors, the attempt is forgotten and repeated with more room.
        """
        while True:
            self.hits[:] = 0
            self.decisive[:] = self._known
            self.context[[Slot.STUCK, Slot.DEAD, Slot.TERMINAL]] = NEVER
            self.found_steps[:] = NEVER
            self.context[Slot.COUNT] = self.context[Slot.OVERFLOW] = 0
            self.done = self._compiled.machine.expand(self.context, rows)
            if not self.context[Slot.OVERFLOW]:
                self.count = int(self.context[Slot.COUNT])
                return self
            self.candidates = self._with_room(4 * len(self.candidates.prints))


class BlockSearch(Search):
    """A search like the reference one, by compiled code.

    With several threads, blocks are expanded ahead by all but one of them, and stored in the order of the frontier by that one: what is
    found, counted and told is the same for any number of threads.
    """

    def __init__(
        self, model: Model, options: SearchOptions, compiled: Compiled, reduction: Reduction | None = None
    ) -> None:
        super().__init__(model, options, reduction)
        self.compiled = compiled
        self.rows = RowStore(compiled.layout, compiled.machine, model)
        self.store = self.rows  # type: ignore[assignment]
        threads = options.threads or os.cpu_count() or 1
        self._decisive: Marks = np.zeros(max(1, len(compiled.guards)), np.uint8)
        self._lanes = [Lane(compiled, self._decisive) for _ in range(max(1, min(threads, MOST_LANES)))]
        self._pool = ThreadPoolExecutor(threads - 1) if threads > 1 else None
        self._fresh = np.zeros(max(1, len(model.steps)), np.int64)
        self._taken = np.zeros(max(1, len(model.steps)), np.int64)
        self._hits = np.zeros_like(self._lanes[0].hits)
        self._handled: set[tuple[str, int]] = set()

    def run(self) -> None:
        """Search until everything is seen, something is violated, or a limit is reached."""
        try:
            super().run()
        finally:
            if self._pool is not None:
                self._pool.shutdown()
        for label, hits in zip(self.compiled.hits, self._hits.tolist(), strict=False):
            if hits:
                self.bounds[label] += hits
        for action, taken, fresh in zip(self.model.steps, self._taken.tolist(), self._fresh.tolist(), strict=False):
            self.taken[action.node.name] += taken
            self.fresh[action.node.name] += fresh
        for (action_name, label), decisive in zip(self.compiled.guards, self._decisive.tolist(), strict=False):
            if decisive:
                self.model.actions[action_name].decisive.add(label)

    def _levels(self) -> None:
        first, end = 0, len(self.rows)
        while first < end:
            self._decide_to_stop()
            self._level(first, end)
            first, end = end, len(self.rows)
            if first < end:
                self.depth += 1
            self._tell()

    def _level(self, first: int, end: int) -> None:
        """Expand all states of a level, block after block, the next blocks meanwhile in other threads."""
        blocks = [(at, min(end, at + BLOCK)) for at in range(first, end, BLOCK)]
        ahead: deque[Future[Lane]] = deque()
        free, next_block = list(self._lanes), 0
        try:
            for at, stop in blocks:
                while self._pool is not None and free and next_block < len(blocks):
                    rows = self.rows.rows[slice(*blocks[next_block])]
                    ahead.append(self._pool.submit(free.pop().expand, rows))
                    next_block += 1
                lane = ahead.popleft().result() if ahead else free.pop().expand(self.rows.rows[at:stop])
                self._finish(lane, at, stop, end)
                free.append(lane)
        finally:
            wait(ahead)

    def _finish(self, lane: Lane, at: int, stop: int, end: int) -> None:
        """Store what a block leads to; where the lane had no room for all of its rows, expand the rest of them."""
        while True:
            self._frontier = end - at
            self._heed_limits()
            self._store(lane, at)
            at += lane.done
            if at >= stop:
                return
            lane.expand(self.rows.rows[at:stop])

    def _heed_limits(self) -> None:
        super()._heed_limits()
        if self._frontier > 0:
            self._tell()

    def _store(self, lane: Lane, first: int) -> None:
        self.generated += lane.count
        self._hits += lane.hits
        self._decisive |= lane.decisive
        self._taken += np.bincount(lane.candidates.actions[: lane.count], minlength=len(self._taken))
        self._look_at_rows(lane, first)
        self._look_at_steps(lane, first)
        before = len(self.rows)
        try:
            self.rows.insert(lane.candidates, lane.count, first, self._fresh)
        except MemoryError as error:
            raise Stopped(f"there is no room for more states in level {self.depth}: {error}") from None
        lane.found_states[:] = NEVER
        self.compiled.machine.inspect(lane.context, self.rows.rows[before : len(self.rows)], before)
        self._look_at_states(lane)

    def offenders(self, name: str, first: int) -> Iterator[Finding]:
        """As in the reference search, looked for by compiled code."""
        return offenders(self, self.compiled, self.rows, name, first)

    # ---------------------------------------------------------------------------------------------- findings

    def _is_new(self, kind: str, at: int, position: int) -> bool:
        """Whether compiled code has noted something that was not looked at yet."""
        if position == NEVER or (kind, at) in self._handled:
            return False
        self._handled.add((kind, at))
        return True

    def _look_at_rows(self, lane: Lane, first: int) -> None:
        stuck, dead, terminal = (int(lane.context[slot]) for slot in (Slot.STUCK, Slot.DEAD, Slot.TERMINAL))
        if self._is_new("stuck", 0, stuck):
            action, arguments, outcome = self.rows.stuck(self.rows[first + stuck])
            self._stuck(first + stuck, action, arguments, outcome)
        for kind, position in (("terminal", terminal), ("dead", dead)):
            if self._is_new(kind, 0, position) and self._deadlock:
                self._look_at_dead(first + position, is_dead=kind == "dead")

    def _look_at_dead(self, number: int, *, is_dead: bool) -> None:
        state = self.rows[number]
        alive = next(self.rows.outcomes(state), None) is not None
        terminal = self.watch.is_terminal(number, state)
        if alive or (terminal if is_dead else DEFINED not in self.watch.found):
            raise EnginesDisagreeError(f"compiled code finds no way on where the reference evaluator does: {state}")
        if is_dead and DEADLOCK not in self.watch.found:
            self.watch.note_deadlock(number)

    def _look_at_steps(self, lane: Lane, first: int) -> None:
        for at, position in enumerate(lane.found_steps.tolist()):
            if self._is_new("step", at, position):
                number = first + int(lane.candidates.parents[position])
                see_steps(self, self.rows, number, self.compiled.layout.unpack(lane.candidates.rows[position]))
                self._require(self.compiled.steps[at // 2], at)

    def canonical(self, state: State) -> State:
        """The state that stands for a state in the store, by compiled code."""
        return state if self.reduction is None else representative(self.compiled, state)

    def _look_at_states(self, lane: Lane) -> None:
        for position, at in sorted((position, at) for at, position in enumerate(lane.found_states.tolist())):
            if self._is_new("state", at, position):
                self.watch.see_state(position, self.rows[position])
                self._require(self.compiled.states[at // 2], at)

    def _require(self, name: str, at: int) -> None:
        known = self.watch.undefined if at % 2 else self.watch.found
        if name not in known and name not in self.watch.found:
            raise EnginesDisagreeError(f"compiled code decides `{name}` where the reference evaluator does not")
