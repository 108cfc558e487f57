"""Representatives of orbits in a compiled search (docs/design/symmetry-reduction.md)."""

from __future__ import annotations

from assay.checker.explicit.expansion.compiled_interface import Compiled
from assay.checker.explicit.store.row_store import RowStore
from assay.checker.interpreter.actions.outcome import Successor
from assay.checker.reference.bfs import Search
from assay.checker.reference.state_store import Link
from assay.checker.report import State


def representative(compiled: Compiled, state: State) -> State:
    """The representative of a state's orbit, by compiled code."""
    row = compiled.layout.pack(state).reshape(1, -1)
    return compiled.layout.unpack(compiled.machine.canonical(row)[0])


def see_steps(search: Search, store: RowStore, number: int, after: State) -> None:
    """Judge the step from a stored state to another; under reduction, all steps to states of the other's orbit."""
    state = store[number]
    if search.reduction is None:
        search.watch.see_step(number, state, store.step(state, after))
        return
    for action, arguments, outcome in store.outcomes(state):
        if isinstance(outcome, Successor) and search.canonical(outcome.state) == after:
            search.watch.see_step(number, state, Link(action, arguments, outcome.picks).step(outcome.state))
