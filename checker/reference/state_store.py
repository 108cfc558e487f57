"""The states that a search has found, each with the step that found it first."""

from __future__ import annotations

from assay.checker.interpreter.actions.outcome import Picks
from assay.checker.report import State, Step, Trace
from assay.checker.search_interface.link import Link


class StateStore:
    """Distinct states, numbered in the order in which they were found."""

    __slots__ = ("_links", "_numbers", "_parents", "states")

    def __init__(self) -> None:
        self.states: list[State] = []
        self._parents: list[int] = []
        self._links: list[Link | Picks] = []
        self._numbers: dict[State, int] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def __contains__(self, state: State) -> bool:
        return state in self._numbers

    def number(self, state: State) -> int:
        """The number of a state. Raises ``KeyError`` if it was not found."""
        return self._numbers[state]

    def add(self, state: State, parent: int, link: Link | Picks) -> int:
        """Store a new state. An initial one has the parent -1 and its picks as link. The number is written last: until
        then the state does not count as found."""
        number = len(self._numbers)
        self.states.append(state)
        self._parents.append(parent)
        self._links.append(link)
        self._numbers[state] = number
        return number

    def path(self, number: int) -> list[State]:
        """The states on the path to a state, the initial one first."""
        states: list[State] = []
        while number >= 0:
            states.append(self.states[number])
            number = self._parents[number]
        return states[::-1]

    def trace(self, number: int, *more: Step) -> Trace:
        """The path to a state, and further steps after it."""
        steps: list[Step] = []
        while number >= 0:
            link, state = self._links[number], self.states[number]
            steps.append(link.step(state) if isinstance(link, Link) else Step(None, (), link, state))
            number = self._parents[number]
        return Trace((*reversed(steps), *more))
