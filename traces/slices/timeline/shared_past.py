"""The shared steps that slices see, and where among them the lines of each file stand."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from itertools import accumulate
from operator import attrgetter
from typing import NamedTuple

from assay.checker.report import State
from assay.grammar.kernel import Ordering
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Value
from assay.traces.event import Event
from assay.traces.observe.observation import Observation
from assay.traces.observe.partial_order import (
    Key,
    OrderedObservation,
    narrowed_in_order,
    stream_key,
)
from assay.traces.search.path import SearchPath
from assay.traces.search.transition_system import TraceModel


@dataclass(frozen=True, slots=True)
class SharedStep:
    """A shared step that slices see: the state after it, the line at or after it, and its interval.

    ``sure``: it certainly came after the step before it.
    """

    values: tuple[Value, ...]
    event: Event
    time: float
    earliest: float
    latest: float
    sure: bool


class SharedLineMark(NamedTuple):
    """A line about shared state, by its number in its file, with the number of steps before and after it."""

    line: int
    before: int
    after: int


FileOfStream = tuple[Key, str]
"""A stream of lines, and a file that holds a part of it."""


@dataclass(frozen=True, slots=True)
class SharedPast:
    """The shared steps, and where among them the lines of each file stand."""

    steps: tuple[SharedStep, ...] = ()
    marks: Mapping[FileOfStream, tuple[SharedLineMark, ...]] = field(default_factory=dict)

    def around(self, line: Observation, ordering: Ordering) -> tuple[int, int]:
        """How many steps certainly came before a slice's line, by its file, and the number of the first that came after
        it.
        """
        marks = self.marks.get(_file_of_stream(line, ordering), ())
        at = bisect_left(marks, line.event.record.place.line, key=attrgetter("line"))
        return marks[at - 1].after if at else 0, marks[at].before if at < len(marks) else len(self.steps)


def shared_past(model: TraceModel, path: SearchPath, seen: Sequence[int], ordering: Ordering) -> SharedPast:
    """The shared steps of an accepted path that change one of the variables ``seen``."""
    values = _seen(model.states[path.root.node.state], seen)
    found: list[SharedStep] = []
    marks: dict[FileOfStream, list[SharedLineMark]] = {}
    last: OrderedObservation | None = None
    for move in path.moves():
        # A step that a repair inserted has no line. It takes the times of the line before.
        item = move.item or last
        before = len(found)
        for taken in (*move.hidden, *move.taken):
            after = _seen(model.states[taken.state], seen)
            # The line's own steps are not before it, but the hidden steps of its move are.
            before = before if taken in move.taken else len(found) + (after != values)
            if after != values and item is not None:
                sure = taken in move.taken and (last is None or _is_surely_after(last, item, ordering.skew))
                event = item.observation.event
                found.append(SharedStep(after, event, item.time, item.earliest, item.latest, sure))
            values = after
        if move.item is not None:
            seen_line = move.item.observation
            mark = SharedLineMark(seen_line.event.record.place.line, before, len(found))
            marks.setdefault(_file_of_stream(seen_line, ordering), []).append(mark)
        last = item
    return SharedPast(_in_order(found), {file: tuple(own) for file, own in marks.items()})


def _file_of_stream(line: Observation, ordering: Ordering) -> FileOfStream:
    return stream_key(line, ordering), line.event.record.place.file


def _seen(state: State, seen: Sequence[int]) -> tuple[Value, ...]:
    return tuple(state[at] for at in seen)


def _is_surely_after(one: OrderedObservation, other: OrderedObservation, skew: int) -> bool:
    return one.stream == other.stream or one.latest + skew < other.earliest


def _in_order(steps: Sequence[SharedStep]) -> tuple[SharedStep, ...]:
    """The steps with intervals narrowed so that their order is that of the list."""
    times = accumulate((step.time for step in steps), max)
    rows = zip(steps, times, narrowed_in_order(steps), strict=True)
    return tuple(replace(step, time=time, earliest=low, latest=high) for step, time, (low, high) in rows)
