"""The events of a log that one process run wrote; each is made when it is read."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from operator import eq
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from assay.checker.jit.array_ops import distinct
from assay.traces.attribution.log_author import Author
from assay.traces.attribution.zookeeper_sessions import Sessions
from assay.traces.event import Event, ProcessRun
from assay.traces.patterns.match import TemplateMatch
from assay.traces.patterns.template_fields import FieldLayout
from assay.traces.store.matched_record import MatchedRecord
from assay.traces.store.record_block import Numbers
from assay.traces.store.record_layouts import RecordLayout, RecordLayouts
from assay.traces.store.redundant_fields import RedundantEvents

if TYPE_CHECKING:
    from assay.traces.store.packed_records import PackedRecords

_UNKNOWN = -1


def _count_of_layout(layout: RecordLayout) -> int:
    return len(layout.template_match.field_layouts)


def _count_of_match(match: MatchedRecord) -> int:
    return len(match.matches)


def _resolution_of_match(match: MatchedRecord) -> int:
    return match.record.resolution


def _resolution_of_layout(layout: RecordLayout) -> int:
    return layout.resolution


def _thread_of_match(match: MatchedRecord) -> str | None:
    return match.record.thread


def _thread_of_layout(layout: RecordLayout) -> str | None:
    return layout.thread


def _field_layout_indices(counts: Numbers, repeated: RedundantEvents) -> Numbers:
    """For each event the index of its field layout in its record; redundant events have been removed."""
    first = np.cumsum(counts) - counts
    every = np.arange(int(counts.sum())) - np.repeat(first, counts)
    return np.delete(every, first[repeated.records] + repeated.field_layouts)


class Traits(NamedTuple):
    """What the events of many lines have in common: logger and level of the line, kind of event, and name of the
    pattern. The name is empty for an event of JSON.
    """

    logger: str
    level: str
    kind: str
    pattern: str


def traits_of(event: Event) -> Traits:
    """The traits of an event."""
    return Traits(event.record.logger, event.record.level, event.kind, event.pattern)


def _names_session(field_layout: FieldLayout) -> bool:
    """Whether the fields added to a message depend on a session that it names (``Author.added_fields``)."""
    return not field_layout.fields.keys().isdisjoint({"session", "owner_session"})


def _traits_of_layout(layout: RecordLayout, field_layout: FieldLayout) -> Traits:
    return Traits(layout.logger, layout.level, field_layout.pattern.kind, field_layout.pattern.name)


class PackedEvents(NamedTuple):
    """Events of packed records of one source, in columns.

    ``at`` are their positions in the log, ``codes`` their field layouts among those of all ``layouts``. ``begins`` is
    where the digits of their records begin, and ``sessions`` are the numbers of their sessions.
    """

    at: Numbers
    layouts: RecordLayouts
    codes: Numbers
    begins: Numbers
    sessions: Numbers
    digits: npt.NDArray[np.uint8]


class LazyEvents(Sequence[Event]):
    """A sequence of events that are made when they are read."""

    @abstractmethod
    def at(self, positions: npt.NDArray[np.signedinteger[Any]]) -> Iterator[Event]:
        """The events at some positions, in that order."""

    @overload
    def __getitem__(self, at: int) -> Event: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Event]: ...
    def __getitem__(self, at: int | slice) -> Event | Sequence[Event]:
        if isinstance(at, slice):
            return list(self.at(np.arange(len(self))[at]))
        if not -len(self) <= at < len(self):
            raise IndexError(at)
        return next(self.at(np.array([at % len(self)])))


class EventIndex(NamedTuple):
    """Which events the records of a log state.

    ``doubtful`` records may state one thing twice. The events of a record are numbered from ``first`` on. ``forms`` are
    the numbers of the events in their records. None stands for the usual case, in which these begin at 0, because an
    index takes memory for each event.
    """

    doubtful: npt.NDArray[np.bool_]
    first: npt.NDArray[np.int32]
    forms: Numbers | None


class LogEvents(LazyEvents):
    """The events of one log that one process run wrote, in the order of writing."""

    def __init__(self, rows: PackedRecords, sessions: Sessions, author: Author, stream: str, index: EventIndex) -> None:
        self._rows, self.sessions, self.author, self._stream, self._index = rows, sessions, author, stream, index
        self._doubtful, self._first, self._numbers = index
        self._plain = bool((np.diff(self._first) == 1).all())

    @classmethod
    def of_records(cls, rows: PackedRecords, sessions: Sessions, author: Author, stream: str) -> LogEvents:
        """The events of all records of a log."""
        # What is kept of a log lives as long as the answer, so memory beyond its records is let go.
        rows.compact()
        numbers = sessions.numbers.astype(np.min_scalar_type(len(sessions.names)))
        repeated = rows.repeated()
        counts = rows.evaluate(_count_of_match, _count_of_layout, np.int64)
        # Only decoded events tell how many of these differ.
        for at in np.flatnonzero(repeated.doubtful & rows.packed).tolist():
            counts[at] = len(rows[at].matches)
        # Before counts shrink: redundant events are named by their places among all field layouts of a record.
        forms = _field_layout_indices(counts, repeated) if len(repeated.records) else None
        # Not `counts[...] -= 1`, which would count a record with two redundant events once.
        np.subtract.at(counts, repeated.records, 1)
        first = np.concatenate((np.zeros(1, np.int32), np.cumsum(counts, dtype=np.int32)))
        index = EventIndex(repeated.doubtful, first, forms)
        return cls(rows, Sessions(sessions.names, numbers), author, stream, index)

    def __len__(self) -> int:
        return int(self._first[-1])

    def __iter__(self) -> Iterator[Event]:
        for row, match in enumerate(self._rows):
            yield from self._made(row, match)

    def at(self, positions: npt.NDArray[np.signedinteger[Any]]) -> Iterator[Event]:
        """The events at some positions, in that order."""
        # Positions get the type of `_first`. With mixed types numpy would copy the whole index at each call.
        rows = np.searchsorted(self._first, positions.astype(np.int32), side="right") - 1
        which = self._field_layouts_at(positions, rows).tolist()
        for row, match, number in zip(rows.tolist(), self._rows.take(rows), which, strict=True):
            field_layouts = self._field_layouts(row, match)
            if field_layouts is None:
                yield self._made(row, match)[number]
            else:
                yield self.author.event_of(
                    field_layouts[number], match.record, self.sessions[row], self._stream_of(match)
                )

    def _made(self, row: int, match: MatchedRecord) -> list[Event]:
        session, stream, field_layouts = self.sessions[row], self._stream_of(match), self._field_layouts(row, match)
        if field_layouts is None:
            return self.author.events_of(match, session, stream)
        if self._numbers is not None:
            field_layouts = [
                field_layouts[number] for number in self._numbers[self._first[row] : self._first[row + 1]].tolist()
            ]
        return [self.author.event_of(field_layout, match.record, session, stream) for field_layout in field_layouts]

    def _field_layouts_at(self, positions: npt.NDArray[np.signedinteger[Any]], rows: Numbers) -> Numbers:
        """For each of some events the index of its field layout in its record; ``rows`` are the records."""
        return positions - self._first[rows] if self._numbers is None else self._numbers[positions]

    def _field_layouts(self, row: int, match: MatchedRecord) -> Sequence[FieldLayout] | None:
        """The field layouts of a record if each of them is an event; None if the record may hold redundant events."""
        found = match.found
        return found.field_layouts if isinstance(found, TemplateMatch) and not self._doubtful[row] else None

    def _stream_of(self, match: MatchedRecord) -> str:
        return "" if self._stream == match.record.place.file else self._stream

    def only(self, positions: Numbers) -> tuple[LogEvents, Numbers]:
        """The events of those records to which the given events belong, in order, with their positions in this log."""
        rows = distinct(np.searchsorted(self._first, positions.astype(np.int32), side="right") - 1)
        # A record is kept with all of its events, because they share its fields and its place among the columns.
        counts = np.diff(self._first)[rows]
        first = np.concatenate((np.zeros(1, np.int32), np.cumsum(counts, dtype=np.int32)))
        own = np.repeat(self._first[rows].astype(np.int64) - first[:-1], counts) + np.arange(int(first[-1]))
        index = EventIndex(self._doubtful[rows], first, None if self._numbers is None else self._numbers[own])
        sessions = Sessions(self.sessions.names, self.sessions.numbers[rows])
        return LogEvents(self._rows.take(rows), sessions, self.author, self._stream, index), own

    def shifted(self, by: int) -> LogEvents:
        """The same events, as if their lines had been written ``by`` milliseconds later."""
        return LogEvents(self._rows.shifted(by), self.sessions, self.author, self._stream, self._index)

    @property
    def key(self) -> tuple[ProcessRun, str]:
        """What identifies the log: who wrote it, and its first file."""
        return self.author.run, self._stream

    def continues(self, before: LogEvents) -> bool:
        """Whether the first of these events are those of ``before``, at the same positions and with the same
        attribution.
        """
        count = len(before._rows)
        alike = (
            self.author.is_like(before.author)
            and self._rows.take(slice(count)).equals_by_hash(before._rows)
            and self._session_of(count) == before._session_of(count)
        )
        if not alike:
            return False
        # A line that names a session says who owned it, and that may be known only now. So such events are compared.
        naming = before.positions_by_layout(_names_session)
        return all(map(eq, self.at(naming), before.at(naming)))

    def _session_of(self, count: int) -> list[tuple[int, str | None, object]]:
        """Where among the first ``count`` records the session changes, and who owned it."""
        numbers = self.sessions.numbers[:count]
        begins = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist()] if count else []
        named = ((at, self.sessions.names[int(numbers[at])]) for at in begins)
        found = [(at, name, self.author.owner(name)) for at, name in named]
        return [each for each, last in zip(found, [None, *found], strict=False) if last is None or each[1:] != last[1:]]

    def positions_by_layout(self, ask: Callable[[FieldLayout], bool]) -> Numbers:
        """The positions of the events whose field layout satisfies a condition, and of all events without a field
        layout.
        """
        loose = np.ones(len(self), np.bool_)
        for packed in self.packed():
            _, field_layouts = packed.layouts.field_layouts
            codes, which = np.unique(packed.codes, return_inverse=True)
            loose[packed.at] = np.array([ask(field_layouts[code][1]) for code in codes.tolist()], np.bool_)[which]
        return np.flatnonzero(loose)

    @property
    def rows(self) -> Numbers:
        """The record of each event."""
        every = np.arange(len(self._rows))
        return every if self._plain else np.repeat(every, np.diff(self._first))

    @property
    def times(self) -> Numbers:
        """The times of the events, in milliseconds since the epoch; ``NEVER`` for those without one."""
        return self._rows.times[self.rows]

    def matches_traits(self, ask: Callable[[Traits], bool]) -> npt.NDArray[np.bool_]:
        """The result of a condition on the traits of each event."""
        every, which = self._traits
        result: npt.NDArray[np.bool_] = np.array([ask(each) for each in every], np.bool_)[which]
        return result

    def traits(self) -> Counter[Traits]:
        """How many events have which traits."""
        every, which = self._traits
        return Counter(dict(zip(every, np.bincount(which, minlength=len(every)).tolist(), strict=True)))

    @cached_property
    def _traits(self) -> tuple[list[Traits], npt.NDArray[np.unsignedinteger[Any]]]:
        """The distinct traits, and for each event the index of its own."""
        known: dict[Traits, int] = {}
        found = np.full(len(self), _UNKNOWN, np.int32)
        for packed in self.packed():
            every, of_field_layout = packed.layouts.evaluate_field_layouts(_traits_of_layout)
            which = of_field_layout[packed.codes]
            used = np.flatnonzero(np.bincount(which))
            numbers = np.zeros(len(every), np.int32)
            numbers[used] = [known.setdefault(every[each], len(known)) for each in used.tolist()]
            found[packed.at] = numbers[which]
        loose = np.flatnonzero(found == _UNKNOWN)
        found[loose] = [known.setdefault(traits_of(event), len(known)) for event in self.at(loose)]
        return list(known), found.astype(np.min_scalar_type(len(known)))

    @cached_property
    def threads(self) -> Numbers:
        """A number for the thread that wrote the line of each event; lines that name no thread share one number."""
        names = self._rows.evaluate(_thread_of_match, _thread_of_layout, np.object_)
        known: dict[str | None, int] = {}
        of_row = np.fromiter((known.setdefault(name, len(known)) for name in names.tolist()), np.int64, len(names))
        return of_row[self.rows]

    @property
    def resolutions(self) -> Numbers:
        """The resolution of the time of each event, in milliseconds."""
        return self._rows.evaluate(_resolution_of_match, _resolution_of_layout, np.int64)[self.rows]

    def packed(self) -> Iterator[PackedEvents]:
        """The events of packed records, in no particular order, without those of records that may hold redundant
        events.
        """
        rows = self.rows
        field_layouts = self._field_layouts_at(np.arange(len(rows)), rows)
        layouts, begins = (self._rows.column(name) for name in ("layouts", "begins"))
        for source, records in self._rows.by_source(~self._doubtful):
            at = own = records
            if not self._plain:
                # A record may state several events, or none: its positions are found by marks, not by its number.
                fitting = np.zeros(len(layouts), np.bool_)
                fitting[records] = True
                at = np.flatnonzero(fitting[rows])
                own = rows[at]
            first, _ = source.layouts.field_layouts
            codes = first[layouts[own]] + field_layouts[at]
            yield PackedEvents(at, source.layouts, codes, begins[own], self.sessions.numbers[own], source.digits)
