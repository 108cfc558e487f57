"""Depth-first search: what was found last is looked at first. So a long run is soon made, and a violation at its end
soon found.

It sees the same states as breadth-first search, and takes the same steps; but the run to a state need not be a shortest
one. ``depth`` is the number of states of the longest run that was made. A limit of the depth would be wrong here. A
state first reached by a long way would be cut off, though another way to it is short.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from itertools import pairwise

from assay.checker.interpreter.actions.outcome import Successor
from assay.checker.interpreter.compiled_model import outcomes
from assay.checker.reference.bfs import Search
from assay.checker.report import State, Step, Trace
from assay.checker.results.undo_symmetry import replayed
from assay.checker.search_interface.link import Link


class DepthFirstSearch(Search):
    """A search like the breadth-first one in another order. It ends with the first state that violates something."""

    @property
    def _here(self) -> str:
        return f"after {len(self.store):,} states"

    def _levels(self) -> None:
        waiting = [(number, 1) for number in reversed(range(len(self.store)))]
        while waiting:
            self._decide_to_stop()
            self._frontier = len(waiting)
            self._heed_limits()
            number, depth = waiting.pop()
            known = len(self.store)
            self._expand(number)
            # Reversed, so that the successor that was found first is taken first.
            waiting.extend((new, depth + 1) for new in reversed(range(known, len(self.store))))
            if len(self.store) > known:
                self.depth = max(self.depth, depth + 1)
        self._decide_to_stop()

    def trace(self, number: int, *more: Step) -> Trace:
        """A run to a state, without detours, and further steps after it."""
        path = self.store.path(number)
        states = [path[at] for at in _shortcut(len(path), lambda at: self._onward(path, at))]
        if self.reduction is not None:
            return replayed(self, self.reduction, states, more)
        first = self.store.trace(self.store.number(states[0])).steps
        return Trace((*first, *(self._step_between(*pair) for pair in pairwise(states)), *more))

    def _onward(self, path: list[State], at: int) -> Iterable[int]:
        places = {state: place for place, state in enumerate(path)}
        for _, _, outcome in outcomes(self.model, path[at]):
            if isinstance(outcome, Successor) and (after := self.canonical(outcome.state)) in places:
                yield places[after]

    def _step_between(self, before: State, after: State) -> Step:
        links = (
            Link(action, arguments, outcome.picks)
            for action, arguments, outcome in outcomes(self.model, before)
            if isinstance(outcome, Successor) and outcome.state == after
        )
        return next(links).step(after)


def _shortcut(size: int, onward: Callable[[int], Iterable[int]]) -> list[int]:
    """A shortest way from place 0 to the last of ``size`` places, where ``onward`` says to which places a step
    leads."""
    before = {0: -1}
    waiting = deque([0])
    while waiting and size - 1 not in before:
        here = waiting.popleft()
        for there in onward(here):
            if there not in before:
                before[there] = here
                waiting.append(there)
    way = [size - 1]
    while way[-1]:
        way.append(before[way[-1]])
    return way[::-1]
