"""The accepted execution, step by step, what it assumed, and the model's properties on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal

from assay.checker.evaluate.traverse import variables_of
from assay.grammar import kernel as k
from assay.traces.events import Event
from assay.traces.search.model import Model
from assay.traces.search.path import Path
from assay.traces.validation import BrokenProperty, ExecutedStep, Execution


def execution(model: Model, path: Path) -> Execution:
    """The execution that a path is."""
    state = model.states[path.root.node.state]
    initial, steps = state, []
    for move in path.moves():
        event = None if move.item is None else move.item.observation.event
        for own, taken in (*((None, taken) for taken in move.hidden), *((event, taken) for taken in move.taken)):
            state = model.states[taken.state]
            steps.append(ExecutedStep(own, taken.action, taken.arguments, state))
        if not move.taken:
            steps.append(ExecutedStep(event, None, (), state))
    return Execution(initial, tuple(steps))


def hidden_steps(path: Path) -> Counter[str]:
    """How often each hidden action was assumed to have happened."""
    return Counter(taken.action for move in path.moves() for taken in move.hidden)


def reordering(path: Path) -> float:
    """The most, in milliseconds, by which an item was read after one whose line is later and that changed the state."""
    latest, most = float("-inf"), 0.0
    for step in reversed(list(path.backwards())):
        if step.before is not None and step.move is not None and step.move.item is not None:
            most = max(most, latest - step.move.item.time)
            if step.node.state != step.before.node.state:
                latest = max(latest, step.move.item.time)
    return most


def broken_properties(
    model: Model, run: Execution, properties: Sequence[k.Property] | None = None
) -> tuple[BrokenProperty, ...]:
    """The invariants, lemmas and transitions that are false in a state or on a step; of each the first occurrence."""
    numbers = [model.number(run.initial), *(model.number(step.state) for step in run.steps)]
    found: list[BrokenProperty] = []
    for prop in model.kernel.properties if properties is None else properties:
        match prop.kind:
            case "invariant" | "lemma" | "transition":
                first = next(_breaches(model, prop, numbers), None)
                if first is not None:
                    at, labels = first
                    found.append(BrokenProperty(prop.name, prop.kind, prop.span, _event_at(run, at), labels))
            case "reachable" | "temporal" | "refinement":
                continue
    return tuple(found)


def _breaches(model: Model, prop: k.Property, numbers: Sequence[int]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The positions at which a property is false, with the labels of its false conjuncts.

    A conjunct is evaluated once for all steps that agree in what it reads: most steps of a cluster change nothing that it speaks of.
    """
    on_steps: Literal[0, 1] = 1 if prop.kind == "transition" else 0
    conjuncts = [_Conjunct(model, part) for part in prop.conjuncts]
    for at in range(on_steps, len(numbers)):
        now, before = numbers[at], numbers[at - 1] if on_steps else numbers[at]
        false = tuple(each.part.label for each in conjuncts if not each.holds(now, before))
        if false:
            yield at, false


class _Conjunct:
    """A part of a property, asked of one step after another."""

    def __init__(self, model: Model, part: k.Conjunct) -> None:
        self.part = part
        self._model = model
        self._reads = [model.meanings.scope.positions[name] for name in variables_of(part.condition)]
        self._known: dict[tuple[object, ...], bool] = {}

    def holds(self, now: int, before: int) -> bool:
        """Whether it holds on the step from one state to another."""
        states, read = self._model.states, self._reads
        key = tuple([states[now][i] for i in read] + [states[before][i] for i in read])
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._model.holds(self.part.condition, {}, now, before)
        return found


def _event_at(run: Execution, at: int) -> Event | None:
    """The event of the step to a position, or the next one after a hidden step; none in the initial state."""
    return next((step.event for step in run.steps[at - 1 :] if step.event is not None), None) if at else None
