"""An object as a table: what each distinct call does in each state, by the reference evaluator, when it is first asked.

A state of the table is a set of states of the model: those in which the object may be, after hidden steps and choices.
So the search never has to guess which of several effects a call had.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from assay.grammar import kernel as k
from assay.grammar.lazy_dataclass import dataclass
from assay.traces.calls.call import BoundCall
from assay.traces.calls.wing_gong import ILLEGAL
from assay.traces.observe.partial_order import OrderedObservation
from assay.traces.search.path import Move
from assay.traces.search.transition_system import Taken, TraceModel


class _Reached(NamedTuple):
    """A state of the model, and the hidden steps to it."""

    state: int
    hidden: tuple[Taken, ...]


@dataclass(frozen=True, slots=True)
class CallKind:
    """Calls that have the same effects: an example, and whether they never change a state."""

    example: OrderedObservation
    changes_nothing: bool


class ObjectStates:
    """The table of one object, which grows as it is asked."""

    def __init__(self, model: TraceModel) -> None:
        self.model = model
        self.kinds: list[CallKind] = []
        self.budget_reached = False
        self._numbers: dict[tuple[str, int, tuple[object, ...]], int] = {}
        self._sets: list[tuple[int, ...]] = []
        self._set_numbers: dict[tuple[int, ...], int] = {}
        self.initial = self.number(model.initial)

    def number(self, states: Sequence[int]) -> int:
        """The number of a set of states of the model."""
        # Sorted, for a set that is reached in another order is the same state of the table.
        key = tuple(sorted(set(states)))
        found = self._set_numbers.get(key)
        if found is None:
            found = self._set_numbers[key] = len(self._sets)
            self._sets.append(key)
        return found

    def states(self, number: int) -> tuple[int, ...]:
        """The states of the model in a set."""
        return self._sets[number]

    def kind(self, call: BoundCall) -> int:
        """The number of a call's kind: those of one rule with the same values are of one kind."""
        rule, bound = call.observation.rule, call.observation.bound
        # A rule without its results has the label of the whole one and fewer fields.
        key = (rule.label, len(rule.fields), tuple(bound.values()))
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = len(self.kinds)
            item = OrderedObservation(found, call.observation, 0, found, 0.0, 0.0, 0.0)
            self.kinds.append(CallKind(item, changes_nothing(self.model.kernel, rule)))
        return found

    def after(self, number: int, kind: int) -> int:
        """The set of states after a call; ``ILLEGAL`` if it is possible in none."""
        item = self.kinds[kind].example
        reached = {
            after
            for state in self._sets[number]
            for begun in self._hidden(state)
            for after, _ in self.model.consume(item, begun.state)
        }
        return self.number(tuple(reached)) if reached else ILLEGAL

    def _hidden(self, state: int) -> Iterator[_Reached]:
        """The states that hidden steps lead to, nearest first, as many steps as the clause allows."""
        yield _Reached(state, ())
        if not self.model.plan.hidden:
            return
        seen, level = {state}, [_Reached(state, ())]
        for _ in range(self.model.plan.hidden_limit):
            level = [
                _Reached(step.state, (*each.hidden, step))
                for each in level
                for step in self.model.hidden(each.state)
                if not (step.state in seen or seen.add(step.state))  # type: ignore[func-returns-value]
            ]
            yield from level
        # More hidden steps would lead further. So a refutation proves nothing from here on (`_doubt` in `decide.py`).
        self.budget_reached |= any(step.state not in seen for each in level for step in self.model.hidden(each.state))

    def moves(self, items: Sequence[OrderedObservation], kinds: Sequence[int]) -> tuple[int, list[Move], list[int]]:
        """The steps of a linearization, the last first chosen: the initial state, the moves, and the states after
        them.
        """
        # Forward by sets, then backward from one of the last states: each state of a set has some state before it that
        # leads there, but not each leads on.
        sets = [self.initial]
        for kind in kinds:
            sets.append(self.after(sets[-1], kind))
        state = self._sets[sets[-1]][0]
        moves, states = list[Move](), list[int]()
        for at in range(len(items) - 1, -1, -1):
            states.append(state)
            state, move = self._back(self._sets[sets[at]], kinds[at], items[at], state)
            moves.append(move)
        return state, moves[::-1], states[::-1]

    def _back(self, before: Sequence[int], kind: int, item: OrderedObservation, wanted: int) -> tuple[int, Move]:
        for state in before:
            for begun in self._hidden(state):
                for after, taken in self.model.consume(self.kinds[kind].example, begun.state):
                    if after == wanted:
                        return state, Move(begun.hidden, item, taken)
        raise AssertionError(wanted)

    def everywhere(self, most: int) -> int | None:
        """The set of all states that any calls of these kinds lead to; None if that takes more than ``most`` effects."""
        # More states than any order of the calls reaches, because each kind is taken any number of times. What none of
        # them explains, no state before does.
        seen = set(self._sets[self.initial])
        pending = list(seen)
        while pending:
            state = pending.pop()
            for kind in self.kinds:
                for begun in self._hidden(state):
                    for after, _ in self.model.consume(kind.example, begun.state):
                        if after not in seen:
                            seen.add(after)
                            pending.append(after)
            if len(seen) * len(self.kinds) > most:
                return None
        return self.number(tuple(seen))


def changes_nothing(kernel: k.Kernel, rule: k.TraceRule) -> bool:
    """Whether the steps of a rule assign nothing."""
    called = {call.action for step in rule.steps for call in step}
    return all(not _assigns(kernel.action(name).body) for name in called)


def _assigns(body: Sequence[k.Statement]) -> bool:
    for statement in body:
        match statement:
            case k.Assign():
                return True
            case k.If(_, then, otherwise) if _assigns((*then, *otherwise)):
                return True
            case k.For(_, _, inside) if _assigns(inside):
                return True
            case _:
                continue
    return False
