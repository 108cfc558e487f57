"""One linear order of the lines that the partial order allows, and which other lines may come where one is not enabled.

Lines are ordered by their latest possible times; why this is allowed is shown in docs/design/linear-order.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field

import numpy as np
import numpy.typing as npt

from assay.checker.native.trace_rules import EncodedLines
from assay.grammar.kernel import Ordering, TracePlan, TraceRule
from assay.grammar.lazy_dataclass import dataclass
from assay.traces.event import INFERRED, Event
from assay.traces.observe.partial_order import Key, Times, earliest_times, latest_times, precede, times_of
from assay.traces.store.packed_records import NEVER
from assay.traces.store.record_block import Numbers
from assay.traces.table.event_selection import SliceField
from assay.traces.table.event_table import EventTable


@dataclass(frozen=True, slots=True)
class EventsOfSlices:
    """The events of slices in the order of the log: positions in its table, and the number of each event's slice.

    ``mark`` adds the slice's own field to an event.
    """

    table: EventTable
    positions: Numbers
    owners: Numbers
    mark: SliceField

    def events(self, places: Numbers) -> Iterator[Event]:
        """The events at some places, as their slice sees them."""
        return map(self.mark.on, self.table.at(self.positions[places]))


class NoOrderError(Exception):
    """The lines have no such order: some have no time, or are inferred events."""


@dataclass(slots=True)
class LineQueue:
    """Lines in their order, as columns: event position, stream number, time, and interval (milliseconds).

    ``names_action`` says of each rule whether its lines report a step. ``unseen`` receives the hidden steps that were
    taken before a line, by the numbers of their instances.
    """

    keys: Sequence[Key]
    skew: int
    lines: EncodedLines
    positions: Numbers
    streams: Numbers
    times: Times
    earliest: Times
    latest: Times
    names_action: npt.NDArray[np.bool_]
    unseen: dict[int, tuple[int, ...]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.positions)

    def alternatives(self, at: int, end: int, window: float) -> Iterator[int]:
        """The places before ``end`` of lines that may come instead of the line at ``at``.

        None is later than that line by more than ``window`` milliseconds.
        """
        heads = {int(self.streams[at]): at}
        until = self.latest[at] + window
        for other in range(at + 1, end):
            # Lines are sorted by their latest times, so no later one is near enough either.
            if self.latest[other] > until:
                return
            stream = int(self.streams[other])
            if stream not in heads:  # only the first unread line of a stream may come next
                if self.times[other] <= self.times[at] + window and not any(
                    self._precedes(head, other) for head in heads.values()
                ):
                    yield other
                heads[stream] = other

    def _precedes(self, one: int, other: int) -> bool:
        """Whether a line certainly comes before another one of another stream."""
        key, its = self.keys[self.streams[one]], self.keys[self.streams[other]]
        excess = self.earliest[other] - self.latest[one] - (0 if key[0] == its[0] else self.skew)
        return bool(excess > 0) or precede(key, its)

    def pins(self, begin: int, end: int) -> bool:
        """Whether a line from ``begin`` to ``end`` reports a step."""
        return bool(self.names_action[self.lines.rules[begin:end]].any())

    def bring_forward(self, place: int, at: int) -> None:
        """Move the line at ``place`` to ``at``; the lines between move back by one."""
        # `changes` stays: it is written when a line is followed, and these are not followed yet.
        for column in (
            self.lines.rules, self.lines.logged, self.positions, self.streams, self.times, self.earliest, self.latest,
        ):  # fmt: skip
            column[at : place + 1] = np.roll(column[at : place + 1], 1, axis=0)


def line_queue(
    events: EventTable,
    positions: Numbers,
    lines: EncodedLines,
    plan: TracePlan,
    rules: Sequence[TraceRule],
    slices: EventsOfSlices | None = None,
) -> LineQueue:
    """The queue of the lines of events at some positions, given in the order of the events; raises ``NoOrderError``.

    With ``slices`` the positions are places among their events, and the queue holds one slice after another.
    """
    ordering = plan.ordering
    # One event has a line for each rule that is about it. Stream and times are asked of the event, once.
    firsts = np.diff(positions, prepend=-1) > 0
    own = positions[firsts] if slices is None else slices.positions[positions[firsts]]
    of_lines = np.cumsum(firsts) - 1
    keys, of_events = _keys(events, own, ordering)
    streams = of_events[of_lines]
    order = np.argsort(streams, kind="stable")
    groups = np.split(of_lines[order], np.flatnonzero(np.diff(streams[order])) + 1)
    times, earliest, latest = _times(events, own, groups, keys, ordering)
    of_slices = np.zeros(len(order), np.int64) if slices is None else slices.owners[positions[order]]
    # A stable sort: lines of a stream with one latest time keep their order. Across runs of a node it never falls.
    sequence = np.lexsort((latest, of_slices))
    order = order[sequence]
    followed = EncodedLines(
        np.ascontiguousarray(lines.rules[order]),
        np.ascontiguousarray(lines.logged[order]),
        np.zeros(len(order), np.uint8),
    )
    times, earliest, latest = (each[sequence] for each in (times, earliest, latest))
    names_action = np.array([bool(each.steps) for each in rules], np.bool_)
    return LineQueue(
        keys, ordering.skew, followed, positions[order], streams[order], times, earliest, latest, names_action
    )


def _keys(events: EventTable, positions: Numbers, ordering: Ordering) -> tuple[list[Key], Numbers]:
    """The keys of the streams in their order, and the number of each event's stream."""
    threads = ordering.unit == "thread"
    groups = list(events.by_stream(positions, threads=threads))
    own = [
        (event.run.node, event.run.number, event.sequence, (event.record.thread or "") if threads else "")
        for event in events.at(positions[[int(group[0]) for group in groups]])
    ]
    keys = sorted(set(own))
    ranks, numbers = {key: rank for rank, key in enumerate(keys)}, np.empty(len(positions), np.int64)
    for key, group in zip(own, groups, strict=True):
        numbers[group] = ranks[key]
    return keys, numbers


def _times(
    events: EventTable, positions: Numbers, groups: Sequence[Numbers], keys: Sequence[Key], ordering: Ordering
) -> tuple[Times, Times, Times]:
    """The times of the lines and the ends of their intervals, one stream after the other; ``groups`` are the places of
    their events in ``positions``.
    """
    stamps = events.times_at(positions)
    if (stamps == NEVER).any():
        logged = [None if stamp == NEVER else stamp for stamp in stamps.tolist()]
        times = [times_of([logged[at] for at in own.tolist()]) for own in groups]
    else:
        every = stamps.astype(np.float64)
        times = [every[own] for own in groups]
    # A single stream needs no times, because its lines are in order.
    if (
        ordering.unit == "causal"
        or any(key[0] == INFERRED for key in keys)
        or (len(keys) > 1 and any(np.isnan(own[0]) for own in times))
    ):
        raise NoOrderError
    spreads = events.resolutions_at(positions).astype(np.float64) - 1
    after = [[i for i, other in enumerate(keys) if precede(other, key)] for key in keys]
    earliest = earliest_times(times, after, ordering)
    latest = latest_times(times, [spreads[own] for own in groups], after)
    return np.nan_to_num(np.concatenate(times)), np.concatenate(earliest), np.concatenate(latest)
