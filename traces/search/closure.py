"""The states that hidden steps reach from a state, level by level, each computed once."""

from __future__ import annotations

from dataclasses import dataclass, field

from assay.traces.search.model import Model, Taken


@dataclass(frozen=True, slots=True)
class Arrival:
    """The last hidden step to a state: the state before it, and the step."""

    origin: int
    taken: Taken


@dataclass(slots=True)
class Closure:
    """Level n maps each state that n hidden steps reach, and fewer do not, to the last steps that reach it so."""

    model: Model
    state: int
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
                if self.seen.setdefault(taken.state, depth) == depth:
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
