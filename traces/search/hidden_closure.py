"""The states that hidden steps reach from a state, level by level (breadth first), each computed once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.observe.partial_order import OrderedObservation
from assay.traces.search.transition_system import Taken, TraceModel

DEAD_END = -1


@dataclass(frozen=True, slots=True)
class Arrival:
    """The last hidden step to a state: the state before it, and the step."""

    origin: int
    taken: Taken


@dataclass(slots=True)
class Closure:
    """The states by the number of hidden steps to them. Level n maps a state at distance n to all last steps of
    shortest paths to it.

    States for which ``is_dead_end`` is true are left out.
    """

    model: TraceModel
    state: int
    is_dead_end: Callable[[int], bool]
    levels: list[dict[int, list[Arrival]]] = field(default_factory=list)
    seen: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.levels.append({self.state: []})
        self.seen[self.state] = 0

    def level(self, number: int) -> dict[int, list[Arrival]]:
        """The states at this distance; empty if there are none any more."""
        while len(self.levels) <= number:
            self._extend()
        return self.levels[number]

    def _extend(self) -> None:
        depth = len(self.levels)
        fresh: dict[int, list[Arrival]] = {}
        for origin in self.levels[-1]:
            for taken in self.model.hidden(origin):
                if taken.state not in self.seen:
                    # A dead end enters `seen` too: it is judged once, and never extended.
                    self.seen[taken.state] = DEAD_END if self.is_dead_end(taken.state) else depth
                # All last steps of shortest paths are kept, not the first alone: `_may_follow` looks for any that
                # commutes.
                if self.seen[taken.state] == depth:
                    fresh.setdefault(taken.state, []).append(Arrival(origin, taken))
        self.levels.append(fresh)

    def route(self, state: int) -> tuple[Taken, ...]:
        """A shortest path of hidden steps to a state that was reached."""
        steps: list[Taken] = []
        for level in reversed(range(1, self.seen[state] + 1)):
            arrival = self.levels[level][state][0]
            steps.append(arrival.taken)
            state = arrival.origin
        return tuple(reversed(steps))


@dataclass(frozen=True, slots=True)
class HiddenPath:
    """One explanation of an item: ``level`` hidden steps to the state ``origin``, then the steps of the item to the
    state ``after``.
    """

    level: int
    origin: int
    after: int
    taken: tuple[Taken, ...]


def hidden_paths(closure: Closure, item: OrderedObservation, level: int, *, reduced: bool) -> Iterator[HiddenPath]:
    """The explanations of an item after exactly ``level`` hidden steps.

    With ``reduced``, one is left out if its last hidden step may as well follow the item: the search finds that order
    anyway.
    """
    model = closure.model
    for origin, arrivals in closure.level(level).items():
        for after, taken in model.consume(item, origin):
            if not (reduced and _may_follow(model, item, arrivals, after)):
                yield HiddenPath(level, origin, after, taken)


def _may_follow(model: TraceModel, item: OrderedObservation, arrivals: list[Arrival], after: int) -> bool:
    """Whether some last hidden step commutes with the item: taken after it, it leads to the same state."""
    return any(
        later.state == after
        for arrival in arrivals
        for middle, _ in model.consume(item, arrival.origin)
        for later in model.repeat(arrival.taken, middle)
    )
