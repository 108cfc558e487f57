"""The crowd of compiled code."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from assay.checker.evaluate.model import Model
from assay.checker.explicit.machine import Compiled
from assay.checker.explicit.probe import Probe, Successors
from assay.checker.layout.context import NEVER, Slot
from assay.checker.layout.row import Rows
from assay.checker.simulate.crowd import Notice, Positions
from assay.checker.verdict import State


class CompiledCrowd:
    """Moves all walkers with one call; only what compiled code finds first is given to the reference evaluator to look at."""

    def __init__(self, model: Model, compiled: Compiled) -> None:
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

    def expand(self, batch: Rows) -> tuple[Positions, Positions, list[Notice]]:
        """Every walker's successors."""
        found = self._found = self._probe.expand(batch)
        counts = np.bincount(found.parents, minlength=len(batch)).astype(np.int64)
        positions = [self._probe.position(slot) for slot in (Slot.STUCK, Slot.DEAD, Slot.TERMINAL)]
        notices = [Notice(walker) for walker in positions if walker != NEVER]
        for position in self._probe.false_steps()[: 2 * len(self._compiled.steps)]:
            if position != NEVER:
                after = self._compiled.layout.unpack(found.rows[position])
                notices.append(Notice(int(found.parents[position]), after))
        return counts, found.actions.astype(np.int64), notices

    def move(self, positions: Positions) -> Rows:
        """Walkers in the successors at these positions."""
        assert self._found is not None
        return self._found.rows[positions]

    def inspect(self, batch: Rows) -> list[Notice]:
        """The first walkers by property."""
        found = self._probe.decided(batch)[: 2 * len(self._compiled.states)]
        return [Notice(walker) for walker in sorted(set(found)) if walker != NEVER]

    def prints(self, batch: Rows) -> list[int]:
        """The fingerprints of the rows."""
        return [int(mark) for mark in self._compiled.machine.prints(batch)]

    def bounds(self) -> Iterator[tuple[str, int]]:
        """How often each bound cut an instance."""
        yield from zip(self._compiled.hits, self._probe.hits.tolist(), strict=False)

    def note_coverage(self) -> None:
        """Tell the model what compiled code noted."""
        for (action, label), decisive in zip(self._compiled.guards, self._probe.decisive.tolist(), strict=False):
            if decisive:
                self._model.actions[action].decisive.add(label)
