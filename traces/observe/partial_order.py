"""The partial order of observations: streams in which the order is certain, and time intervals across streams.

A line is written after the fact that it reports. With ``commit before line within N`` the fact happened in ``[t - N,
t]`` on the clock of the line's node. Otherwise it happened at any time up to ``t``. Clocks of two nodes differ by at
most ``skew``. Why the resulting order has no cycles is shown in docs/design/partial-order.md.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import accumulate
from math import inf, isnan, nan
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from assay.grammar import kernel as k
from assay.grammar.kernel import Ordering
from assay.grammar.lazy_dataclass import dataclass
from assay.traces.event import INFERRED

if TYPE_CHECKING:
    from assay.traces.observe.observation import Observation

OF_THREADS = frozenset({"kafka"})
"""Catalogues of logs whose files are written by many threads, where the records of one batch are one change.

The order of such a file says nothing about a line on a slice against a line on shared state.
"""


def files_tell_order(plan: k.TracePlan) -> bool:
    """Whether the order of lines in the files of a clause is the order of what happened."""
    return plan.catalogue not in OF_THREADS


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class OrderedObservation:
    """An observation with its number, its stream, its position there, and the interval in which it happened
    (milliseconds).

    It is compared by identity and may be weakly referenced: what a model caches about an item ends with the item. A log
    that is checked again with many changes makes many items, and these caches would grow without end.
    """

    index: int
    observation: Observation
    stream: int
    position: int
    time: float
    earliest: float
    latest: float


def by_time(item: OrderedObservation) -> tuple[float, int]:
    """The sort key of items: by time, then in the order of reading."""
    return item.time, item.index


def action_of(item: OrderedObservation) -> str:
    """The first action that a line names; `observe` if it names none."""
    named = [call.action for step in item.observation.rule.steps for call in step]
    return named[0] if named else "observe"


@dataclass(frozen=True, slots=True)
class ObservationStream:
    """Observations whose order is certain. ``after`` lists the streams that must be read to their ends before this one
    begins.
    """

    name: str
    node: str
    items: tuple[OrderedObservation, ...]
    after: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class PartialOrder:
    """The partial order of all observations: its streams, and the skew between the clocks of different nodes in
    milliseconds.

    If ``timed`` is false, times of lines order nothing. ``requires`` maps an item to the items that must come before it
    for other reasons than time, all by number. If ``causal``, lines come after their causes (``Event.past``), too.
    """

    streams: tuple[ObservationStream, ...]
    skew: int
    timed: bool = True
    requires: Mapping[int, frozenset[int]] = field(default_factory=dict)
    causal: bool = False

    @property
    def items(self) -> tuple[OrderedObservation, ...]:
        """All items by number."""
        return tuple(sorted((item for stream in self.streams for item in stream.items), key=lambda item: item.index))

    def precedes(self, x: OrderedObservation, y: OrderedObservation) -> bool:
        """Whether x certainly happened before y, by their times."""
        # Strictly: at the very same moment both orders are possible.
        return self.timed and self.excess(x, y) > 0

    def comes_before(self, x: OrderedObservation, y: OrderedObservation) -> bool:
        """Whether x certainly comes before y: in its stream, by the order of streams, or by its time."""
        if x.stream == y.stream:
            return x.position < y.position
        return x.stream in self.streams[y.stream].after or self.precedes(x, y)

    def excess(self, x: OrderedObservation, y: OrderedObservation) -> float:
        """The milliseconds between x's last possible time and y's first, less the skew if their nodes differ; positive
        if x is certainly first.
        """
        # One node has one clock, whatever file or run wrote the line.
        same = self.streams[x.stream].node == self.streams[y.stream].node
        return y.earliest - x.latest - (0 if same else self.skew)

    def with_items(self, stream: int, items: Sequence[OrderedObservation]) -> PartialOrder:
        """The same order with other items in one stream."""
        placed = tuple(item if item.position == at else replace(item, position=at) for at, item in enumerate(items))
        changed = replace(self.streams[stream], items=placed)
        return replace(self, streams=(*self.streams[:stream], changed, *self.streams[stream + 1 :]))

    def without_inferred(self) -> PartialOrder:
        """The order without inferred events."""
        order = self
        for at, stream in enumerate(self.streams):
            kept = [each for each in stream.items if not each.observation.event.is_inferred]
            if len(kept) < len(stream.items):
                order = order.with_items(at, kept)
        return order

    def needs(self) -> dict[int, dict[int, int]]:
        """For each item with required predecessors, by number: which streams must be read before it, and how far."""
        found: dict[int, dict[int, int]] = {}
        places = {item.index: (item.stream, item.position) for item in self.items} if self.requires else {}
        for index, others in self.requires.items():
            counts = found.setdefault(index, {})
            for stream, position in (places[other] for other in others if other in places):
                counts[stream] = max(counts.get(stream, 0), position + 1)
        if self.causal:
            found.update(_causes(self.streams))
        return found


class TimeInterval(Protocol):
    """Something that happened between two times."""

    @property
    def earliest(self) -> float:
        """It did not happen before this time."""
        ...

    @property
    def latest(self) -> float:
        """It did not happen after this time."""
        ...


def narrowed_in_order(spans: Sequence[TimeInterval]) -> Iterator[tuple[float, float]]:
    """The intervals of facts that happened in this order, each narrowed by those before and after it."""
    earliest = accumulate((each.earliest for each in spans), max)
    latest = list(accumulate((each.latest for each in reversed(spans)), min))[::-1]
    return zip(earliest, latest, strict=True)


Key = tuple[str, int, str, str]
Times = npt.NDArray[np.float64]
"""The times of a stream's lines, in milliseconds."""


