"""Representatives of orbits in a compiled search (docs/design/symmetry-reduction.md)."""

from __future__ import annotations

from collections.abc import Callable

from assay.checker.explicit.confirmed_findings import ConfirmedFindings
from assay.checker.explicit.expansion.compiled_interface import Compiled
from assay.checker.explicit.store.row_store import RowStore
from assay.checker.interpreter.actions.outcome import Successor
from assay.checker.report import State
from assay.checker.search_interface.link import Link


def representative(compiled: Compiled, state: State) -> State:
    """The representative of a state's orbit, by compiled code."""
    row = compiled.layout.pack(state).reshape(1, -1)
    return compiled.layout.unpack(compiled.machine.canonical(row)[0])


def confirm_steps(
    watch: ConfirmedFindings, store: RowStore, number: int, after: State, canonical: Callable[[State], State] | None
) -> None:
    """Judge the step from a stored state to another; under reduction (``canonical``), all steps to states of the
    other's orbit."""
    state = store[number]
    if canonical is None:
        watch.confirm_step(number, state, store.step(state, after))
        return
    # Compiled code reports the representative, so every step to a state of that orbit may be the one that it means.
    for action, arguments, outcome in store.outcomes(state):
        if isinstance(outcome, Successor) and canonical(outcome.state) == after:
            watch.confirm_step(number, state, Link(action, arguments, outcome.picks).step(outcome.state))
