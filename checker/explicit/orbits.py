"""States that stand for others, in a search by compiled code (NOTE(symmetry))."""

from __future__ import annotations

from typing import Protocol

from assay.checker.evaluate.outcome import Successor
from assay.checker.explicit.machine import Machine
from assay.checker.explicit.store import RowStore
from assay.checker.layout.row import RowLayout
from assay.checker.reference.store import Link
from assay.checker.reference.watch import Watch
from assay.checker.symmetry.reduction import Reduction
from assay.checker.verdict import State


class Code(Protocol):
    """Compiled code with the layout of its rows."""

    @property
    def machine(self) -> Machine:
        """The code."""

    @property
    def layout(self) -> RowLayout:
        """The layout."""


class Reducing(Protocol):
    """What is needed of a search."""

    watch: Watch
    reduction: Reduction | None

    def canonical(self, state: State) -> State:
        """The state that stands for a state."""


def representative(code: Code, state: State) -> State:
    """The state that stands for a state, by compiled code."""
    row = code.layout.pack(state).reshape(1, -1)
    return code.layout.unpack(code.machine.canonical(row)[0])


def see_steps(search: Reducing, store: RowStore, number: int, after: State) -> None:
    """Look at the step from a state to a stored one; under reduction, at all steps to states for which that one stands."""
    state = store[number]
    if search.reduction is None:
        search.watch.see_step(number, state, store.step(state, after))
        return
    for action, arguments, outcome in store.outcomes(state):
        if isinstance(outcome, Successor) and search.canonical(outcome.state) == after:
            search.watch.see_step(number, state, Link(action, arguments, outcome.picks).step(outcome.state))
