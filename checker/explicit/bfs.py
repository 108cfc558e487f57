"""Breadth-first search by blocks: expand, store what is new, check it. Level by level, in the order in which states were found.

The rules of the search (when it stops, what is a finding, how it is told) are those of the reference search. Compiled code only says at
which states and steps something is to be found first; the finding itself is made there by the reference evaluator.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.checker.evaluate.model import Model
from assay.checker.explicit.machine import Machine
from assay.checker.explicit.store import Candidates, EnginesDisagreeError, RowStore
from assay.checker.layout.context import NEVER, WORDS, Slot
from assay.checker.layout.row import RowLayout, Rows
from assay.checker.options import SearchOptions
from assay.checker.reference.bfs import Search
from assay.checker.reference.watch import DEADLOCK, DEFINED

BLOCK = 4096
"""How many states are expanded at once."""
ROOM = 1 << 16
"""How many successors there is room for at first."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """Compiled code with the names behind its arrays: bound labels, guards (action, label), properties of states and of steps."""

    machine: Machine
    layout: RowLayout
    hits: tuple[str, ...]
    guards: tuple[tuple[str, str], ...]
    states: tuple[str, ...]
    steps: tuple[str, ...]


class BlockSearch(Search):
    """A search like the reference one, by compiled code."""

    def __init__(self, model: Model, options: SearchOptions, compiled: Compiled) -> None:
        super().__init__(model, options)
        self.compiled = compiled
        self.rows = RowStore(compiled.layout, compiled.machine, model)
        self.store = self.rows  # type: ignore[assignment]
        self._hits = np.zeros(max(1, len(compiled.hits)), np.uint64)
        self._decisive = np.zeros(max(1, len(compiled.guards)), np.uint8)
        self._found_states = np.full(max(1, 2 * len(compiled.states)), NEVER, np.uint64)
        self._found_steps = np.full(max(1, 2 * len(compiled.steps)), NEVER, np.uint64)
        self._fresh = np.zeros(max(1, len(model.steps)), np.int64)
        self._taken = np.zeros(max(1, len(model.steps)), np.int64)
        self._handled: set[tuple[str, int]] = set()
        self._context = np.zeros(WORDS, np.uint64)
        self._context[[Slot.STUCK, Slot.DEAD, Slot.TERMINAL]] = NEVER
        self._context[Slot.HITS] = self._hits.ctypes.data
        self._context[Slot.DECISIVE] = self._decisive.ctypes.data
        self._context[Slot.STATES] = self._found_states.ctypes.data
        self._context[Slot.STEPS] = self._found_steps.ctypes.data
        self._candidates = self._with_room(ROOM)

    def run(self) -> None:
        """Search until everything is seen, something is violated, or a limit is reached."""
        initial_bounds = self.bounds
        super().run()
        for label, hits in zip(self.compiled.hits, self._hits.tolist(), strict=False):
            if hits:
                initial_bounds[label] += hits
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
        at = first
        while at < end:
            self._frontier = end - at
            self._heed_limits()
            at += self._block(at, min(end, at + BLOCK))

    def _heed_limits(self) -> None:
        super()._heed_limits()
        if self._frontier > 0:
            self._tell()

    def _with_room(self, room: int) -> Candidates:
        words = self.compiled.layout.words
        new = Candidates(
            np.empty((room, words), np.uint64), np.empty(room, np.uint64),
            np.empty(room, np.uint32), np.empty(room, np.uint32), np.empty(room, np.uint32),
        )  # fmt: skip
        for slot, array in (
            (Slot.ROWS, new.rows), (Slot.PRINTS, new.prints), (Slot.PARENTS, new.parents),
            (Slot.ORDINALS, new.ordinals), (Slot.ACTIONS, new.actions),
        ):  # fmt: skip
            self._context[slot] = array.ctypes.data
        self._context[Slot.CAPACITY] = room
        self._context[Slot.RESERVE] = room // 4
        return new

    def _block(self, first: int, end: int) -> int:
        """Expand states from ``first``; how many of them were."""
        done, count = self._expand_rows(self.rows.rows[first:end])
        self.generated += count
        self._taken += np.bincount(self._candidates.actions[:count], minlength=len(self._taken))
        self._look_at_rows(first, done)
        self._look_at_steps(first)
        before = len(self.rows)
        self.rows.insert(self._candidates, count, first, self._fresh)
        self.compiled.machine.inspect(self._context, self.rows.rows[before : len(self.rows)], before)
        self._look_at_states()
        return done

    def _expand_rows(self, rows: Rows) -> tuple[int, int]:
        """Fill the candidates; where one row alone has too many successors, forget the attempt and repeat it with more room."""
        arrays: tuple[npt.NDArray[Any], ...] = (self._context, self._hits, self._decisive, self._found_steps)
        while True:
            kept = [array.copy() for array in arrays]
            self._context[Slot.COUNT] = self._context[Slot.OVERFLOW] = 0
            done = self.compiled.machine.expand(self._context, rows)
            if not self._context[Slot.OVERFLOW]:
                return done, int(self._context[Slot.COUNT])
            for array, old in zip(arrays, kept, strict=True):
                array[:] = old
            self._candidates = self._with_room(4 * len(self._candidates.prints))

    # ---------------------------------------------------------------------------------------------- findings

    def _is_new(self, kind: str, at: int, position: int) -> bool:
        """Whether compiled code has noted something that was not looked at yet."""
        if position == NEVER or (kind, at) in self._handled:
            return False
        self._handled.add((kind, at))
        return True

    def _look_at_rows(self, first: int, done: int) -> None:
        stuck, dead, terminal = (int(self._context[slot]) for slot in (Slot.STUCK, Slot.DEAD, Slot.TERMINAL))
        if self._is_new("stuck", 0, stuck):
            action, arguments, outcome = self.rows.stuck(self.rows[first + stuck])
            self._stuck(first + stuck, action, arguments, outcome)
        for kind, position in (("terminal", terminal), ("dead", dead)):
            if self._is_new(kind, 0, position) and self._deadlock:
                assert position < done
                self._look_at_dead(first + position, is_dead=kind == "dead")

    def _look_at_dead(self, number: int, *, is_dead: bool) -> None:
        state = self.rows[number]
        alive = next(self.rows.outcomes(state), None) is not None
        terminal = self.watch.is_terminal(number, state)
        if alive or (terminal if is_dead else DEFINED not in self.watch.found):
            raise EnginesDisagreeError(f"compiled code finds no way on where the reference evaluator does: {state}")
        if is_dead and DEADLOCK not in self.watch.found:
            self.watch.note_deadlock(number)

    def _look_at_steps(self, first: int) -> None:
        for at, position in enumerate(self._found_steps.tolist()):
            if self._is_new("step", at, position):
                number = first + int(self._candidates.parents[position])
                state, after = self.rows[number], self.compiled.layout.unpack(self._candidates.rows[position])
                self.watch.see_step(number, state, self.rows.step(state, after))
                self._require(self.compiled.steps[at // 2], at)

    def _look_at_states(self) -> None:
        for position, at in sorted((position, at) for at, position in enumerate(self._found_states.tolist())):
            if self._is_new("state", at, position):
                self.watch.see_state(position, self.rows[position])
                self._require(self.compiled.states[at // 2], at)

    def _require(self, name: str, at: int) -> None:
        known = self.watch.undefined if at % 2 else self.watch.found
        if name not in known and name not in self.watch.found:
            raise EnginesDisagreeError(f"compiled code decides `{name}` where the reference evaluator does not")
