"""Walkers moved by compiled code."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from assay.checker.explicit.expansion.compiled_interface import Compiled
from assay.checker.explicit.expansion.single_states import Probe, Successors
from assay.checker.interpreter.compiled_model import Model
from assay.checker.layout.call_frame import NEVER, ContextSlot
from assay.checker.layout.row import Rows
from assay.checker.report import State
from assay.checker.search_interface.finding import DEADLOCK, DEFINED
from assay.checker.simulate.walkers import Positions, WalkerNotice


class CompiledWalkers:
    """Moves all walkers with one call; only the first findings of compiled code are confirmed by the reference
    evaluator."""

    def __init__(self, model: Model, compiled: Compiled) -> None:
        self.machine = compiled.machine
        self._model = model
        self._compiled = compiled
        self._probe = Probe(compiled)
        self._found: Successors | None = None

    def place(self, states: list[State]) -> Rows:
        """Walkers in these states."""
        return self._compiled.layout.pack_all(states)

    def state(self, batch: Rows, walker: int) -> State:
        """The state of a walker."""
        return self._compiled.layout.unpack(batch[walker])

    def expand(self, batch: Rows) -> tuple[Positions, Positions, list[WalkerNotice]]:
        """Every walker's successors."""
        found = self._found = self._probe.expand(batch)
        # Successors stand in the order of their parents, so numbers are enough to find those of a walker.
        counts = np.bincount(found.parents, minlength=len(batch)).astype(np.int64)
        claims = ((ContextSlot.STUCK, DEFINED), (ContextSlot.DEAD, DEADLOCK), (ContextSlot.TERMINAL, DEFINED))
        rows = [(self._probe.position(slot), name) for slot, name in claims]
        notices = [WalkerNotice(walker, None, name) for walker, name in rows if walker != NEVER]
        # A position is one among the successors: it tells the walker and the state after the step.
        for name, position in zip(_twice(self._compiled.steps), self._probe.false_steps(), strict=False):
            if position != NEVER:
                after = self._compiled.layout.unpack(found.rows[position])
                notices.append(WalkerNotice(int(found.parents[position]), after, name))
        return counts, found.actions.astype(np.int64), notices

    def move(self, positions: Positions) -> Rows:
        """Walkers in the successors at these positions."""
        assert self._found is not None
        # An index array makes a copy: the next expansion overwrites the arrays of this one.
        return self._found.rows[positions]

    def inspect(self, batch: Rows) -> list[WalkerNotice]:
        """The first walkers that decide each property."""
        found = zip(self._probe.decided(batch), _twice(self._compiled.states), strict=False)
        return [WalkerNotice(walker, None, name) for walker, name in sorted(found) if walker != NEVER]

    def prints(self, batch: Rows) -> list[int]:
        """The fingerprints of the rows."""
        return [int(mark) for mark in self._compiled.machine.prints(batch)]

    def bounds(self) -> Iterator[tuple[str, int]]:
        """How often each bound cut an instance."""
        yield from zip(self._compiled.hits, self._probe.hits.tolist(), strict=False)

    def note_coverage(self) -> None:
        """Report the decisive guards of compiled code to the model."""
        for (action, label), decisive in zip(self._compiled.guards, self._probe.decisive.tolist(), strict=False):
            if decisive:
                self._model.actions[action].decisive.add(label)


def _twice(names: tuple[str, ...]) -> list[str]:
    """The name of each finding: for each property where it is decided, and where it is undefined."""
    return [name for name in names for _ in range(2)]
