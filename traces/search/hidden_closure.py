"""The states that hidden steps reach from a state, level by level, each computed once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from assay.traces.observe.partial_order import OrderedObservation
from assay.traces.search.transition_system import Taken, TraceModel

HOPELESS = -1


@dataclass(frozen=True, slots=True)
class Arrival:
    """The last hidden step to a state: the state before it, and the step."""

    origin: int
    taken: Taken


@dataclass(slots=True)
class Closure:
    """Level n maps each state that n hidden steps reach, and fewer do not, to the last steps that reach it so.

    States from which nothing can go on, as ``hopeless`` tells, are left out.
    """

    model: TraceModel
    state: int
    hopeless: Callable[[int], bool]
    levels: list[dict[int, list[Arrival]]] = field(default_factory=list)
    seen: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.levels.append({self.state: []})
        self.seen[self.state] = 0

    def level(self, number: int) -> dict[int, list[Arrival]]:
        """The states that need that many hidden steps; empty when there are none any more."""
        while len(self.levels) <= number:
            self._extend()
        return self.levels[number]

    def _extend(self) -> None:
        depth = len(self.levels)
        fresh: dict[int, list[Arrival]] = {}
        for origin in self.levels[-1]:
            for taken in self.model.hidden(origin):
                if taken.state not in self.seen:
                    self.seen[taken.state] = HOPELESS if self.hopeless(taken.state) else depth
                if self.seen[taken.state] == depth:
                    fresh.setdefault(taken.state, []).append(Arrival(origin, taken))
        self.levels.append(fresh)

    def route(self, state: int) -> tuple[Taken, ...]:
        """The hidden steps to a state that was reached, as few as possible."""
        steps: list[Taken] = []
        for level in reversed(range(1, self.seen[state] + 1)):
            arrival = self.levels[level][state][0]
            steps.append(arrival.taken)
            state = arrival.origin
        return tuple(reversed(steps))


@dataclass(frozen=True, slots=True)
class HiddenPath:
    """A way in which an item can come from a state: after so many hidden steps, from ``origin``, to ``after``."""

    level: int
    origin: int
    after: int
    taken: tuple[Taken, ...]


def ways(closure: Closure, item: OrderedObservation, level: int, *, reduced: bool) -> Iterator[HiddenPath]:
    """The ways of an item with so many hidden steps; when ``reduced`` only those whose hidden steps cannot follow the item."""
    model = closure.model
    for origin, arrivals in closure.level(level).items():
        for after, taken in model.consume(item, origin):
            if not (reduced and _may_follow(model, item, arrivals, after)):
                yield HiddenPath(level, origin, after, taken)


def _may_follow(model: TraceModel, item: OrderedObservation, arrivals: list[Arrival], after: int) -> bool:
    """Whether some last hidden step can as well follow the item."""
    return any(
        later.state == after
        for arrival in arrivals
        for middle, _ in model.consume(item, arrival.origin)
        for later in model.again(arrival.taken, middle)
    )
