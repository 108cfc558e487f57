"""Runs that an engine reports as violations, replayed and judged by the reference evaluator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise

from assay.checker.interpreter.actions.outcome import Successor
from assay.checker.interpreter.compiled_model import Model, outcomes
from assay.checker.interpreter.values.undefined import Undefined
from assay.checker.liveness import fairness_advice
from assay.checker.liveness.lasso import Lasso
from assay.checker.liveness.lasso_semantics import Run
from assay.checker.report import EnginesDisagreeError, State, Step, Trace
from assay.checker.search_interface.link import Link
from assay.grammar import kernel as k
from assay.grammar.diagnostics.diagnostic import Span
from assay.grammar.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A fair run that violates a property: the conjunct that is false on it, and remarks for the user."""

    trace: Trace
    conjunct: k.Conjunct
    reason: str
    remarks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WithoutValue:
    """A property is undefined in the state with this number."""

    state: int
    message: str
    span: Span | None


@dataclass(frozen=True, slots=True)
class NotViolated:
    """No fair run of the graph violates the property. ``vacuous`` is the reason, if any, why that means little.

    ``empty``: the graph has no fair run at all, because a bound or a limit cut it off.
    """

    vacuous: str | None = None
    empty: bool = False


Decision = Counterexample | WithoutValue | NotViolated
Decisions = Mapping[str, Decision]
"""Decisions by property name; a property without a decision is missing."""


MOST_IDLE = 50
"""Of so many steps at which nothing happens it is asked whether they are needed; each takes an evaluation of the run."""


def confirmed(
    model: Model, node: k.Property, lasso: Lasso, state: Callable[[int], State]
) -> Counterexample | WithoutValue:
    """The judgement on a run that is reported to violate a property; ``state`` gives the state of a number.

    Of the steps at which nothing happens those are kept without which the property would hold: an `occurs` can tell.
    Raises ``EnginesDisagreeError`` if it is no run, not fair, or does not violate the property.
    """
    # Only `occurs` can tell steps at which nothing happens, so the run without them is tried first.
    found = _judged(model, node, lasso.moving(), state)
    if found is not None:
        return found
    found = _judged(model, node, lasso, state)
    if found is None:
        raise EnginesDisagreeError(
            f"a run is said to violate `{node.name}`, and the reference evaluator does not agree"
        )
    # From the back, so that places before the one that is left out keep their numbers.
    for at in reversed(lasso.idle()[:MOST_IDLE]):
        shorter = _judged(model, node, lasso.without(at), state)
        if isinstance(shorter, Counterexample):
            lasso, found = lasso.without(at), shorter
    return found


def _judged(
    model: Model, node: k.Property, lasso: Lasso, state: Callable[[int], State]
) -> Counterexample | WithoutValue | None:
    """The judgement on a run; None if it does not violate the property, or is not fair."""
    run = Run(model, _trace(model, lasso, state))
    try:
        conjunct = run.first_false(node)
    except Undefined as undefined:
        return WithoutValue(lasso.states[-1], undefined.message, undefined.span)
    if conjunct is None or run.unfair():
        return None
    return Counterexample(run.trace, conjunct, fairness_advice.reason(run, conjunct), fairness_advice.remarks(run))


def _trace(model: Model, lasso: Lasso, state: Callable[[int], State]) -> Trace:
    states = [state(number) for number in lasso.states]
    steps = [_first(model, states[0]), *(_step(model, before, after) for before, after in pairwise(states))]
    return Trace(tuple(steps), lasso.loop)


def _first(model: Model, state: State) -> Step:
    for outcome in model.init.outcomes():
        if isinstance(outcome, Successor) and outcome.state == state:
            return Step(None, (), outcome.picks, state)
    raise EnginesDisagreeError(f"a run begins where the reference evaluator does not: {state}")


def _step(model: Model, before: State, after: State) -> Step:
    if before == after:
        return Step(None, (), (), after)
    for action, arguments, outcome in outcomes(model, before):
        if isinstance(outcome, Successor) and outcome.state == after:
            return Link(action, arguments, outcome.picks).step(after)
    raise EnginesDisagreeError(f"a run goes on as the reference evaluator does not: {before} to {after}")