def order(observations: Iterable[Observation], ordering: Ordering) -> PartialOrder:
    """The partial order of observations under an ordering clause. Inferred events have unbounded intervals."""
    groups: dict[Key, list[Observation]] = {}
    for observation in observations:
        groups.setdefault(stream_key(observation, ordering), []).append(observation)
    # Sorted by node and run, so that the streams of earlier runs have lower numbers: `latest_times` relies on it.
    keys = sorted(groups)
    after = [tuple(i for i, other in enumerate(keys) if precede(other, key)) for key in keys]
    times = [times_of([observation.event.record.time for observation in groups[key]]) for key in keys]
    spreads = [np.array([o.event.record.resolution - 1 for o in groups[key]], np.float64) for key in keys]
    latest = latest_times(times, spreads, after)
    earliest = earliest_times(times, after, ordering)
    if ordering.unit == "causal":
        times, earliest, latest = _by_rank([groups[key] for key in keys])
    streams: list[ObservationStream] = []
    first = 0
    for number, key in enumerate(keys):
        if key[0] == INFERRED:
            earliest[number], latest[number] = np.full_like(times[number], -inf), np.full_like(times[number], inf)
        rows = zip(groups[key], *(each[number].tolist() for each in (times, earliest, latest)), strict=True)
        items = tuple(
            # A line without a time gets 0, since NaN would be neither before nor after anything.
            OrderedObservation(first + i, seen, number, i, 0.0 if isnan(time) else time, low, high)
            for i, (seen, time, low, high) in enumerate(rows)
        )
        streams.append(ObservationStream(_name(key), key[0], items, after[number]))
        first += len(items)
    if ordering.unit == "causal":
        return PartialOrder(tuple(streams), 0, timed=False, causal=True)
    return PartialOrder(tuple(streams), ordering.skew)


RANK = 1e-6
"""Where times order nothing, lines are tried in one order that their causes allow: this far apart, in milliseconds."""


