"""The states that a bounded search knows by name: those of the levels that it listed, and those on the runs that a
solver found."""

from __future__ import annotations

from assay.checker.interpreter.actions.outcome import Picks
from assay.checker.report import State, Step, Trace
from assay.checker.search_interface.link import Link


class FoundPaths:
    """Distinct states by number, each with the step that led to it first. All are made by the reference evaluator."""

    def __init__(self) -> None:
        self.states: list[State] = []
        self._reached: list[tuple[int, Link | Picks]] = []
        self._number_of: dict[State, int] = {}

    def __len__(self) -> int:
        return len(self.states)

    def __contains__(self, state: State) -> bool:
        return state in self._number_of

    def number(self, state: State) -> int:
        """The number of a state; raises KeyError if it is not known."""
        return self._number_of[state]

    def add_initial(self, state: State, picks: Picks) -> int:
        """Store a new initial state with the picks that make it; its number."""
        return self._add(state, -1, picks)

    def add_step(self, before: int, link: Link, state: State) -> int:
        """Store a new state, with the instance that leads to it from the state of the number ``before``; its number."""
        return self._add(state, before, link)

    def _add(self, state: State, before: int, how: Link | Picks) -> int:
        self._number_of[state] = number = len(self.states)
        self.states.append(state)
        self._reached.append((before, how))
        return number

    def trace(self, number: int, *more: Step) -> Trace:
        """The run by which a state was found, and further steps after it."""
        steps = list(more[::-1])
        while number >= 0:
            state, (before, how) = self.states[number], self._reached[number]
            steps.append(how.step(state) if isinstance(how, Link) else Step(None, (), how, state))
            number = before
        return Trace(tuple(reversed(steps)))
