"""Runs of the system itself, from paths over representatives of orbits (docs/design/symmetry-reduction.md)."""

from __future__ import annotations

from typing import Protocol

from assay.checker.interpreter.actions.outcome import Stuck, Successor
from assay.checker.interpreter.compiled_model import Model, outcomes
from assay.checker.interpreter.expressions.frame import Frame
from assay.checker.interpreter.values.undefined import Undefined
from assay.checker.options import SearchOptions
from assay.checker.report import State, Step, Trace
from assay.checker.results.show_instance import show_instance
from assay.checker.search_interface.finding import DEADLOCK, PropertyFinding
from assay.checker.search_interface.link import Link
from assay.checker.symmetry.reduction import Reduction


class Reduced(Protocol):
    """What is needed of a search: its model, and the representative of each state."""

    model: Model

    def canonical(self, state: State) -> State:
        """The representative of a state's orbit."""


def replayed(search: Reduced, reduction: Reduction, path: list[State], more: tuple[Step, ...]) -> Trace:
    """A run through the orbits of a path that ends in the path's last state, followed by further steps."""
    picks = search.model.init.reaching(path[0])
    assert picks is not None, "whether a state is initial does not depend on how elements are called"
    steps = [Step(None, (), picks, path[0])]
    for representative in path[1:]:
        # From the state that was reached, not from its representative: only so is it a run of the system.
        steps.append(_onward(search, steps[-1].state, representative))
    # The run ended somewhere in the orbit. Permuted as a whole it is a run too, and ends where it should.
    run = reduction.ending_in(steps, path[-1])
    return Trace((*run.steps, *more))


def confirmed(
    reduction: Reduction, options: SearchOptions, finding: PropertyFinding, run: Trace
) -> tuple[PropertyFinding, Trace] | None:
    """A finding that something is undefined without the reduction, in some state of the orbit, with the run to it; None
    if in none."""
    model = Model(reduction.kernel)
    for by in reduction.group:
        steps = tuple(reduction.step(step, by) for step in run.steps)
        # What was found on a step is about the last two states.
        before = steps[-2].state if finding.step is not None else ()
        found = _undefined(model, options, steps[-1].state, before)
        if found is not None:
            return found, Trace(steps)
    return None


def _undefined(model: Model, options: SearchOptions, state: State, before: State) -> PropertyFinding | None:
    """What is undefined in a state, or on the step to it, in the order in which a search looks."""
    kinds = {"transition"} if before else {"invariant", "lemma", "reachable"}
    checked = [p for p in model.kernel.properties if p.kind in kinds and options.selects(p.name)]
    named = [(f"{p.kind} `{p.name}`", p.conjuncts) for p in checked]
    if not before:
        found = list(outcomes(model, state))
        for action, arguments, outcome in found:
            if isinstance(outcome, Stuck):
                subject = f"the action `{show_instance(action.node, arguments, outcome.picks)}`"
                return PropertyFinding(0, undefined=outcome.message, span=outcome.span, subject=subject)
        if not found and options.check_deadlock and options.selects(DEADLOCK):
            # A search asks `terminal` only where no action is enabled.
            named += [(f"terminal `{each.label}`", (each,)) for each in model.kernel.terminal]
    for subject, conjuncts in named:
        try:
            all(model.meaning(each.condition)(Frame(state, before)) for each in conjuncts)
        except Undefined as undefined:
            return PropertyFinding(0, undefined=undefined.message, span=undefined.span, subject=subject)
    return None


def _onward(search: Reduced, state: State, representative: State) -> Step:
    for action, arguments, outcome in outcomes(search.model, state):
        if isinstance(outcome, Successor) and search.canonical(outcome.state) == representative:
            return Link(action, arguments, outcome.picks).step(outcome.state)
    raise AssertionError("no step into that orbit")
