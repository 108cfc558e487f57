"""Where else an engine's states violate a property: each state, or the steps from it, evaluated again by the reference
evaluator."""

from __future__ import annotations

from collections.abc import Iterator

from assay.checker.explicit.confirmed_findings import ConfirmedFindings
from assay.checker.interpreter.actions.outcome import Successor
from assay.checker.interpreter.compiled_model import Model, outcomes
from assay.checker.report import State
from assay.checker.search_interface.finding import DEADLOCK, PropertyFinding
from assay.checker.search_interface.link import Link
from assay.checker.search_interface.protocols import ExploredStates


def violations_after(
    model: Model, watch: ConfirmedFindings, store: ExploredStates, name: str, first: int
) -> Iterator[PropertyFinding]:
    """One finding for each state with a number above ``first`` that violates a property, in the order of their
    numbers."""
    for number in range(first + 1, len(store)):
        finding = violation_at(model, watch, name, number, store.states[number])
        if finding is not None:
            yield finding


def violation_at(
    model: Model, watch: ConfirmedFindings, name: str, number: int, state: State
) -> PropertyFinding | None:
    """How a state, or the first step from it that does, violates a property; None if it does not."""
    if name == DEADLOCK:
        # Cuts and instances without a value are outcomes too: where there is one, the state is no deadlock.
        is_stopped = next(outcomes(model, state), None) is None
        return PropertyFinding(number) if is_stopped and not watch.is_terminal(number, state) else None
    if not watch.is_of_steps(name):
        return watch.violation_in(name, number, state)
    steps = (
        Link(action, arguments, outcome.picks).step(outcome.state)
        for action, arguments, outcome in outcomes(model, state)
        if isinstance(outcome, Successor)
    )
    findings = (watch.violation_on(name, number, state, step) for step in steps)
    return next((finding for finding in findings if finding is not None), None)
