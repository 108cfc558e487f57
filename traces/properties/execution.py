"""Turns a path of the search into an execution, and checks the model's properties on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence, Set

from assay.checker.interpreter.expressions.traverse import variables_of
from assay.checker.interpreter.property_meaning import OF_STEPS
from assay.grammar import kernel as k
from assay.traces.event import Event
from assay.traces.properties.incremental_conditions import IncrementalCondition
from assay.traces.result import BrokenProperty, ExecutedStep, Execution
from assay.traces.search.path import UNLOGGED, SearchPath
from assay.traces.search.transition_system import TraceModel


def execution(model: TraceModel, path: SearchPath) -> Execution:
    """The execution that a path describes: one step for each hidden step, each action of an item, and each pure
    observation. A step with neither an event nor an action stands for unlogged ones: it may be any number of them.
    """
    state = model.states[path.root.node.state]
    initial, steps = state, []
    for move in path.moves():
        event = None if move.item is None else move.item.observation.event
        for own, taken in (*((None, taken) for taken in move.hidden), *((event, taken) for taken in move.taken)):
            state = model.states[taken.state]
            action = None if taken.action == UNLOGGED else taken.action
            steps.append(ExecutedStep(own, action, taken.arguments, state))
        if event is not None and not move.taken:
            steps.append(ExecutedStep(event, None, (), state))
    return Execution(initial, tuple(steps))


def hidden_steps(path: SearchPath) -> Counter[str]:
    """How often each hidden action was assumed."""
    return Counter(taken.action for move in path.moves() for taken in move.hidden)


def reordering(path: SearchPath) -> float:
    """By how many milliseconds, at most, an item was read after an item with a later line that changed the state.

    Inferred events have no line of their own, so they do not count.
    """
    latest, most = float("-inf"), 0.0
    for step in reversed(list(path.backwards())):
        item = None if step.move is None else step.move.item
        if step.before is not None and item is not None and not item.observation.event.is_inferred:
            most = max(most, latest - item.time)
            # A later line that changed nothing is no reordering: it may as well have been read afterwards.
            if step.node.state != step.before.node.state:
                latest = max(latest, item.time)
    return most


class PropertyChecker:
    """Checks the invariants and transitions of a model on one execution after another."""

    def __init__(self, model: TraceModel, properties: Iterable[k.Property], kinds: Set[str] = OF_STEPS) -> None:
        self._model = model
        self._conditions = [
            (prop, [(part.label, IncrementalCondition(model, part.condition)) for part in prop.conjuncts])
            for prop in properties
            if prop.kind in kinds
        ]

    def holds(self, now: int, before: int) -> bool:
        """Whether the properties hold in a state, and of a step to it; both states are given by number."""
        conditions = (condition for _, conjuncts in self._conditions for _, condition in conjuncts)
        return all(condition.holds(now, before) for condition in conditions)

    def broken(self, run: Execution) -> tuple[BrokenProperty, ...]:
        """The properties that are false in some state or on some step, each with its first violation."""
        # By number, so that equal steps are known again without a comparison of states.
        numbers = [self._model.number(run.initial), *(self._model.number(step.state) for step in run.steps)]
        unlogged = frozenset(at for at, step in enumerate(run.steps, 1) if step.event is None and step.action is None)
        found: list[BrokenProperty] = []
        for prop, conjuncts in self._conditions:
            on_steps = prop.kind == "transition"
            first = next(_breaches(conjuncts, numbers, unlogged, on_steps=on_steps), None)
            if first is not None:
                at, labels = first
                found.append(BrokenProperty(prop.name, prop.kind, prop.span, _event_at(run, at), labels))
        return tuple(found)


def _breaches(
    conjuncts: Sequence[tuple[str, IncrementalCondition]],
    numbers: Sequence[int],
    unlogged: Container[int],
    *,
    on_steps: bool,
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The positions at which a property is false, with the labels of its false conjuncts. Equal steps are evaluated
    once. What happened in an unlogged stretch is no single step.
    """
    asked: set[tuple[int, int]] = set()
    for at in range(on_steps, len(numbers)):
        now, before = numbers[at], numbers[at - 1] if on_steps else numbers[at]
        if on_steps and at in unlogged:
            continue
        if (now, before) in asked:  # most lines confirm the state and repeat an earlier step
            continue
        asked.add((now, before))
        false = tuple(label for label, condition in conjuncts if not condition.holds(now, before))
        if false:
            yield at, false


def _event_at(run: Execution, at: int) -> Event | None:
    """The event of the step to a position, or of the next step with one if that step is hidden; None in the initial
    state.
    """
    return next((step.event for step in run.steps[at - 1 :] if step.event is not None), None) if at else None


def speaks_of(prop: k.Property, names: Iterable[str]) -> bool:
    """Whether a property reads one of some variables."""
    return any(not variables_of(part.condition).isdisjoint(names) for part in prop.conjuncts)
