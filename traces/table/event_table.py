"""The event table: all events of a log in columns, and which of them state the same.

Two events state the same in some fields if they have one pattern, equal texts of these fields, and equal added fields.
What follows from a statement is worked out once for all of its events: ``docs/design/statement-ids.md``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from assay.checker.jit.jit_function import LinearFunction
from assay.grammar.kernel import TracePlan
from assay.grammar.lazy_dataclass import dataclass
from assay.traces.attribution.eager_events import EagerEvents
from assay.traces.attribution.run_events import LazyEvents, LogEvents, Traits
from assay.traces.event import Event
from assay.traces.store.packed_records import NEVER
from assay.traces.store.record_block import Numbers
from assay.traces.store.smallest_dtype import CompactColumn
from assay.traces.table.statement_ids import EveryKind, FieldNames, StatementMemory, StatementNumbering
from assay.traces.table.statement_keys import named_by

T = TypeVar("T")

Positions = npt.NDArray[np.signedinteger[Any]]
"""Positions of events, or statement ids, of a whole log.

There are so many that they are kept in the smallest fitting type.
"""


def fields_read(plan: TracePlan) -> FieldNames:
    """The fields that anything in a trace clause reads."""
    measured = frozenset(field.field for measure in plan.measures for field in measure.fields)
    return EveryKind(measured, named_by(plan.rules))


@LinearFunction
def count_out(numbers: Any, begins: Any, order: Any) -> None:
    """A counting sort: where the entries of each number begin, and the entries in the order of their numbers.

    ``begins`` has zeros, one for each number and one more.
    """
    for at in range(numbers.shape[0]):
        begins[numbers[at] + 1] += 1
    for number in range(begins.shape[0] - 1):
        begins[number + 1] += begins[number]
    # In order of position: the first entry of each number is its earliest, which `StatementNumbers.examples` needs.
    for at in range(numbers.shape[0]):
        order[begins[numbers[at]]] = at
        begins[numbers[at]] += 1
    # Each entry of `begins` now tells where its number ends, which is where the next begins: all are moved by one.
    for back in range(begins.shape[0] - 1):
        number = begins.shape[0] - 1 - back
        begins[number] = begins[number - 1]
    begins[0] = 0


def in_order(numbers: Positions, count: int) -> tuple[Positions, Numbers]:
    """The positions of entries in the order of their numbers, which are below ``count``, and where those of each number
    begin.
    """
    begins, order = np.zeros(count + 1, np.int64), np.empty(len(numbers), np.int32)
    count_out(np.ascontiguousarray(numbers, np.int32), begins, order)
    return order, begins


@dataclass(frozen=True)
class StatementNumbers:
    """The statement id of each event: ids are dense within one answer.

    ``known`` are the lasting ids under which ``numbering`` keeps results.
    """

    numbers: Positions
    known: Numbers
    numbering: StatementNumbering

    @property
    def order(self) -> Positions:
        """The positions of the events in the order of their statement ids."""
        return self._ordered[0]

    @property
    def begins(self) -> Numbers:
        """Where the events of each statement id begin in ``order``."""
        return self._ordered[1]

    @cached_property
    def _ordered(self) -> tuple[Positions, Numbers]:
        return in_order(self.numbers, len(self.known))

    @property
    def examples(self) -> Positions:
        """For each statement id the position of its first event."""
        return self.order[self.begins[:-1]]

    def positions(self, number: int) -> Positions:
        """The positions of the events with this statement id."""
        return self.order[self.begins[number] : self.begins[number + 1]]


class EventTable(LazyEvents):
    """The events of several logs, one log after the other."""

    def __init__(self, parts: Iterable[Sequence[Event]], memory: StatementMemory | None = None) -> None:
        self.parts: tuple[LogEvents | EagerEvents, ...] = tuple(
            in_columns(own) for part in parts for own in (part.parts if isinstance(part, EventTable) else (part,))
        )
        self.memory = StatementMemory() if memory is None else memory
        self._starts = [0, *accumulate(map(len, self.parts))]
        self._of_kind: dict[str | None, npt.NDArray[np.bool_]] = {}
        self._held: dict[int, Event] = {}

    @classmethod
    def of(cls, events: Sequence[Event]) -> EventTable:
        """Events as a table; a table is returned as it is."""
        return events if isinstance(events, EventTable) else cls([events])

    def __len__(self) -> int:
        return self._starts[-1]

    def __iter__(self) -> Iterator[Event]:
        for part in self.parts:
            yield from part

    def at(self, positions: Positions) -> Iterator[Event]:
        """The events at some positions, in that order."""
        if self._held:
            # Only if all of them are held; otherwise they are made in one go like any others.
            held = [event for at in positions.tolist() if (event := self._held.get(at)) is not None]
            if len(held) == len(positions):
                yield from held
                return
        # Empty logs share a start; from the right the last of these is found, which is the one with events.
        parts = np.searchsorted(self._starts, positions, side="right") - 1
        # Positions need not be in order. Each run of them in one log is asked of that log at once.
        ends = np.flatnonzero(np.diff(parts)) + 1
        for begin, end in pairwise([0, *ends.tolist(), len(positions)]):
            if begin < end:
                part = self.parts[int(parts[begin])]
                local = positions[begin:end] - self._starts[int(parts[begin])]
                yield from part.at(local)

    def prefetch(self, positions: Positions) -> None:
        """Make the events at some positions in advance, and release earlier ones. Making events of many logs one by one
        takes longer than all at once.
        """
        # Before the new ones are made: two windows of events at a time would be twice the memory.
        self._held.clear()
        self._held = dict(zip(positions.tolist(), self.at(positions), strict=True))

    def only(self, positions: Positions) -> tuple[EventTable, Numbers]:
        """A table of the records to which the given events belong, in order, and the positions in this table of all its
        events.
        """
        parts, kept = list[Sequence[Event]](), [np.empty(0, np.int64)]
        for number, own in zip(
            *_groups(np.searchsorted(self._starts, positions, side="right") - 1, positions), strict=True
        ):
            part, start = self.parts[number], self._starts[number]
            fewer, places = part.only(own - start)
            parts.append(fewer)
            kept.append(places + start)
        return EventTable(parts), np.concatenate(kept)

    def traits(self) -> Counter[Traits]:
        """How many events have which traits."""
        found: Counter[Traits] = Counter()
        for part in self.parts:
            found.update(part.traits())
        return found

    def positions_where(self, ask: Callable[[Traits], bool]) -> Numbers:
        """The positions of the events whose traits satisfy a condition."""
        found: list[Numbers] = []
        for start, part in zip(self._starts, self.parts, strict=False):
            found.append(np.flatnonzero(part.matches_traits(ask)) + start)
        return np.concatenate([np.empty(0, np.int64), *found])

    def of_kind(self, kind: str | None) -> npt.NDArray[np.bool_]:
        """Which of all events are of a kind; worked out once for each kind."""
        if kind not in self._of_kind:
            self._of_kind[kind] = np.zeros(len(self), np.bool_)
            self._of_kind[kind][self.positions_where(lambda traits: traits.kind == kind)] = True
        return self._of_kind[kind]

    def events_where(self, ask: Callable[[Traits], bool]) -> Iterator[Event]:
        """The events whose traits satisfy a condition."""
        return self.at(self.positions_where(ask))

    @property
    def times(self) -> Numbers:
        """The times of all events, in milliseconds since the epoch; ``NEVER`` for those without one."""
        return np.concatenate([np.empty(0, np.int64), *(part.times for part in self.parts)])

    def times_at(self, positions: Positions) -> Numbers:
        """The times of the events at some positions."""
        return self._times.at(positions)

    @cached_property
    def _times(self) -> CompactColumn:
        return CompactColumn(self.times)

    def by_stream(self, positions: Positions, *, threads: bool) -> Iterator[Numbers]:
        """For each log of a process run (for each thread in it, with ``threads``) the indices of its events in
        ``positions``.
        """
        for number, own in self._by_part(positions):
            part = self.parts[number]
            local = positions[own] - self._starts[number]
            # `LogEvents` are one log of one run by themselves. `EagerEvents` may mix runs and files.
            keys = np.zeros(len(own), np.int64) if isinstance(part, LogEvents) else part.logs[local]
            if threads:
                names = part.threads[local]
                keys = keys * (int(names.max()) + 1) + names
            if (keys == keys[0]).all():
                yield own
                continue
            by_key = np.argsort(keys, kind="stable")
            yield from _groups(keys[by_key], own[by_key])[1]

    def _by_part(self, positions: Positions) -> Iterator[tuple[int, Numbers]]:
        """For each log with events at some positions, its number and the indices of its events in ``positions``."""
        if (np.diff(positions) >= 0).all():
            # Positions in order are cut by the starts of the logs, without sorting anything.
            begins = np.searchsorted(positions, self._starts)
            for number in np.flatnonzero(np.diff(begins)).tolist():
                yield number, np.arange(begins[number], begins[number + 1])
            return
        parts = np.searchsorted(self._starts, positions, side="right") - 1
        order = np.argsort(parts, kind="stable")
        yield from zip(*_groups(parts[order], order), strict=True)

    @cached_property
    def _resolutions(self) -> CompactColumn | None:
        """The resolution of the time of each event, in milliseconds; None if all are 1."""
        # Nearly all logs have milliseconds, and need no column for it.
        if all(int(part.resolutions.max(initial=1)) == 1 for part in self.parts):
            return None
        return CompactColumn(np.concatenate([part.resolutions for part in self.parts]))

    def resolutions_at(self, positions: Positions) -> Numbers:
        """The resolutions of the times of the events at some positions, in milliseconds."""
        return np.ones(len(positions), np.int64) if self._resolutions is None else self._resolutions.at(positions)

    def ends(self, positions: Positions) -> Numbers:
        """The time at which each event had been written, in milliseconds since the epoch; counted from 0 where it is
        not known.
        """
        logged = self.times_at(positions)
        # Times before all others would make each such line the earliest of its statement.
        logged[logged == NEVER] = 0
        return logged + self.resolutions_at(positions)

    def statements(self, names: FieldNames) -> StatementNumbers:
        """The statement ids of the events for the given fields."""
        numbering = self.memory.numbering(names)
        numbers, known = numbering.assign_ids(self.parts)
        return StatementNumbers(numbers, known, numbering)

    def map_statements(self, statements: StatementNumbers, what: Hashable, make: Callable[[Event], T]) -> list[T]:
        """The result of ``make`` for each statement, worked out once as long as the memory lasts.

        It may depend only on the fields that were asked for.
        """
        examples = statements.examples
        return statements.numbering.map_statements(
            what, statements.known.tolist(), lambda which: self.at(examples[which]), make
        )


def in_columns(part: Sequence[Event]) -> LogEvents | EagerEvents:
    """The events of one log, with the columns that a table needs."""
    return part if isinstance(part, LogEvents | EagerEvents) else EagerEvents(part)


def times(part: Sequence[Event]) -> Numbers:
    """The times of some events; ``NEVER`` for those without one."""
    return in_columns(part).times


def traits(part: Sequence[Event]) -> Counter[Traits]:
    """How many events have which traits."""
    return in_columns(part).traits()


def _groups(keys: Numbers, values: Numbers) -> tuple[list[int], list[Numbers]]:
    """The distinct keys of a sorted array, and the values of each."""
    if not len(keys):
        return [], []
    begins = [0, *(np.flatnonzero(np.diff(keys)) + 1).tolist()]
    return [int(keys[at]) for at in begins], np.split(values, begins[1:])
