"""The state graph as far as behaviours depend on it: the targets of steps, their events, and the kind of each state.

Two states are of one kind if the same letters are true and false in them, and the same events enabled and cut off. Two
steps have one label if they are occurrences of the same events. There are few kinds and labels, and everything about
them is computed once. Stuttering steps are left out: every state can be kept for ever anyway. An event that a bound
cuts off counts as enabled for fairness, and as neither true nor false for ``enabled`` (docs/design/fairness-bounds.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.checker.interpreter.actions.outcome import Cut, Successor
from assay.checker.interpreter.compiled_model import Model, outcomes
from assay.checker.interpreter.expressions.frame import Frame
from assay.checker.interpreter.values.undefined import Undefined
from assay.checker.liveness.nnf import Enabled, StateCondition
from assay.checker.liveness.plan import Plan
from assay.checker.report import State
from assay.checker.search_interface.protocols import StateIndex
from assay.grammar.lazy_dataclass import dataclass

Numbers = npt.NDArray[Any]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Kind:
    """The common properties of states of one kind. They are the letters that are true or undefined, and the events that
    are enabled or cut off, by number.
    """

    true: frozenset[int]
    undefined: frozenset[int]
    enabled: frozenset[int]
    cut: frozenset[int]


@dataclass(frozen=True, slots=True)
class LabelledGraph:
    """The states 0 to n - 1, of which the first ``initial`` are initial, and the steps between them.

    The steps of state s are ``targets[starts[s] : starts[s + 1]]``; ``labels`` beside them are indices of ``events``,
    which are sets of event numbers. Label 0 is the empty set. ``kinds_of[s]`` is the kind of s. Steps to states that
    the search did not keep are missing.
    """

    initial: int
    starts: Numbers
    targets: Numbers
    labels: Numbers
    kinds_of: Numbers
    events: tuple[frozenset[int], ...]
    kinds: tuple[Kind, ...]

    def __len__(self) -> int:
        return len(self.kinds_of)


@dataclass(slots=True)
class Numbering:
    """Numbers for things, in the order in which they were first met."""

    numbers: dict[Any, int] = field(default_factory=dict)

    def number(self, thing: Any) -> int:
        """The number of a thing."""
        return self.numbers.setdefault(thing, len(self.numbers))


def reference_graph(model: Model, plan: Plan, store: StateIndex, initial: int) -> LabelledGraph:
    """The graph of the states in a store, by the reference evaluator."""
    return _Drawing(model, plan, store).graph(initial)


class _Drawing:
    def __init__(self, model: Model, plan: Plan, store: StateIndex) -> None:
        self._model = model
        self._plan = plan
        self._store = store
        self._conditions = [
            (at, model.meaning(letter.expr))
            for at, letter in enumerate(plan.letters)
            if isinstance(letter, StateCondition)
        ]
        self._steps = {action.node.name for action in model.steps}
        self._others = [
            model.actions[name] for name in {e.action for each in plan.events for e in each.members} - self._steps
        ]

    def graph(self, initial: int) -> LabelledGraph:
        kinds, labels = Numbering(), Numbering()
        # First, so that label 0 is no event: `BuchiProduct.steps` takes it for staying in a state.
        labels.number(frozenset())
        targets: list[int] = []
        label_numbers: list[int] = []
        starts, kinds_of = [0], []
        for state in self._store.states:
            kind, steps = self._look(state)
            kinds_of.append(kinds.number(kind))
            for target, events in steps.items():
                if target in self._store:
                    targets.append(self._store.number(target))
                    label_numbers.append(labels.number(frozenset(events)))
            starts.append(len(targets))
        return LabelledGraph(
            initial,
            np.array(starts, np.int64),
            np.array(targets, np.int64),
            np.array(label_numbers, np.int64),
            np.array(kinds_of, np.int64),
            tuple(labels.numbers),
            tuple(kinds.numbers),
        )

    def _look(self, state: State) -> tuple[Kind, dict[State, set[int]]]:
        """The kind of a state, and the events of the steps to each of its successors."""
        steps: dict[State, set[int]] = {}
        enabled: set[int] = set()
        cut: set[int] = set()
        of_others: list[tuple[State, set[int]]] = []
        for action, arguments, outcome in outcomes(self._model, state):
            events = self._events(action.node.name, arguments)
            if isinstance(outcome, Cut):
                cut |= events
            # A step that changes nothing is no occurrence: fairness would else be satisfied by doing nothing.
            elif isinstance(outcome, Successor) and outcome.state != state:
                enabled |= events
                # One step for each target: it is an occurrence of all instances that lead there.
                steps.setdefault(outcome.state, set()).update(events)
        for other in self._others:
            for arguments in other.instances:
                events = self._events(other.node.name, arguments)
                for outcome in other.outcomes(state, arguments):
                    if isinstance(outcome, Cut):
                        cut |= events
                    elif isinstance(outcome, Successor) and outcome.state != state:
                        enabled |= events
                        of_others.append((outcome.state, events))
        # An action outside of `next` makes no step, but a step that leads where it would is an occurrence of it.
        for target, events in of_others:
            if target in steps:
                steps[target] |= events
        return kind_of(self._plan, *self._values(state), enabled, cut), steps

    def _events(self, action: str, arguments: Sequence[Any]) -> set[int]:
        return {
            at
            for at, event in enumerate(self._plan.events)
            if any(each.action == action and each.matches(arguments) for each in event.members)
        }

    def _values(self, state: State) -> tuple[set[int], set[int]]:
        true: set[int] = set()
        undefined: set[int] = set()
        for at, holds in self._conditions:
            try:
                if holds(Frame(state)):
                    true.add(at)
            except Undefined:
                undefined.add(at)
        return true, undefined


def kind_of(
    plan: Plan, true: Iterable[int], undefined: Iterable[int], enabled: Iterable[int], cut: Iterable[int]
) -> Kind:
    """The kind of a state with these true and undefined conditions, and these enabled and cut events."""
    can, may = frozenset(enabled), frozenset(cut)
    letters = [
        at
        for at, letter in enumerate(plan.letters)
        if isinstance(letter, Enabled) and plan.events.index(letter.event) in can
    ]
    # An event with one instance cut and another one enabled is enabled.
    return Kind(frozenset([*true, *letters]), frozenset(undefined), can, may - can)
