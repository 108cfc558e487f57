"""Records that patterns match, in columns; a record is made when it is read, and not kept.

A record that is of no kind in the stock layout is kept as an object. Measurements: ``docs/design/packed-records.md``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from assay.checker.jit.array_ops import distinct
from assay.grammar.identity_memo import IdentityMemo
from assay.traces.event import LogPosition, LogRecord
from assay.traces.patterns.match import TemplateMatch
from assay.traces.store.columns import Columns, RecordSource, hash_messages, pack
from assay.traces.store.matched_record import NOBODY, MatchedRecord, singleton
from assay.traces.store.record_block import Numbers, RecordBlock
from assay.traces.store.record_layouts import NO_WRITER, MergedLayouts, RecordLayout, RecordLayouts, layouts_from
from assay.traces.store.redundant_fields import RedundantEvents
from assay.traces.store.smallest_dtype import CompactColumn

NEVER = -(1 << 62)
"""The time of a record without a timestamp; it is before all times."""

_WORD = (1 << 64) - 1
BATCH = 1 << 14
"""How many records are taken out of the columns, or put into them, at a time."""

MIN_COMPACTED = 1 << 8
"""The number of records from which on compacting the columns pays: a node that restarts often has thousands of short
logs.
"""

_EMPTY = Columns(*(np.empty(0, kind) for kind in ("i4", "i4", "i8", "i8", "i4", "i8", "i4")))


class PackedRecords(Sequence[MatchedRecord]):
    """Records in the order in which they were written; each is made when it is read."""

    def __init__(self, matches: Iterable[MatchedRecord] = ()) -> None:
        self._columns = _EMPTY
        self._narrow: tuple[CompactColumn, ...] | None = None
        """The compacted columns of a log that no longer grows; else None."""
        self._sources: list[RecordSource] = []
        self._objects: list[MatchedRecord] = []
        self._more: list[Columns] = []
        self._single: list[tuple[int, ...]] = []
        """Records that were added one by one, as their entries of all columns."""
        self._growing: IdentityMemo[RecordLayouts, int] = IdentityMemo()
        """Which source takes more digits, by the identity of its record layouts."""
        self += matches

    # --------------------------------------------------------------------------------------------------- growing

    def __iadd__(self, matches: Iterable[MatchedRecord]) -> PackedRecords:
        for match in matches:
            self.append(match)
        return self

    def append(self, match: MatchedRecord) -> None:
        """Add a record, kept as an object."""
        time = match.record.time
        # The complement of the index of the object: layout numbers below zero mean objects.
        self._put((0, ~len(self._objects), NEVER if time is None else time, 0, 0, 0, NO_WRITER))
        self._objects.append(match)

    def add(self, place: LogPosition, time: int, layouts: RecordLayouts, number: int, digits: bytes) -> None:
        """Add a record whose layout packs."""
        source, writer = self._source(place.file, layouts), layouts[number].writer_in(digits)
        begin = self._sources[source].add_one(digits)
        self._put((source, number, time, place.offset, place.line, begin, writer))

    def _put(self, entry: tuple[int, ...]) -> None:
        """Add a record by its entries of the columns."""
        # The entry waits in a list: columns are concatenated at the next read, not at each append.
        self._single.append(entry)
        if len(self._single) == BATCH:
            self._end_single()

    def extend(self, rows: PackedRecords) -> None:
        """Append the records of another log."""
        self._end_single()
        columns = rows.columns
        layouts = np.where(columns.layouts < 0, columns.layouts - np.int32(len(self._objects)), columns.layouts)
        self._more.append(columns._replace(sources=columns.sources + np.int32(len(self._sources)), layouts=layouts))
        # New lists, not longer ones: `_with` gives its copies the same lists.
        self._sources, self._objects = [*self._sources, *rows.sources], [*self._objects, *rows._objects]

    def extend_in_place(self, rows: PackedRecords) -> None:
        """Append the next piece of the same text; records of one file with the same layouts stay one source."""
        self._end_single()
        columns = rows.columns
        numbers = [self._source(source.file, source.layouts) for source in rows.sources]
        shifts = [self._sources[at].add(source.digits) for at, source in zip(numbers, rows.sources, strict=True)]
        places, begins = np.array([*numbers, 0], np.int32), np.array([*shifts, 0], np.int64)
        layouts = np.where(columns.layouts < 0, columns.layouts - np.int32(len(self._objects)), columns.layouts)
        self._more.append(
            columns._replace(
                sources=places[columns.sources], layouts=layouts, begins=columns.begins + begins[columns.sources]
            )
        )
        self._objects = [*self._objects, *rows._objects]

    def pack(self, file: str, block: RecordBlock, kept: Numbers, layouts: RecordLayouts, numbers: Numbers) -> None:
        """Add the records ``kept`` of a block; ``numbers`` are those of their record layouts, all of which pack."""
        self._end_single()
        source, places = self._source(file, layouts), layouts.places
        ends = np.cumsum(np.diff(places.first)[numbers])
        begins = np.concatenate((np.zeros(1, np.int64), ends[:-1]))
        digits, writers = np.empty(int(ends[-1]), np.uint8), np.empty(len(kept), np.int64)
        text = np.frombuffer(block.text, np.uint8)
        pack(text, kept, numbers, block.bodies, places.first, places.places, places.writers, begins, digits, writers)
        before = self._sources[source].add(digits)
        self._more.append(
            Columns(
                np.full(len(kept), source, np.int32),
                numbers.astype(np.int32),
                block.times[kept],
                block.base + block.starts[kept] + 1,
                block.lines[kept].astype(np.int32),
                begins + before,
                writers.astype(np.int32),
            )
        )

    def _source(self, file: str, layouts: RecordLayouts) -> int:
        """The index of the source that takes digits of records of a file with these layouts."""
        found = self._growing.get(layouts)
        if found is None or self._sources[found].file != file:
            found = self._growing[layouts] = len(self._sources)
            self._sources.append(RecordSource(file, layouts))
        return found

    def _end_single(self) -> None:
        """Turn the entries of records that were added one by one into columns."""
        if self._single:
            kinds = (column.dtype for column in _EMPTY)
            parts = zip(np.array(self._single, np.int64).T, kinds, strict=True)
            self._more.append(Columns(*(part.astype(kind) for part, kind in parts)))
            self._single = []

    @property
    def columns(self) -> Columns:
        """All records, in columns."""
        self._end_single()
        if self._narrow is not None:
            if not self._more:
                return Columns(*(column.all() for column in self._narrow))
            self._columns, self._narrow = Columns(*(column.all() for column in self._narrow)), None
        if self._more:
            self._columns = Columns(*(np.concatenate(parts) for parts in zip(self._columns, *self._more, strict=True)))
            self._more = []
        return self._columns

    def compact(self) -> None:
        """Compact the columns, because more records are unlikely. A log of few records stays as it is."""
        if len(self) >= MIN_COMPACTED and (self._narrow is None or self._more or self._single):
            self._narrow = tuple(CompactColumn(column) for column in self.columns)
            self._columns = _EMPTY

    def column(self, name: str) -> npt.NDArray[Any]:
        """One of the columns; the others stay compacted."""
        settled = self._settled()
        found: npt.NDArray[Any] = (
            getattr(self.columns, name) if settled is None else settled[Columns._fields.index(name)].all()
        )
        return found

    def _settled(self) -> tuple[CompactColumn, ...] | None:
        """The compacted columns, if they hold all records."""
        return None if self._more or self._single else self._narrow

    # --------------------------------------------------------------------------------------------------- reading

    def __len__(self) -> int:
        settled = self._settled()
        return len(self.columns.times) if settled is None else len(settled[0])

    @overload
    def __getitem__(self, at: int) -> MatchedRecord: ...
    @overload
    def __getitem__(self, at: slice) -> PackedRecords: ...
    def __getitem__(self, at: int | slice) -> MatchedRecord | PackedRecords:
        if isinstance(at, slice):
            return self.take(at)
        settled = self._settled()
        if settled is not None:
            return self._made(*(column.one(at) for column in settled))
        return self._made(*(column[at].item() for column in self.columns))

    def __iter__(self) -> Iterator[MatchedRecord]:
        columns = self.columns
        for begin in range(0, len(columns.times), BATCH):
            part = columns.at(slice(begin, begin + BATCH))
            for entry in zip(*(column.tolist() for column in part), strict=True):
                yield self._made(*entry)

    def _made(
        self, source: int, layout: int, time: int, offset: int, line: int, begin: int, writer: int
    ) -> MatchedRecord:
        if layout < 0:
            return self._objects[~layout]
        origin = self._sources[source]
        kind = origin.layouts[layout]
        message = kind.message(origin.digits, begin)
        place = LogPosition(origin.file, line, offset)
        record = LogRecord(place, time, kind.level, kind.logger, kind.thread, message, kind.resolution)
        return MatchedRecord(
            record, kind.template_match, NOBODY if writer < 0 else singleton(writer), kind.template_match.roles
        )

    @property
    def sources(self) -> Sequence[RecordSource]:
        """Where the packed records come from."""
        return self._sources

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, PackedRecords) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    @property
    def times(self) -> Numbers:
        """The times of the records, in milliseconds since the epoch; ``NEVER`` for those without one."""
        return self.column("times")

    @property
    def known_times(self) -> Numbers:
        """The times of the records that have one."""
        times = self.times
        known: Numbers = times[times != NEVER]
        return known

    @property
    def writers(self) -> set[int]:
        """The ids of the brokers that some record names as its writer."""
        found = set(distinct(self.column("writers")[self.packed]).tolist()) - {NO_WRITER}
        return found.union(*(match.writers for match in self._kept_objects()))

    @property
    def names_writer(self) -> npt.NDArray[np.bool_]:
        """Which records name their writer."""
        layouts = self.column("layouts")
        found: npt.NDArray[np.bool_] = self.packed & (self.column("writers") != NO_WRITER)
        for at in np.flatnonzero(layouts < 0).tolist():
            found[at] = bool(self._objects[~int(layouts[at])].writers)
        return found

    def writer_counts(self) -> Counter[int]:
        """How many records name each broker as their writer."""
        writers = self.column("writers")
        found = Counter(writers[self.packed & (writers != NO_WRITER)].tolist())
        found.update(writer for match in self._kept_objects() for writer in match.writers)
        return found

    def _kept_objects(self) -> Iterator[MatchedRecord]:
        layouts = self.column("layouts")
        return (self._objects[~number] for number in layouts[layouts < 0].tolist())

    def with_roles(self, *roles: str) -> list[int]:
        """The positions of the records that have one of these roles; of those with any role, if none is named."""
        found: list[int] = np.flatnonzero(self.evaluate(*_tells(roles), np.bool_)).tolist()
        return found

    def evaluate(
        self, of_match: Callable[[MatchedRecord], Any], of_layout: Callable[[RecordLayout], Any], kind: Any
    ) -> npt.NDArray[Any]:
        """The values of two functions: of each record kept as an object, and of each packed record's layout."""
        layouts = self.column("layouts")
        found = np.zeros(len(layouts), kind)
        for source, positions in self.by_source():
            found[positions] = source.layouts.evaluate(of_layout)[layouts[positions]]
        for at in np.flatnonzero(layouts < 0).tolist():
            found[at] = of_match(self._objects[~int(layouts[at])])
        return found

    def by_source(self, which: npt.NDArray[np.bool_] | None = None) -> Iterator[tuple[RecordSource, Numbers]]:
        """Each source with the positions of its packed records; only those in ``which``, if it is given."""
        packed = self.packed if which is None else self.packed & which
        positions = np.flatnonzero(packed)
        if not len(positions):
            return
        sources = self.column("sources")[positions]
        if (sources == sources[0]).all():  # the usual case: a log is one file, or one file after another
            yield self._sources[int(sources[0])], positions
            return
        for number in distinct(sources).tolist():
            yield self._sources[number], positions[sources == number]

    @property
    def packed(self) -> npt.NDArray[np.bool_]:
        """Which records are packed."""
        packed: npt.NDArray[np.bool_] = self.column("layouts") >= 0
        return packed

    def message_hashes(self) -> npt.NDArray[np.uint64]:
        """A hash of the logger and the message of each packed record; 0 for the others."""
        columns = self.columns
        found = np.zeros(len(columns.times), np.uint64)
        for source, positions in self.by_source():
            hashes = np.empty(len(positions), np.uint64)
            layouts, begins = columns.layouts[positions].astype(np.int64), columns.begins[positions]
            hash_messages(
                layouts,
                begins,
                source.layouts.places.first,
                source.digits,
                source.layouts.evaluate(_template_hash),
                hashes,
            )
            found[positions] = hashes
        return found

    def equals_by_hash(self, others: PackedRecords) -> bool:
        """Whether both hold the same records at the same positions, judged by positions, times and message hashes."""
        mine, its = self.columns, others.columns
        pairs = ((mine.times, its.times), (mine.offsets, its.offsets), (mine.lines, its.lines))
        same = all(np.array_equal(one, other) for one, other in pairs)
        if not same or not np.array_equal(self.packed, others.packed) or self._files() != others._files():
            return False
        if not np.array_equal(self.message_hashes(), others.message_hashes()):
            return False
        loose = np.flatnonzero(~self.packed).tolist()
        return all(self._objects[~int(mine.layouts[at])] == others._objects[~int(its.layouts[at])] for at in loose)

    def _files(self) -> list[tuple[int, str]]:
        """Where among the packed records another file begins, and its name."""
        sources = self.column("sources")[self.packed]
        begins = [0, *(np.flatnonzero(np.diff(sources)) + 1).tolist()] if len(sources) else []
        found = [(at, self._sources[int(sources[at])].file) for at in begins]
        return [each for each, last in zip(found, [None, *found], strict=False) if last is None or each[1] != last[1]]

    def repeated(self) -> RedundantEvents:
        """The events that a record states twice.

        For records kept as objects it only says which may have such events.
        """
        doubtful = self.evaluate(_match_repeats, _layout_repeats, np.bool_)
        records, field_layouts = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        layouts, begins = (self.column(name) for name in ("layouts", "begins"))
        for source, positions in self.by_source(doubtful):
            found = source.layouts.repetition.of(layouts[positions].astype(np.int64), begins[positions], source.digits)
            doubtful[positions] = found.doubtful
            records.append(positions[found.records])
            field_layouts.append(found.field_layouts)
        return RedundantEvents(doubtful, np.concatenate(records), np.concatenate(field_layouts))

    # -------------------------------------------------------------------------------------------------- changing

    def take(self, which: Any) -> PackedRecords:
        """Some of the records: by a slice, positions, or one truth value each."""
        settled = self._settled()
        return self._with(self.columns.at(which) if settled is None else Columns(*(each.at(which) for each in settled)))

    def written_by(self, writers: Set[int]) -> list[int]:
        """The positions of the records that name one of these brokers as their writer."""
        columns = self.columns
        packed = np.isin(columns.writers, sorted(writers)) & (columns.layouts >= 0)
        loose = np.flatnonzero(columns.layouts < 0).tolist()
        kept = {at for at in loose if not writers.isdisjoint(self._objects[~int(columns.layouts[at])].writers)}
        return sorted({*np.flatnonzero(packed).tolist(), *kept})

    def without_writers(self, writers: Set[int]) -> PackedRecords:
        """The same records, without these brokers as their writers."""
        columns = self.columns
        strange = np.isin(columns.writers, sorted(writers)) & (columns.layouts >= 0)
        found = self._with(columns._replace(writers=np.where(strange, np.int32(NO_WRITER), columns.writers)))
        found._objects = [replace(match, writers=match.writers - writers) for match in self._objects]
        return found

    def _with(self, columns: Columns) -> PackedRecords:
        found = PackedRecords()
        found._columns, found._sources, found._objects = columns, self._sources, self._objects
        return found

    def relocated(self, file: str, lines: int = 0, offset: int = 0, times: int = 0) -> PackedRecords:
        """The same records in a file of that name, shifted by ``lines``, ``offset`` bytes and ``times`` ms."""
        found = self.shifted(times)
        columns = found._columns
        found._columns = columns._replace(lines=columns.lines + np.int32(lines), offsets=columns.offsets + offset)
        found._sources = [RecordSource(file, source.layouts, source.digits) for source in self._sources]
        places = [match.record.place for match in found._objects]
        moved = [LogPosition(file, place.line + lines, place.offset + offset) for place in places]
        found._objects = list(map(_at, found._objects, moved))
        return found

    def placed(self, find: Callable[[Numbers], tuple[Numbers, Numbers]]) -> PackedRecords:
        """The same records where ``find`` says that their offsets are: on which lines, and at which bytes."""
        columns = self.columns
        lines, offsets = find(columns.offsets)
        found = self._with(columns._replace(lines=lines.astype(np.int32), offsets=offsets))
        places = [match.record.place for match in self._objects]
        lines, offsets = find(np.array([place.offset for place in places], dtype=np.int64))
        moved = map(LogPosition, (place.file for place in places), lines.tolist(), offsets.tolist())
        found._objects = list(map(_at, self._objects, moved))
        return found

    def shifted(self, by: int) -> PackedRecords:
        """The same records, as if they had been written ``by`` milliseconds later."""
        columns = self.columns
        found = self._with(columns._replace(times=np.where(columns.times == NEVER, NEVER, columns.times + by)))
        found._objects = [replace(match, record=match.record.shifted(by)) for match in self._objects]
        return found

    def with_shared_layouts(self, like: MergedLayouts) -> PackedRecords:
        """The same records, with record layouts in a numbering that many texts share."""
        columns = self.columns
        layouts, packed = columns.layouts.copy(), columns.layouts >= 0
        for number, source in enumerate(self._sources):
            mask = packed & (columns.sources == number)
            layouts[mask] = like.numbers(source.layouts)[columns.layouts[mask]]
        found = self._with(columns._replace(layouts=layouts))
        found._sources = [RecordSource(source.file, like.layouts, source.digits) for source in self._sources]
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle only the layouts, digits and objects that are in use."""
        columns = self.columns
        layouts, begins, sources = columns.layouts.copy(), columns.begins.copy(), []
        for number, source in enumerate(self._sources):
            positions = np.flatnonzero((columns.sources == number) & (columns.layouts >= 0))
            # A part of a large log would else take the layouts and the digits of all of it to another process.
            used, which = np.unique(columns.layouts[positions], return_inverse=True)
            first = source.layouts.places.first
            taken = _taken(columns.begins[positions], np.diff(first)[columns.layouts[positions]])
            layouts[positions], begins[positions] = which, taken.begins
            kept = layouts_from([source.layouts[each] for each in used.tolist()])
            sources.append((source.file, kept, source.digits[taken.every]))
        loose = np.flatnonzero(columns.layouts < 0)
        objects = [self._objects[~number] for number in columns.layouts[loose].tolist()]
        layouts[loose] = ~np.arange(len(loose), dtype=np.int32)
        return _rows_of, (tuple(columns._replace(layouts=layouts, begins=begins)), sources, objects)


class _Taken(NamedTuple):
    """The indices of the elements of some ranges, and where each range begins among them."""

    every: Numbers
    begins: Numbers


def _at(match: MatchedRecord, place: LogPosition) -> MatchedRecord:
    return replace(match, record=replace(match.record, place=place))


def _taken(begins: Numbers, sizes: Numbers) -> _Taken:
    fresh = np.cumsum(sizes) - sizes
    return _Taken(np.repeat(begins - fresh, sizes) + np.arange(int(sizes.sum())), fresh)


def _rows_of(columns: Iterable[Any], sources: Iterable[Any], objects: list[MatchedRecord]) -> PackedRecords:
    found = PackedRecords()
    found._columns = Columns(*columns)
    found._sources = [RecordSource(*source) for source in sources]
    found._objects = objects
    return found


@cache
def _tells(roles: tuple[str, ...]) -> tuple[Callable[[MatchedRecord], bool], Callable[[RecordLayout], bool]]:
    """Whether a record has one of these roles, or any.

    It is cached because layouts remember results by the identity of the function.
    """

    def tells(present: frozenset[str]) -> bool:
        return not present.isdisjoint(roles) if roles else bool(present)

    return lambda match: tells(match.roles), lambda layout: tells(layout.template_match.roles)


def _match_repeats(match: MatchedRecord) -> bool:
    return isinstance(match.found, TemplateMatch) and match.found.repeats


def _layout_repeats(layout: RecordLayout) -> bool:
    return layout.template_match.repeats


def _template_hash(layout: RecordLayout) -> np.uint64:
    # Hashes of texts differ from process to process, so these are compared within one and never kept.
    return np.uint64(hash((layout.logger, layout.template)) & _WORD)


def concatenate(parts: Sequence[PackedRecords]) -> PackedRecords:
    """The records of several parts, one after the other; a single part is returned as it is."""
    if len(parts) == 1:
        return parts[0]
    found = PackedRecords()
    for part in parts:
        found.extend(part)
    return found
