"""Selections of the events of a log: those that all slices share, or those of one slice."""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Iterator, Mapping, Sequence
from functools import cached_property
from operator import eq
from typing import NamedTuple, TypeVar, cast

import numpy as np
import numpy.typing as npt

from assay.checker.jit.array_ops import distinct
from assay.grammar.identity_memo import IdentityMemo
from assay.traces.attribution.run_events import LazyEvents
from assay.traces.event import Event, Field
from assay.traces.patterns.template_fields import LineFields
from assay.traces.store.packed_records import NEVER
from assay.traces.store.record_block import Numbers
from assay.traces.table.event_table import EventTable, Positions, StatementNumbers, in_order
from assay.traces.table.statement_ids import FieldNames
from assay.traces.table.statement_keys import EVERY_SLICE

H = TypeVar("H", bound=Hashable)

_NONE = -1

KEPT_BELOW = 1 << 14
"""From this many events in a log on, events are made anew at each read; those of smaller logs are kept."""


class SliceField:
    """Adds the field that every event of a slice has.

    Dictionaries of added fields, which many events share, stay shared.
    """

    def __init__(self, stands_for: str) -> None:
        self._stands_for = stands_for
        self._marked: IdentityMemo[Mapping[str, Field], Mapping[str, Field]] = IdentityMemo()

    def __reduce__(self) -> tuple[type[SliceField], tuple[str]]:
        return SliceField, (self._stands_for,)

    def on(self, event: Event) -> Event:
        """The event with the field of the slice."""
        fields = self._fields(event.fields)
        return Event(event.kind, event.pattern, fields, event.record, event.run, event.stream)

    def _fields(self, fields: Mapping[str, Field]) -> Mapping[str, Field]:
        if fields.__class__ is not LineFields:
            return {**fields, EVERY_SLICE: self._stands_for}
        known = self._marked.get(fields.more)
        if known is None:
            known = self._marked[fields.more] = {**fields.more, EVERY_SLICE: self._stands_for}
        return fields.with_more(known)


class StatementCount(NamedTuple):
    """An event that is the first to make some statement, and how many events make it."""

    example: Event
    times: int


