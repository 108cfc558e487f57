"""Statement ids: the same number for events that state the same.

Ids last from one answer about growing logs to the next, so that results are worked out once:
``docs/design/statement-ids.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from assay.grammar.identity_memo import IdentityMemo, IdentityTupleMemo
from assay.traces.attribution.run_events import LogEvents, PackedEvents
from assay.traces.event import Event
from assay.traces.patterns.template_fields import FieldLayout
from assay.traces.store.digit_pool import DigitInterner
from assay.traces.store.record_block import Numbers
from assay.traces.store.record_layouts import RecordLayout, RecordLayouts
from assay.traces.store.redundant_fields import mask_digits
from assay.traces.table.statement_keys import IN_PLACE, OF_THE_FILE, StatementKeys

T = TypeVar("T")
H = TypeVar("H", bound=Hashable)

Counted = tuple[npt.NDArray[np.signedinteger[Any]], Numbers]
"""The dense ids of what events state, and for each of them the lasting id, or ``UNNUMBERED``."""

UNNUMBERED = -1
"""In place of a lasting id: the event must be looked at by itself."""

BATCH = 1 << 16
"""About how many events are numbered in one batch: each takes some bytes of working memory."""

_ABSENT = object()
# The owner of interned digits is one 64-bit number: the constant part of the statement above, added fields below.
_ADDED_RANGE = 1 << 32

FieldNames = Mapping[str, frozenset[str]]
"""The fields that statements consist of, by the kind of event."""


class EveryKind(Mapping[str, frozenset[str]]):
    """Fields that belong to the statements of every kind of event, besides those of single kinds."""

    def __init__(self, every: frozenset[str], names: FieldNames = MappingProxyType({})) -> None:
        self.every, self.names = every, names

    def __getitem__(self, kind: str) -> frozenset[str]:
        return self.names.get(kind, frozenset()) | self.every

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


class StatementMemory:
    """Statement ids and results, kept from one answer about logs to the next."""

    def __init__(self) -> None:
        self._numberings: dict[Hashable, StatementNumbering] = {}

    def numbering(self, names: FieldNames) -> StatementNumbering:
        """The statement ids for these fields."""
        key = _key(names)
        found = self._numberings.get(key)
        if found is None:
            found = self._numberings[key] = StatementNumbering(names)
        return found

    def forget(self) -> None:
        """Release everything; for logs about which there will be no other answer."""
        self._numberings.clear()

    def __reduce__(self) -> tuple[type[StatementMemory], tuple[()]]:
        """Pickle as an empty memory: another process has other ids."""
        return StatementMemory, ()


def _key(names: FieldNames) -> Hashable:
    if isinstance(names, EveryKind):
        return names.every, _key(names.names)
    return frozenset(names.items())


class _ChosenDigits:
    """For the field layouts of all record layouts: which digits of a message belong to the statement, and the constant
    rest of it.
    """

    def __init__(self, names: FieldNames, layouts: RecordLayouts) -> None:
        self._names, self._layouts = names, layouts
        self._first: list[int] = [0]
        self._chosen: list[int] = []
        self._alike: list[int] = []
        self._groups: list[int] = []

    def extend(self, alike: dict[Hashable, int], groups: dict[Hashable, int]) -> None:
        """Add the record layouts that are new."""
        self.first_field_layout, self.field_layouts = self._layouts.field_layouts
        if len(self._alike) == len(self.field_layouts):
            return
        for layout, field_layout in self.field_layouts[len(self._alike) :]:
            self._add(layout, field_layout, alike, groups)
        self.first, self.chosen = np.array(self._first, np.int64), np.array(self._chosen, np.int64)
        self.alike, self.groups = np.array(self._alike, np.int64), np.array(self._groups, np.int64)

    def _add(
        self, layout: RecordLayout, field_layout: FieldLayout, alike: dict[Hashable, int], groups: dict[Hashable, int]
    ) -> None:
        names = self._names.get(field_layout.pattern.kind, frozenset())
        own = sorted(name for name in names & field_layout.fields.keys() if name not in IN_PLACE)
        spans = [(name, *field_layout.spans[name][1:]) for name in own if name in field_layout.spans]
        # By their text, for `1`, `1.0` and `True` are equal in Python and are different statements.
        same = tuple((name, repr(field_layout.fields[name])) for name in own if name not in field_layout.spans)
        texts = tuple((name, mask_digits(layout.template[begin:end])) for name, begin, end in spans)
        self._chosen += (
            at for at, place in enumerate(layout.digits) if any(begin <= place < end for _, begin, end in spans)
        )
        self._first.append(len(self._chosen))
        self._alike.append(alike.setdefault((field_layout.pattern.name, same, texts), len(alike)))
        added = tuple(sorted(name for name in names if name not in field_layout.fields or name in IN_PLACE))
        # Only to keep groups apart: what an author adds depends on which of these the line itself names.
        logged = frozenset(field_layout.fields.keys() & {"broker", "session", "owner_session"})
        group = added, not names.isdisjoint(OF_THE_FILE), logged
        self._groups.append(groups.setdefault(group, len(groups)))


class _PackedPart(NamedTuple):
    """Packed events of one log and one source, the log, and the array that receives their ids."""

    packed: PackedEvents
    part: LogEvents
    numbers: Numbers


class _Batch:
    """Events of one source that wait for more, and how many they are."""

    __slots__ = ("events", "size")

    def __init__(self) -> None:
        self.events: list[_PackedPart] = []
        self.size = 0

    def add(self, some: _PackedPart) -> None:
        """More events."""
        self.events.append(some)
        self.size += len(some.packed.at)


def _batches(parts: Iterable[tuple[Sequence[Event], Numbers]]) -> Iterator[list[_PackedPart]]:
    """The packed events of logs in batches, by source: a cluster has a hundred logs of a hundred runs, most of them
    short.
    """
    # Ids come from digits, and all events of one source have theirs in one array: a batch is one call of machine code.
    waiting = IdentityTupleMemo[_Batch]()
    for part, numbers in parts:
        if not isinstance(part, LogEvents):
            continue
        for packed in part.packed():
            source = packed.layouts, packed.digits
            batch = waiting.get(source) or waiting.put(source, None, _Batch())
            batch.add(_PackedPart(packed, part, numbers))
            if batch.size >= BATCH:
                yield waiting.pop(source).events
    yield from (batch.events for batch in waiting.values())


class _DistinctResults:
    """The distinct results for interned statements, and for each statement the index of its result."""

    def __init__(self) -> None:
        self._things: dict[Any, int] = {}
        self._numbers = np.empty(0, np.int32)

    def numbers(self, count: int) -> npt.NDArray[np.int32]:
        """For each of ``count`` statements the index of its result, or ``UNNUMBERED``."""
        if len(self._numbers) < count:
            more = np.full(max(count, 2 * len(self._numbers)) - len(self._numbers), UNNUMBERED, np.int32)
            self._numbers = np.concatenate((self._numbers, more))
        return self._numbers

    def add(self, known: Numbers, things: Iterable[Any]) -> None:
        """Add the results for some new statements."""
        self._numbers[known] = [self._things.setdefault(each, len(self._things)) for each in things]

    def of(self, known: Numbers) -> set[Any]:
        """The distinct results for some statements."""
        # A table of flags instead of a sort: there are far fewer results than statements.
        logged = np.zeros(len(self._things), np.bool_)
        logged[self._numbers[known]] = True
        return {thing for thing, number in self._things.items() if logged[number]}


class StatementNumbering:
    """Numbers what events state in some fields, and remembers the results that were worked out from statements."""

    def __init__(self, names: FieldNames) -> None:
        self._names = names
        self._interning = DigitInterner()
        self._field_layouts: IdentityMemo[RecordLayouts, _ChosenDigits] = IdentityMemo()
        self._alike: dict[Hashable, int] = {}
        self._groups: dict[Hashable, int] = {}
        self._added: dict[Hashable, int] = {}
        self._keys = StatementKeys(names)
        self._loose: dict[Hashable, int] = {}
        self._results: dict[Hashable, dict[int, Any]] = {}
        self._distinct: dict[Hashable, _DistinctResults] = {}

    def assign_ids(self, parts: Sequence[Sequence[Event]]) -> Counted:
        """The dense statement ids of the events of some logs, one log after the other, and the lasting id of each.

        The dense ids have no gaps. ``UNNUMBERED`` is the lasting id of an event whose statement cannot be remembered.
        """
        # Layouts of logs that nobody asks about any more are let go, with the templates of those logs.
        before, self._field_layouts = self._field_layouts, IdentityMemo()
        found = [np.full(len(part), UNNUMBERED, np.int64) for part in parts]
        for some in _batches(zip(parts, found, strict=True)):
            layouts = some[0].packed.layouts
            if layouts in before:
                self._field_layouts[layouts] = before[layouts]
            numbers, begin = self._numbers(layouts, some), 0
            for each in some:
                end = begin + len(each.packed.at)
                each.numbers[each.packed.at] = numbers[begin:end]
                begin = end
        fresh = len(self._interning)
        for part, own in zip(parts, found, strict=True):
            fresh = self._number_singly(own, part, fresh)
        return self._dense(np.concatenate([np.empty(0, np.int64), *found]))

    def _numbers(self, layouts: RecordLayouts, some: Sequence[_PackedPart]) -> Numbers:
        """The ids of events of packed records, all of one source. A line that names a session gets ``UNNUMBERED``."""
        field_layouts = self._field_layouts.get(layouts)
        if field_layouts is None:
            field_layouts = self._field_layouts[layouts] = _ChosenDigits(self._names, layouts)
        field_layouts.extend(self._alike, self._groups)
        codes, begins = (
            np.concatenate(each) for each in zip(*((s.packed.codes, s.packed.begins) for s in some), strict=True)
        )
        given = self._added_ids(field_layouts, codes, some)
        known = given >= 0
        found = np.full(len(codes), UNNUMBERED, np.int64)
        owners = field_layouts.alike[codes[known]] * _ADDED_RANGE + given[known]
        found[known] = self._interning.numbers(
            codes[known], begins[known], owners, field_layouts.first, field_layouts.chosen, some[0].packed.digits
        )
        return found

    def _added_ids(self, field_layouts: _ChosenDigits, codes: Numbers, some: Sequence[_PackedPart]) -> Numbers:
        """The id of the added fields of each event, as far as they belong to the statement.

        LazyEvents of one log, group and session share it.
        """
        # One event of each key (log, group, session) is asked: to ask each event would be a loop in Python.
        sizes = [len(each.packed.at) for each in some]
        sessions = np.array([len(each.part.sessions.names) for each in some])
        begins = np.cumsum(sessions * len(self._groups)) - sessions * len(self._groups)
        keys = np.concatenate([each.packed.sessions.astype(np.int64) for each in some])
        keys += field_layouts.groups[codes] * np.repeat(sessions, sizes) + np.repeat(begins, sizes)
        places = np.full(int((sessions * len(self._groups)).sum()), len(codes), np.int64)
        # Assigned from the end, so that the first event of each key remains: it serves as the example.
        places[keys[::-1]] = np.arange(len(codes) - 1, -1, -1)
        distinct = np.flatnonzero(places < len(codes))
        which = np.searchsorted(begins, distinct, side="right") - 1
        groups, names = np.divmod(distinct - begins[which], sessions[which])
        kinds: list[Any] = list(self._groups)
        rows = zip(*(each.tolist() for each in (which, groups, names, codes[places[distinct]])), strict=True)
        places[distinct] = [
            self._added_id(
                some[at].part,
                field_layouts.field_layouts[code][1],
                some[at].part.sessions.names[session],
                *kinds[group][:2],
            )
            for at, group, session, code in rows
        ]
        given: Numbers = places[keys]
        return given

    def _added_id(
        self,
        part: LogEvents,
        field_layout: FieldLayout,
        session: str | None,
        names: Sequence[str],
        of_the_file: bool,
    ) -> int:
        more = part.author.added_fields(field_layout, session)
        if more is None:
            return UNNUMBERED
        given = tuple(more.get(name, _ABSENT) for name in names)
        # A field of the file that was not added is a property of the run, so each run makes a statement of its own.
        key = given, part.author.run if of_the_file and _ABSENT in given else None
        return self._added.setdefault(key, len(self._added))

    def _number_singly(self, numbers: Numbers, part: Sequence[Event], fresh: int) -> int:
        """Number the events without an id one by one: below ``UNNUMBERED`` those whose statement others may share, from
        ``fresh`` on the others.
        """
        loose = np.flatnonzero(numbers == UNNUMBERED)
        events = part.at(loose) if isinstance(part, LogEvents) else (part[at] for at in loose.tolist())
        for at, event in zip(loose.tolist(), events, strict=True):
            key = self._keys.of(event)
            if key is None:
                numbers[at], fresh = fresh, fresh + 1
            else:
                numbers[at] = UNNUMBERED - 1 - self._loose.setdefault(key, len(self._loose))
        return fresh

    def _dense(self, numbers: Numbers) -> Counted:
        """The ids without gaps, and the lasting id of each: interned ones in the order of interning,
        then the others.
        """
        interned, end = len(self._interning), max(len(self._interning), int(numbers.max(initial=-1)) + 1)
        # Shared ids of single events count down from -2. They go behind all others: -2 becomes `end`, -3 `end + 1`.
        numbers = np.where(numbers < UNNUMBERED, end + UNNUMBERED - 1 - numbers, numbers)
        used = np.flatnonzero(np.bincount(numbers, minlength=1))
        places = np.zeros(int(used[-1]) + 1 if len(used) else 0, np.int32)
        places[used] = np.arange(len(used), dtype=np.int32)
        # The way back. Only what was interned or shared has a lasting id; the rest stands between `interned` and `end`.
        known = np.where(used < interned, used, np.where(used < end, UNNUMBERED, UNNUMBERED - 1 - (used - end)))
        return places[numbers], known

    def distinct(
        self,
        what: Hashable,
        known: Numbers,
        examples: Callable[[Numbers], Iterable[Event]],
        make: Callable[[Event], H],
    ) -> set[H]:
        """The distinct results of ``make`` for some statements; otherwise like :meth:`map_statements`.

        Statements seen before are not examined again.
        """
        results = self._distinct.get(what)
        if results is None:
            results = self._distinct[what] = _DistinctResults()
        plain = np.flatnonzero(known >= 0)
        fresh = plain[results.numbers(len(self._interning))[known[plain]] < 0]
        results.add(known[fresh], map(make, examples(fresh)))
        others = np.flatnonzero(known < 0)
        return results.of(known[plain]).union(
            self.map_statements(what, known[others].tolist(), lambda which: examples(others[which]), make)
        )

    def map_statements(
        self,
        what: Hashable,
        known: Sequence[int],
        examples: Callable[[list[int]], Iterable[Event]],
        make: Callable[[Event], T],
    ) -> list[T]:
        """The result of ``make`` for each of some statements, worked out once; ``examples`` returns events that make
        the statements at some indices.

        ``make`` may depend only on the fields that the statements consist of.
        """
        results: dict[int, T] = self._results.setdefault(what, {})
        fresh = [at for at, key in enumerate(known) if key == UNNUMBERED or key not in results]
        made = dict(zip(fresh, map(make, examples(fresh)), strict=True))
        # What has no lasting id is made anew each time, and not kept.
        results |= {known[at]: each for at, each in made.items() if known[at] != UNNUMBERED}
        return [made[at] if key == UNNUMBERED else results[key] for at, key in enumerate(known)]
