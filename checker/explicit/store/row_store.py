"""The states of a search by number, unpacked on demand, and paths to them replayed by the reference evaluator."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from itertools import pairwise

import numpy as np

from assay.checker.explicit.store.levels import Levels
from assay.checker.interpreter.actions.action import ActionMeaning, Arguments
from assay.checker.interpreter.actions.outcome import Outcome, Picks, Stuck, Successor
from assay.checker.interpreter.compiled_model import Model, outcomes
from assay.checker.layout.row import RowLayout, Rows
from assay.checker.report import EnginesDisagreeError, State, Step, Trace
from assay.checker.search_interface.link import Link
from assay.grammar.lazy_dataclass import dataclass


def _joined(pieces: list[Rows]) -> Rows:
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)


@dataclass(slots=True)
class RowStore:
    """Distinct states by number. ``add`` takes the initial ones; all others are written into ``levels``."""

    layout: RowLayout
    model: Model
    levels: Levels
    _initial: set[bytes] = field(default_factory=set)

    def __len__(self) -> int:
        return len(self.levels)

    @property
    def states(self) -> RowStore:
        """The states by number."""
        return self

    def __getitem__(self, number: int) -> State:
        return self.layout.unpack(self.levels.row(*self.levels.place(number)))

    def every(self) -> Iterator[State]:
        """All states, in the order of their numbers."""
        return (self.layout.unpack(row) for rows in self.levels.every_row() for row in rows)

    def blocks(self, first: int, size: int) -> Iterator[tuple[int, Rows]]:
        """The rows from a number on in blocks of at most ``size``, each with the number of its first row."""
        waiting: list[Rows] = []
        begin = count = 0
        for number, rows in self._pieces(first, size):
            # Small levels are put together, for each block has a cost.
            if waiting and count + len(rows) > size:
                yield begin, _joined(waiting)
                waiting, count = [], 0
            begin = begin if waiting else number
            # What waits is copied, so that the file of its level need not stay open.
            waiting.append(rows if len(rows) == size else rows.copy())
            count += len(rows)
        if waiting:
            yield begin, _joined(waiting)

    def _pieces(self, first: int, size: int) -> Iterator[tuple[int, Rows]]:
        """The same in pieces that end with the chunks of a level."""
        number = 0
        for rows in self.levels.every_row():
            for begin in range(max(0, first - number), len(rows), size):
                yield number + begin, rows[begin : begin + size]
            number += len(rows)

    def __contains__(self, state: State) -> bool:
        """Whether it was added as an initial state."""
        return self.layout.pack(state).tobytes() in self._initial

    def add(self, state: State, parent: int, link: Link | Picks) -> int:
        """Store a new initial state and return its number. Its picks are found again when a path begins with it."""
        assert parent < 0, link
        row = self.layout.pack(state)
        stage, at = self.levels.stage(1), self.levels.staged
        # As level files have it for initial states (docs/level-files.md).
        stage.rows[at], stage.parents[at], stage.actions[at] = row, 0, 0
        self.levels.commit(1)
        self._initial.add(row.tobytes())
        return len(self.levels) - 1

    def forget_initial(self) -> None:
        """No more initial states are added."""
        self._initial.clear()

    # ------------------------------------------------------------------------------------------------ replay

    def outcomes(self, state: State) -> Iterator[tuple[ActionMeaning, Arguments, Outcome]]:
        """Every outcome in a state, by the reference evaluator."""
        return outcomes(self.model, state)

    def step(self, state: State, after: State) -> Step:
        """The first step of the reference evaluator from one state to another."""
        # The stored action is not asked. What is shown is the first step of the evaluator between the two states.
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
        """The states on the path to a state, the initial one first."""
        return [self.layout.unpack(np.asarray(row)) for row in self.levels.path(number)]

    def trace(self, number: int, *more: Step) -> Trace:
        """The path to a state, each step made by the reference evaluator, followed by further steps."""
        states = self.path(number)
        steps = [self._first(states[0])]
        steps.extend(self.step(before, after) for before, after in pairwise(states))
        return Trace((*steps, *more))

    def _first(self, state: State) -> Step:
        picks = self.model.init.reaching(state)
        if picks is None:
            raise EnginesDisagreeError(f"a path begins where the reference evaluator does not: {state}")
        return Step(None, (), picks, state)
