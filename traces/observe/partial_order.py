"""What is known of the order in which the logged things happened: streams, and the times between them.

NOTE(order): A line is written after what it reports. With ``commit before line within N`` the reported thing happened in
``[t - N, t]`` on the clock of the line's node; without it, at any time up to ``t``. Clocks of two nodes differ by at most ``skew``.
So of two lines x and y in different streams, x's thing happened first for certain if ``t_x + skew < t_y - N`` (no skew within a
node), and otherwise nothing is known. Lines of one stream (one file, or one thread of a file, of one process run) are in the order of the
file even where their times go backwards, as real files' do; the interval of a line is therefore widened by the latest time
before it and the earliest after it, likewise along the successive runs of one node. So the order of all lines is free of cycles:
along every certainty the upper end grows, along a stream it never falls.
What is supposed to have happened (NOTE(supposed events)) may have been at any time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from math import inf, isnan, nan
from typing import Protocol

import numpy as np
import numpy.typing as npt

from assay.grammar import kernel as k
from assay.grammar.kernel import Ordering
from assay.traces.event import SUPPOSED
from assay.traces.observe.binding import Observation

OF_THREADS = frozenset({"kafka"})
"""Catalogues of logs in whose files many threads write, and records of one batch are one change: the order of a file does not tell how a line about a slice stands to one about all."""


def files_tell_order(plan: k.TracePlan) -> bool:
    """Whether the order of the files of a clause is that of what happened."""
    return plan.catalogue not in OF_THREADS


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class OrderedObservation:
    """An observation with its number, its stream and its position there, and its interval of possible times in milliseconds.

    What a model knows of an item ends with it: a log that is asked about with many changes makes many items.
    """

    index: int
    observation: Observation
    stream: int
    position: int
    time: float
    earliest: float
    latest: float


@dataclass(frozen=True, slots=True)
class ObservationStream:
    """The observations whose order is certain. ``after`` lists the streams that must be read to their ends before this one begins."""

    name: str
    node: str
    items: tuple[OrderedObservation, ...]
    after: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class PartialOrder:
    """The partial order of all observations: its streams, and the skew between the clocks of different nodes.

    With ``timed`` false the times of lines say nothing. ``requires`` says of items, all by their numbers, which others come before them for other reasons.
    """

    streams: tuple[ObservationStream, ...]
    skew: int
    timed: bool = True
    requires: Mapping[int, frozenset[int]] = field(default_factory=dict)

    @property
    def items(self) -> tuple[OrderedObservation, ...]:
        """All items by number."""
        return tuple(sorted((item for stream in self.streams for item in stream.items), key=lambda item: item.index))

    def precedes(self, x: OrderedObservation, y: OrderedObservation) -> bool:
        """Whether x's thing certainly happened before y's, by their times."""
        return self.timed and self.excess(x, y) > 0

    def excess(self, x: OrderedObservation, y: OrderedObservation) -> float:
        """By how many milliseconds x's last possible time lies before y's first, the skew between their nodes' clocks taken off."""
        same = self.streams[x.stream].node == self.streams[y.stream].node
        return y.earliest - x.latest - (0 if same else self.skew)

    def with_items(self, stream: int, items: Sequence[OrderedObservation]) -> PartialOrder:
        """The order with other items in one stream."""
        placed = tuple(item if item.position == at else replace(item, position=at) for at, item in enumerate(items))
        changed = replace(self.streams[stream], items=placed)
        return replace(self, streams=(*self.streams[:stream], changed, *self.streams[stream + 1 :]))


class Spanned(Protocol):
    """What happened between two times."""

    @property
    def earliest(self) -> float:
        """Not before this."""
        ...

    @property
    def latest(self) -> float:
        """Not after this."""
        ...


def in_turn(spans: Sequence[Spanned]) -> Iterator[tuple[float, float]]:
    """The earliest and the latest time of each of what happened in this order: none is later than a later one, nor earlier than an earlier one."""
    earliest = accumulate((each.earliest for each in spans), max)
    latest = list(accumulate((each.latest for each in reversed(spans)), min))[::-1]
    return zip(earliest, latest, strict=True)