def _by_rank(groups: Sequence[Sequence[Observation]]) -> tuple[list[Times], list[Times], list[Times]]:
    """Times in the order of the lines' ranks, for the search; any line may have happened at any time."""
    pasts = [[observation.event.past for observation in group] for group in groups]
    times = [np.array([0.0 if past is None else past.rank * RANK for past in own]) for own in pasts]
    return times, [np.full_like(own, -inf) for own in times], [np.full_like(own, inf) for own in times]


def _causes(streams: Sequence[ObservationStream]) -> Iterator[tuple[int, dict[int, int]]]:
    """For each item, how far its past reaches in the other streams: what is left of it there, if lines were left out."""
    of_log: dict[int, tuple[int, list[int]]] = {}
    for number, stream in enumerate(streams):
        # A stream holds lines of one log; the first tells which.
        pasts = [past for item in stream.items if (past := item.observation.event.past) is not None]
        if pasts:
            of_log[pasts[0].log] = number, sorted(past.position for past in pasts)
    for number, stream in enumerate(streams):
        for item in stream.items:
            past = item.observation.event.past
            reached = () if past is None else ((of_log[log], count) for log, count in past.after if log in of_log)
            # By what is left of the log: lines of the past that no rule reads are in no stream.
            counts = {other: bisect_left(positions, count) for (other, positions), count in reached if other != number}
            if any(counts.values()):
                yield item.index, counts


def stream_key(observation: Observation, ordering: Ordering) -> Key:
    """The stream of an observation: its process run, its file, and its thread if the clause orders lines by thread."""
    event = observation.event
    thread = (event.record.thread or "") if ordering.unit == "thread" else ""
    return event.run.node, event.run.number, event.sequence, thread


def _name(key: Key) -> str:
    _, _, file, thread = key
    return f"{file} [{thread}]" if thread else file


def precede(one: Key, other: Key) -> bool:
    """Whether all of one stream comes before another: both are of one node, in successive process runs."""
    return one[0] == other[0] and one[1] < other[1]


def times_of(logged: Sequence[int | None]) -> Times:
    """The times of the lines of a stream. A line without a time takes that of the line before it, or else after it; NaN
    if no line has one.
    """
    if None not in logged:
        return np.array(logged, np.float64)
    known = (float(time) for time in logged if time is not None)
    last = next(known, nan)
    times: list[float] = []
    for time in logged:
        last = last if time is None else float(time)
        times.append(last)
    return np.array(times)


def latest_times(times: Sequence[Times], spreads: Sequence[Times], after: Sequence[Sequence[int]]) -> list[Times]:
    """The upper ends of the intervals: never lower than an upper end earlier in the stream, or in the streams before
    it.

    ``spreads`` is by how much a line may be later than its timestamp says. Timestamps are cut off: one in whole seconds
    may be 999 ms early. The streams before a stream have lower numbers.
    """
    ends: list[Times] = []
    for number, (stream, spread) in enumerate(zip(times, spreads, strict=True)):
        # A run comes after the one before it, even where the clock was set back in between.
        start = max((float(ends[other][-1]) for other in after[number]), default=-inf)
        upper = np.where(np.isnan(stream), inf, stream + spread)
        ends.append(np.maximum(np.maximum.accumulate(upper), start))
    return ends


def earliest_times(times: Sequence[Times], after: Sequence[Sequence[int]], ordering: Ordering) -> list[Times]:
    """The lower ends of the intervals: never higher than one later in the stream, or in the streams after it."""
    # Without a bound a line may be written as late as one likes: its fact may have happened at any time before.
    window = inf if ordering.commit_before_line is None else ordering.commit_before_line
    begins: list[Times] = []
    starts = [inf] * len(times)
    for number in reversed(range(len(times))):
        lower = np.where(np.isnan(times[number]), -inf, times[number] - window)
        begins.append(np.minimum(np.minimum.accumulate(lower[::-1])[::-1], starts[number]))
        # Passed on to the runs before: what happened in them happened before anything of this one.
        for other in after[number]:
            starts[other] = min(starts[other], float(begins[-1][0]))
    return begins[::-1]
