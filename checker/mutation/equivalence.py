"""All changes of state of a small model, by direct evaluation: properties of states cannot distinguish models that have
the same."""

from __future__ import annotations

from assay.checker.interpreter.actions.outcome import Successor
from assay.checker.interpreter.compiled_model import Model
from assay.checker.interpreter.expressions.recursion_limit import deep_recursion
from assay.checker.report import State
from assay.grammar.kernel import Kernel

Change = tuple[State, State]


def changes(kernel: Kernel) -> frozenset[Change]:
    """The pairs of a reachable state and a different state that a step leads to. Cut steps are left out."""
    found: set[Change] = set()
    with deep_recursion(kernel):
        model = Model(kernel)
        seen = {outcome.state for outcome in model.init.outcomes() if isinstance(outcome, Successor)}
        pending = list(seen)
        while pending:
            state = pending.pop()
            for after in _successors(model, state):
                found.add((state, after))
                if after not in seen:
                    seen.add(after)
                    pending.append(after)
    return frozenset(found)


def _successors(model: Model, state: State) -> set[State]:
    outcomes = (
        outcome
        for action in model.steps
        for arguments in action.instances
        for outcome in action.outcomes(state, arguments)
    )
    return {outcome.state for outcome in outcomes if isinstance(outcome, Successor)} - {state}