Key = tuple[str, int, str, str]
Times = npt.NDArray[np.float64]
"""Of the lines of a stream, in milliseconds."""


def order(observations: Iterable[Observation], ordering: Ordering) -> PartialOrder:
    """The order of the observations under an ordering clause."""
    groups: dict[Key, list[Observation]] = {}
    for observation in observations:
        groups.setdefault(stream_key(observation, ordering), []).append(observation)
    keys = sorted(groups)
    after = [tuple(i for i, other in enumerate(keys) if precede(other, key)) for key in keys]
    times = [times_of([observation.event.record.time for observation in groups[key]]) for key in keys]
    spreads = [np.array([o.event.record.resolution - 1 for o in groups[key]], np.float64) for key in keys]
    latest = latest_times(times, spreads, after)
    earliest = earliest_times(times, after, ordering)
    streams: list[ObservationStream] = []
    first = 0
    for number, key in enumerate(keys):
        if key[0] == SUPPOSED:
            earliest[number], latest[number] = np.full_like(times[number], -inf), np.full_like(times[number], inf)
        rows = zip(groups[key], *(each[number].tolist() for each in (times, earliest, latest)), strict=True)
        items = tuple(
            OrderedObservation(first + i, seen, number, i, 0.0 if isnan(time) else time, low, high)
            for i, (seen, time, low, high) in enumerate(rows)
        )
        streams.append(ObservationStream(_name(key), key[0], items, after[number]))
        first += len(items)
    return PartialOrder(tuple(streams), ordering.skew)


def stream_key(observation: Observation, ordering: Ordering) -> Key:
    """What the observations of one stream have in common: the process run, the file and, where threads are the unit of order, the thread."""
    event = observation.event
    thread = (event.record.thread or "") if ordering.unit == "thread" else ""
    return event.run.node, event.run.number, event.sequence, thread


def _name(key: Key) -> str:
    _, _, file, thread = key
    return f"{file} [{thread}]" if thread else file


def precede(one: Key, other: Key) -> bool:
    """Whether all of one stream comes before another: they are of successive runs of one node."""
    return one[0] == other[0] and one[1] < other[1]


def times_of(stated: Sequence[int | None]) -> Times:
    """The times of the lines of a stream; a line without one takes the time of the line before it, or after it; NaN if none has one."""
    if None not in stated:
        return np.array(stated, np.float64)
    known = (float(time) for time in stated if time is not None)
    last = next(known, nan)
    times: list[float] = []
    for time in stated:
        last = last if time is None else float(time)
        times.append(last)
    return np.array(times)


def latest_times(times: Sequence[Times], spreads: Sequence[Times], after: Sequence[Sequence[int]]) -> list[Times]:
    """The upper ends: never lower than those before it in its stream, or in the streams before it, which have lower numbers.

    ``spreads`` says by how much a line may have been written later than its time stamp, which has no finer parts, can say.
    """
    ends: list[Times] = []
    for number, (stream, spread) in enumerate(zip(times, spreads, strict=True)):
        start = max((float(ends[other][-1]) for other in after[number]), default=-inf)
        upper = np.where(np.isnan(stream), inf, stream + spread)
        ends.append(np.maximum(np.maximum.accumulate(upper), start))
    return ends


def earliest_times(times: Sequence[Times], after: Sequence[Sequence[int]], ordering: Ordering) -> list[Times]:
    """The lower ends: never higher than those after it in its stream, or in the streams after it."""
    window = inf if ordering.commit_before_line is None else ordering.commit_before_line
    begins: list[Times] = []
    starts = [inf] * len(times)
    for number in reversed(range(len(times))):
        lower = np.where(np.isnan(times[number]), -inf, times[number] - window)
        begins.append(np.minimum(np.minimum.accumulate(lower[::-1])[::-1], starts[number]))
        for other in after[number]:
            starts[other] = min(starts[other], float(begins[-1][0]))
    return begins[::-1]
