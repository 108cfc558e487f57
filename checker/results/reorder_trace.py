"""Counterexamples that are easier to read: among the possible orders of a run's steps, one with the fewest changes of
the actor.

The actor of a step is its first argument that is an element of a set parameter: the broker, process or node. A step
without such an argument continues with the previous actor. The steps stay the same, and so do their number and the
final state.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import pairwise

from assay.checker.interpreter.actions.outcome import Successor
from assay.checker.interpreter.compiled_model import Model
from assay.checker.report import State, Step, Trace
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Atom, Value

MOST_INSTANCES = 20_000
"""How often an action instance is tried before the run is left as it is: about a second."""


@dataclass(frozen=True, slots=True)
class _Place:
    """A node of the search for an order: the steps taken, as bits and in order, the state, and the last actor."""

    done: int
    order: tuple[int, ...]
    state: State
    actor: Value


def actor(step: Step) -> Value:
    """The actor of a step; None if it names nobody."""
    return next((value for _, value in step.arguments if isinstance(value, Atom)), None)


def changes(trace: Trace) -> int:
    """How often the actor changes from one step to the next."""
    named = [who for who in map(actor, trace.steps[1:]) if who is not None]
    return sum(a != b for a, b in pairwise(named))


def fewest_changes(model: Model, trace: Trace, *, pinned: bool = False) -> Trace:
    """The run with its steps in an order with the fewest changes; of several the first, comparing the steps from the
    start.

    With ``pinned`` the last step stays last, so that what a violated `transition` says about it stays true.
    """
    movable, last = (trace.steps[1:-1], trace.steps[-1:]) if pinned else (trace.steps[1:], ())
    # Two steps in another order have as many changes.
    if len(movable) < 3 or not changes(trace):
        return trace
    start = trace.steps[0]
    order = _best_order(model, start.state, movable)
    return trace if order is None else Trace((start, *_replayed(model, start.state, movable, order), *last))


def _best_order(model: Model, start: State, steps: tuple[Step, ...]) -> tuple[int, ...] | None:
    """The cheapest order, by Dijkstra's algorithm: nodes are visited in order of their cost."""
    budget = MOST_INSTANCES
    # Orders differ in all entries, so among equal costs the first order wins, and places are never compared.
    waiting: list[tuple[int, tuple[int, ...], _Place]] = [(0, (), _Place(0, (), start, None))]
    visited: set[tuple[int, State, Value]] = set()
    while waiting:
        cost, _, place = heappop(waiting)
        if len(place.order) == len(steps):
            # Another order may lead elsewhere; the run has to end in the state that was found.
            if place.state == steps[-1].state:
                return place.order
            continue
        # The order of the steps so far does not matter for what follows, only which ones they are.
        if (place.done, place.state, place.actor) in visited:
            continue
        visited.add((place.done, place.state, place.actor))
        # Each place tries every remaining step, and a try evaluates an action.
        budget -= len(steps)
        if budget < 0:
            return None
        for more, after in _onward(model, place, steps):
            heappush(waiting, (cost + more, after.order, after))
    return None


def _onward(model: Model, place: _Place, steps: tuple[Step, ...]) -> Iterator[tuple[int, _Place]]:
    for at, step in enumerate(steps):
        state = None if place.done >> at & 1 else taken_again(model, place.state, step)
        if state is None:
            continue
        who = actor(step)
        # A step of nobody is free, and leaves the actor as it was.
        cost = int(None not in {who, place.actor} and who != place.actor)
        yield cost, _Place(place.done | 1 << at, (*place.order, at), state, place.actor if who is None else who)


def taken_again(model: Model, state: State, step: Step) -> State | None:
    """The state after the same instance, with the same picks, in another state."""
    action = model.actions[step.action or ""]
    found = action.outcomes(state, tuple(value for _, value in step.arguments))
    return next((each.state for each in found if isinstance(each, Successor) and each.picks == step.picks), None)


def _replayed(model: Model, state: State, steps: tuple[Step, ...], order: tuple[int, ...]) -> Iterator[Step]:
    for at in order:
        after = taken_again(model, state, steps[at])
        assert after is not None
        yield Step(steps[at].action, steps[at].arguments, steps[at].picks, after)
        state = after