class Selection(LazyEvents):
    """Some events of a table, by their positions in it, each with the field of a slice if ``mark`` is given.

    ``numbers`` are the statement ids of all events of the table.
    """

    def __init__(
        self, table: EventTable, positions: Positions, numbers: Positions, mark: SliceField | None = None
    ) -> None:
        self.table, self.positions, self._numbers, self._mark = table, positions, numbers, mark
        self._kept: list[Event] | None = None

    @classmethod
    def of(cls, events: Sequence[Event], names: FieldNames) -> Selection:
        """Events as a selection; a selection is returned as it is."""
        if isinstance(events, Selection):
            return events
        table = EventTable.of(events)
        return cls(table, np.arange(len(table)), table.statements(names).numbers)

    @property
    def table_numbers(self) -> Positions:
        """The statement ids of all events of the table."""
        return self._numbers

    def some(self, which: Numbers) -> Selection:
        """The events at some positions of this selection, which are in order."""
        return Selection(self.table, self.positions[which], self._numbers, self._mark)

    def marked(self, mark: SliceField) -> Selection:
        """The events with another slice field."""
        return Selection(self.table, self.positions, self._numbers, mark)

    def keep(self) -> None:
        """Make all events and keep them."""
        if self._kept is None:
            self._kept = list(self._made(self.positions))

    def _made(self, positions: Positions) -> Iterator[Event]:
        made = self.table.at(positions)
        return made if self._mark is None else map(self._mark.on, made)

    def at(self, positions: Positions) -> Iterator[Event]:
        """The events at some positions, in that order."""
        if not self._is_kept:
            return self._made(self.positions[positions])
        return map(cast("list[Event]", self._kept).__getitem__, positions.tolist())

    @property
    def _is_kept(self) -> bool:
        """Whether all events are kept; in a small log that happens at the first read."""
        if self._kept is None and len(self.table) < KEPT_BELOW:
            self.keep()
        return self._kept is not None

    def __len__(self) -> int:
        return len(self.positions)

    def __iter__(self) -> Iterator[Event]:
        return iter(cast("list[Event]", self._kept)) if self._is_kept else self._made(self.positions)

    def __eq__(self, other: object) -> bool:
        """Equality of the lists of events."""
        return isinstance(other, Selection) and len(self) == len(other) and all(map(eq, self, other))

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def numbers(self) -> Positions:
        """The statement id of each event."""
        return self._numbers[self.positions]

    @cached_property
    def times(self) -> Numbers:
        """The times of the events, in milliseconds since the epoch; ``NEVER`` for those without one."""
        return self.table.times_at(self.positions)

    def of_kind(self, kind: str | None) -> npt.NDArray[np.bool_]:
        """Which of the events are of a kind."""
        return self.table.of_kind(kind)[self.positions]

    def of_kinds(self, kinds: Container[str]) -> Iterator[Event]:
        """The events of some kinds."""
        fitting = np.array([example.kind in kinds for example in self._examples], np.bool_)
        return self.at(np.flatnonzero(fitting[self._which]))

    def timed_values(self, field: str) -> list[tuple[Field, int | None]]:
        """The values of a field, with the time of each event that has it.

        The field must be one by which statements are distinguished.
        """
        which = self._which
        values = [example.fields.get(field) for example in self._examples]
        stating = np.array([value is not None for value in values], np.bool_)[which]
        rows = zip(which[stating].tolist(), self.times[stating].tolist(), strict=True)
        return [(values[at], None if time == NEVER else time) for at, time in rows]

    def values_of(self, field: str) -> list[Field]:
        """The value of a field in each event, None where it has none.

        The field must be one by which statements are distinguished.
        """
        values = [example.fields.get(field) for example in self._examples]
        return [values[at] for at in self._which.tolist()]

    def by_stream(self, unit: str) -> Iterator[Numbers]:
        """The positions of the events of each sequence of lines, or of each thread in it if ``unit`` is ``thread``."""
        return self.table.by_stream(self.positions, threads=unit == "thread")

    @cached_property
    def _first(self) -> tuple[Numbers, Numbers, Numbers]:
        """The distinct statement ids in increasing order, the first position of each, and how often it occurs."""
        if len(self) < KEPT_BELOW:
            return np.unique(self.numbers, return_index=True, return_counts=True)
        # The ids of a large log are put in order by counting, not by sorting; equal ids keep their order.
        order, begins = in_order(self.numbers, int(self.numbers.max()) + 1)
        distinct = np.flatnonzero(np.diff(begins))
        return distinct, order[begins[distinct]].astype(np.int64), np.diff(begins)[distinct]

    @cached_property
    def _examples(self) -> list[Event]:
        """One event for each distinct statement id."""
        return list(self.at(self._first[1]))

    @cached_property
    def _which(self) -> Numbers:
        """For each event the index of its example."""
        return np.searchsorted(self._first[0], self.numbers)

    @cached_property
    def ends(self) -> Numbers:
        """The latest time at which each event was written, in milliseconds since the epoch; 1 where it is not known."""
        return self.table.ends(self.positions)

    def distinct(
        self, statements: StatementNumbers, positions: Positions, what: Hashable, make: Callable[[Event], H]
    ) -> set[H]:
        """The distinct results of ``make`` for some events of the table, as this selection sees them
        (``Counting.distinct``).
        """
        # Assigned from the end: of equal indices numpy keeps the last value, which is then the first event.
        first = np.full(len(statements.known), _NONE, np.int32)
        first[statements.numbers[positions[::-1]]] = positions[::-1]
        used_ids = np.flatnonzero(first != _NONE)
        examples = first[used_ids]
        return statements.numbering.distinct(
            what, statements.known[used_ids], lambda which: self._made(examples[which]), make
        )

    def statement_counts(self) -> dict[int, StatementCount]:
        """The statements by id, in the order of the first events that make them."""
        distinct, first, counts = self._first
        columns = distinct.tolist(), self._examples, counts.tolist()
        rows = [(number, StatementCount(example, times)) for number, example, times in zip(*columns, strict=True)]
        return dict(rows[at] for at in np.argsort(first).tolist())

    def earliest(self) -> dict[int, int]:
        """For each statement id the position of its earliest event."""
        by_time = np.lexsort((np.arange(len(self)), self.ends, self.numbers))
        ordered = self.numbers[by_time]
        # A number that no id has stands before the first, so that the first group has a beginning, too.
        begins = np.flatnonzero(np.diff(ordered, prepend=ordered[:1] - 1))
        return dict(zip(ordered[begins].tolist(), by_time[begins].tolist(), strict=True))


def detached(selections: Mapping[str, Selection]) -> dict[str, Selection]:
    """The selections of one table, moved to a smaller table that holds only their records: what another process needs
    of them.
    """
    if not selections:
        return {}
    first = next(iter(selections.values()))
    table, kept = first.table.only(distinct(np.concatenate([each.positions for each in selections.values()])))
    # All selections of a table share one array of ids, so that of any of them will do.
    numbers = first._numbers[kept]
    return {
        name: Selection(table, np.searchsorted(kept, each.positions), numbers, each._mark)
        for name, each in selections.items()
    }
