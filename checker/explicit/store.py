"""The states that a search has found, as rows in the order in which they were found, each with its predecessor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from assay.checker.evaluate.action import ActionMeaning, Arguments
from assay.checker.evaluate.model import Model, outcomes
from assay.checker.evaluate.outcome import Outcome, Picks, Stuck, Successor
from assay.checker.explicit.machine import Machine
from assay.checker.explicit.table import find, insert, rehash
from assay.checker.layout.row import RowLayout, Rows
from assay.checker.reference.store import Link
from assay.checker.verdict import State, Step, Trace

A = TypeVar("A", bound=np.generic)

Words32 = npt.NDArray[np.uint32]

NO_PARENT = (1 << 32) - 1
"""Also the limit of the number of states."""
LOAD = 0.55
SMALL = 1 << 23
EXACT_LIMIT = 1 << 22
"""Up to this many states, states of equal fingerprints are compared word by word."""


class EnginesDisagreeError(Exception):
    """Compiled code and the reference evaluator do not agree about a state: one of them is wrong."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """Successors as compiled code writes them: rows, fingerprints, and by position predecessor and action."""

    rows: Rows
    prints: Rows
    parents: Words32
    actions: Words32


@dataclass(slots=True)
class RowStore:
    """Distinct states by number. ``exact`` until there are more than ``exact_limit``; from then on fingerprints alone decide."""

    layout: RowLayout
    machine: Machine
    model: Model
    exact_limit: int = EXACT_LIMIT
    count: int = 0
    rows: Rows = field(init=False)
    parents: Words32 = field(init=False)
    _slots: Rows = field(init=False)
    _numbers: Words32 = field(init=False)
    _picks: dict[int, Picks] = field(default_factory=dict)

    def __post_init__(self) -> None:
        room = 1 << 14
        self.rows = np.zeros((room, self.layout.words), np.uint64)
        self.parents = np.zeros(room, np.uint32)
        self._slots = np.zeros(2 * room, np.uint64)
        self._numbers = np.zeros(2 * room, np.uint32)

    def __len__(self) -> int:
        return self.count

    @property
    def exact(self) -> bool:
        """Whether rows are compared."""
        return self.count <= self.exact_limit

    @property
    def collision(self) -> float:
        """An upper bound of the probability that two states were taken for one."""
        return 0.0 if self.exact else self.count * self.count / 2.0**65

    @property
    def states(self) -> RowStore:
        """The states by number, unpacked when asked for."""
        return self

    def __getitem__(self, number: int) -> State:
        return self.layout.unpack(self.rows[number])

    def blocks(self, first: int, size: int) -> Iterator[tuple[int, Rows]]:
        """The rows of the states from a number on, up to so many at a time, each time with the number of the first."""
        for begin in range(first, self.count, size):
            yield begin, self.rows[begin : min(self.count, begin + size)]

    def __contains__(self, state: State) -> bool:
        row = self.layout.pack(state).reshape(1, -1)
        return bool(find(row, self.machine.prints(row)[0], self._slots, self._numbers, self.rows) >= 0)

    def add(self, state: State, parent: int, link: Link | Picks) -> int:
        """Store a new initial state with its picks; its number."""
        assert parent < 0
        assert not isinstance(link, Link)
        rows = self.layout.pack(state).reshape(1, -1)
        zero = np.zeros(1, np.uint32)
        number = self.count
        self.insert(Candidates(rows, self.machine.prints(rows), zero, zero), 1, 0, np.zeros(1, np.int64))
        self.parents[number] = NO_PARENT
        self._picks[number] = link
        return number

    def insert(self, new: Candidates, n: int, base: int, fresh: npt.NDArray[np.int64]) -> None:
        """Store those of the first ``n`` candidates that are new; ``fresh`` counts them by action."""
        self._make_room(n)
        self.count = insert(
            new.rows, new.prints, new.parents, new.actions, n, base, self._slots, self._numbers,
            self.rows, self.parents, self.count, fresh, self.exact,
        )  # fmt: skip

    def _make_room(self, n: int) -> None:
        wanted = self.count + n
        if wanted >= NO_PARENT:
            raise MemoryError("more than 4,294,967,294 states")
        if wanted > len(self.rows):
            room = max(wanted, _growth(len(self.rows)) * len(self.rows))
            self.rows = _grown(self.rows, (room, self.layout.words), self.count)
            self.parents = _grown(self.parents, (room,), self.count)
        size = len(self._slots)
        while wanted > LOAD * size:
            size *= _growth(size)
        if size > len(self._slots):
            slots, numbers = np.zeros(size, np.uint64), np.zeros(size, np.uint32)
            rehash(self._slots, self._numbers, slots, numbers)
            self._slots, self._numbers = slots, numbers

    # ------------------------------------------------------------------------------------------------ replay

    def outcomes(self, state: State) -> Iterator[tuple[ActionMeaning, Arguments, Outcome]]:
        """Everything that the reference evaluator says can happen in a state."""
        return outcomes(self.model, state)

    def step(self, state: State, after: State) -> Step:
        """The first step of the reference evaluator from one state to another."""
        for action, arguments, outcome in self.outcomes(state):
            if isinstance(outcome, Successor) and outcome.state == after:
                return Link(action, arguments, outcome.picks).step(after)
        raise EnginesDisagreeError(
            f"compiled code makes a step that the reference evaluator does not: {state} to {after}"
        )

    def stuck(self, state: State) -> tuple[ActionMeaning, Arguments, Stuck]:
        """The first instance that has no value in a state."""
        for action, arguments, outcome in self.outcomes(state):
            if isinstance(outcome, Stuck):
                return action, arguments, outcome
        raise EnginesDisagreeError(
            f"compiled code finds something undefined where the reference evaluator does not: {state}"
        )

    def path(self, number: int) -> list[State]:
        """The states on the way to a state, the first one initial."""
        return [self[each] for each in self._path(number)]

    def _path(self, number: int) -> list[int]:
        path = [number]
        while (parent := int(self.parents[path[-1]])) != NO_PARENT:
            path.append(parent)
        return path[::-1]

    def trace(self, number: int, *more: Step) -> Trace:
        """The path to a state, every step of it made by the reference evaluator, and further steps after it."""
        path = self._path(number)
        states = [self[each] for each in path]
        steps = [Step(None, (), self._picks[path[0]], states[0])]
        steps.extend(self.step(before, after) for before, after in pairwise(states))
        return Trace((*steps, *more))


def _growth(size: int) -> int:
    """Small arrays grow fast, because each growth visits everything; large ones slowly, because memory is what they take."""
    return 4 if size < SMALL else 2


def _grown(array: npt.NDArray[A], shape: tuple[int, ...], used: int) -> npt.NDArray[A]:
    larger = np.empty(shape, array.dtype)
    larger[:used] = array[:used]
    return larger
