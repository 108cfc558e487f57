"""All events of a log in columns, and which of them state the same.

NOTE(statements): A cluster says each thing a hundred times. Two events state the same in some fields if they are of one shape, and the texts of
these fields are equal, and what is added to them. What follows from a statement is worked out once for all of its events.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.checker.array_code.array_function import ArrayFunction
from assay.grammar.kernel import TracePlan
from assay.traces.events import Event
from assay.traces.log_events import Events, LogEvents, Packed, Traits, traits_of
from assay.traces.readers.interning import Interning
from assay.traces.readers.moulds import Mould, Moulds
from assay.traces.readers.narrow import Narrow
from assay.traces.readers.repetition import masked
from assay.traces.readers.rows import NEVER
from assay.traces.readers.stretch import Numbers
from assay.traces.shapes.form import Form
from assay.traces.statement import IN_PLACE, OF_THE_FILE, StatementKeys, named_by

Positions = npt.NDArray[np.signedinteger[Any]]
"""Numbers of events, or of what they state, of a whole log: of these there are so many that they are kept in as few bytes as do."""

_ABSENT = object()
_LOOSE = -1
_GIVEN = 1 << 32

Names = Mapping[str, frozenset[str]]
"""The fields that are asked for, by the kind of event."""


class Everywhere(Mapping[str, frozenset[str]]):
    """Fields that are asked for of every kind of event, beside those that are asked for of some."""

    def __init__(self, every: frozenset[str], names: Names = MappingProxyType({})) -> None:
        self._every, self._names = every, names

    def __getitem__(self, kind: str) -> frozenset[str]:
        return self._names.get(kind, frozenset()) | self._every

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def fields_read(plan: TracePlan) -> Names:
    """The fields that anything in a trace clause reads."""
    measured = frozenset(field.field for measure in plan.measures for field in measure.fields)
    return Everywhere(measured, named_by(plan.rules))


@ArrayFunction
def count_out(numbers: Any, begins: Any, order: Any) -> None:
    """Where the entries of each number begin, and the entries in the order of their numbers; ``begins`` has zeros, one for each number and one more."""
    for at in range(numbers.shape[0]):
        begins[numbers[at] + 1] += 1
    for number in range(begins.shape[0] - 1):
        begins[number + 1] += begins[number]
    for at in range(numbers.shape[0]):
        order[begins[numbers[at]]] = at
        begins[numbers[at]] += 1
    for back in range(begins.shape[0] - 1):
        number = begins.shape[0] - 1 - back
        begins[number] = begins[number - 1]
    begins[0] = 0


def in_order(numbers: Positions, count: int) -> tuple[Positions, Numbers]:
    """The positions of entries in the order of their numbers, which are below ``count``, and where those of each number begin."""
    begins, order = np.zeros(count + 1, np.int64), np.empty(len(numbers), np.int32)
    count_out(np.ascontiguousarray(numbers, np.int32), begins, order)
    return order, begins


@dataclass(frozen=True, slots=True)
class Statements:
    """The number of what each event states; the positions of the events in the order of these numbers, and where those of each number begin."""

    numbers: Positions
    order: Positions
    begins: Numbers

    @property
    def examples(self) -> Positions:
        """For each number the position of the first event that states it."""
        return self.order[self.begins[:-1]]

    def positions(self, number: int) -> Positions:
        """The positions of the events that state it."""
        return self.order[self.begins[number] : self.begins[number + 1]]


class EventTable(Events):
    """The events of several logs, one log after the other."""

    def __init__(self, parts: Iterable[Sequence[Event]]) -> None:
        self.parts: tuple[Sequence[Event], ...] = tuple(
            own for part in parts for own in (part.parts if isinstance(part, EventTable) else (part,))
        )
        self._starts = [0, *accumulate(map(len, self.parts))]
        self._of_kind: dict[str | None, npt.NDArray[np.bool_]] = {}

    @classmethod
    def of(cls, events: Sequence[Event]) -> EventTable:
        """Events as a table, which they may be already."""
        return events if isinstance(events, EventTable) else cls([events])

    def __len__(self) -> int:
        return self._starts[-1]

    def __iter__(self) -> Iterator[Event]:
        for part in self.parts:
            yield from part

    def at(self, positions: Positions) -> Iterator[Event]:
        """The events at some positions, in that order."""
        parts = np.searchsorted(self._starts, positions, side="right") - 1
        ends = np.flatnonzero(np.diff(parts)) + 1
        for begin, end in pairwise([0, *ends.tolist(), len(positions)]):
            if begin < end:
                part = self.parts[int(parts[begin])]
                local = positions[begin:end] - self._starts[int(parts[begin])]
                yield from part.at(local) if isinstance(part, LogEvents) else (part[each] for each in local.tolist())

    def only(self, positions: Positions) -> tuple[EventTable, Numbers]:
        """A table of the records of which some events are, which are in order, and the positions here of all its events."""
        parts, kept = list[Sequence[Event]](), [np.empty(0, np.int64)]
        for number, own in zip(
            *_groups(np.searchsorted(self._starts, positions, side="right") - 1, positions), strict=True
        ):
            part, start = self.parts[number], self._starts[number]
            fewer, places = part.only(own - start) if isinstance(part, LogEvents) else _only(part, own - start)
            parts.append(fewer)
            kept.append(places + start)
        return EventTable(parts), np.concatenate(kept)

    def traits(self) -> Counter[Traits]:
        """The traits of the events, and how many have them."""
        return sum(map(traits, self.parts), Counter())

    def where(self, ask: Callable[[Traits], bool]) -> Numbers:
        """The positions of the events of such lines."""
        found: list[Numbers] = []
        for start, part in zip(self._starts, self.parts, strict=False):
            own = part.told(ask) if isinstance(part, LogEvents) else [ask(traits_of(event)) for event in part]
            found.append(np.flatnonzero(own) + start)
        return np.concatenate([np.empty(0, np.int64), *found])

    def of_kind(self, kind: str | None) -> npt.NDArray[np.bool_]:
        """Which of all events are of a kind; found once for each."""
        if kind not in self._of_kind:
            self._of_kind[kind] = np.zeros(len(self), np.bool_)
            self._of_kind[kind][self.where(lambda traits: traits.kind == kind)] = True
        return self._of_kind[kind]

    def such(self, ask: Callable[[Traits], bool]) -> Iterator[Event]:
        """The events of such lines."""
        return self.at(self.where(ask))

    @property
    def times(self) -> Numbers:
        """The times of all events; ``NEVER`` where they state none."""
        return np.concatenate([np.empty(0, np.int64), *map(times, self.parts)])

    def times_at(self, positions: Positions) -> Numbers:
        """The times of the events at some positions."""
        return self._times.at(positions)

    @cached_property
    def _times(self) -> Narrow:
        return Narrow(self.times)

    def by_stream(self, positions: Positions, *, threads: bool) -> Iterator[Numbers]:
        """Where, among some positions, the events are of each log of a process run, and of each thread if ``threads`` are told apart."""
        for number, own in self._by_part(positions):
            part = self.parts[number]
            if isinstance(part, LogEvents):
                if not threads:
                    yield own
                    continue
                names = part.threads[positions[own] - self._starts[number]]
                by_thread = np.argsort(names, kind="stable")
                yield from _groups(names[by_thread], own[by_thread])[1]
                continue
            found: dict[Hashable, list[int]] = {}
            for at, event in zip(own.tolist(), self.at(positions[own]), strict=True):
                key = event.run, event.sequence, event.record.thread if threads else None
                found.setdefault(key, []).append(at)
            yield from (np.array(each, np.int64) for each in found.values())

    def _by_part(self, positions: Positions) -> Iterator[tuple[int, Numbers]]:
        """The number of each log of which some positions are, with where among these its own are."""
        if (np.diff(positions) >= 0).all():
            begins = np.searchsorted(positions, self._starts)
            for number in np.flatnonzero(np.diff(begins)).tolist():
                yield number, np.arange(begins[number], begins[number + 1])
            return
        parts = np.searchsorted(self._starts, positions, side="right") - 1
        order = np.argsort(parts, kind="stable")
        yield from zip(*_groups(parts[order], order), strict=True)

    @cached_property
    def _resolutions(self) -> Narrow | None:
        """For how many milliseconds the time of each event stands; None if for one each."""
        if all(int(_resolutions(part).max(initial=1)) == 1 for part in self.parts):
            return None
        return Narrow(np.concatenate([*map(_resolutions, self.parts)]))

    def ends(self, positions: Positions) -> Numbers:
        """Up to when events were written, in milliseconds since the epoch; counted from 0 where that is not known."""
        stated = self.times_at(positions)
        lasting = np.ones_like(stated) if self._resolutions is None else self._resolutions.at(positions)
        stated[stated == NEVER] = 0
        return stated + lasting

    def statements(self, names: Names) -> Statements:
        """What the events state in the fields that are asked for (see the note on statements)."""
        counting = _Counting(names)
        numbers = np.empty(len(self), np.int32)
        for start, part in zip(self._starts, self.parts, strict=False):
            own = numbers[start : start + len(part)]
            own[:] = _LOOSE
            if isinstance(part, LogEvents):
                for packed in part.packed():
                    own[packed.at] = counting.numbers(packed, part)
        counting.count_loose(numbers, self)
        return Statements(numbers, *in_order(numbers, int(numbers.max(initial=-1)) + 1))


def _only(part: Sequence[Event], positions: Numbers) -> tuple[Sequence[Event], Numbers]:
    return [part[at] for at in positions.tolist()], positions


def times(part: Sequence[Event]) -> Numbers:
    """The times of some events; ``NEVER`` where they state none."""
    if isinstance(part, LogEvents):
        return part.times
    stated = (event.record.time for event in part)
    return np.fromiter((NEVER if time is None else time for time in stated), np.int64, len(part))


def traits(part: Sequence[Event]) -> Counter[Traits]:
    """The traits of some events, and how many have them."""
    return part.traits() if isinstance(part, LogEvents) else Counter(map(traits_of, part))


def _resolutions(part: Sequence[Event]) -> Numbers:
    if isinstance(part, LogEvents):
        return part.resolutions
    return np.fromiter((event.record.resolution for event in part), np.int64, len(part))


def _groups(keys: Numbers, values: Numbers) -> tuple[list[int], list[Numbers]]:
    """The keys, which are in order, each once, and the values of each."""
    if not len(keys):
        return [], []
    begins = [0, *(np.flatnonzero(np.diff(keys)) + 1).tolist()]
    return [int(keys[at]) for at in begins], np.split(values, begins[1:])


class _Forms:
    """What is asked of the messages of each form of each mould: which of their digits, and what they state beside these."""

    def __init__(self, names: Names, moulds: Moulds) -> None:
        self._names, self._moulds = names, moulds
        self._first: list[int] = [0]
        self._chosen: list[int] = []
        self._alike: list[int] = []
        self._groups: list[int] = []

    def extend(self, alike: dict[Hashable, int], groups: dict[Hashable, int]) -> None:
        """Take in the moulds that are new."""
        self.first_form, self.forms = self._moulds.forms
        if len(self._alike) == len(self.forms):
            return
        for mould, form in self.forms[len(self._alike) :]:
            self._add(mould, form, alike, groups)
        self.first, self.chosen = np.array(self._first, np.int64), np.array(self._chosen, np.int64)
        self.alike, self.groups = np.array(self._alike, np.int64), np.array(self._groups, np.int64)

    def _add(self, mould: Mould, form: Form, alike: dict[Hashable, int], groups: dict[Hashable, int]) -> None:
        names = self._names.get(form.shape.kind, frozenset())
        own = sorted(name for name in names & form.fields.keys() if name not in IN_PLACE)
        spans = [(name, *form.parts[name][1:]) for name in own if name in form.parts]
        same = tuple((name, repr(form.fields[name])) for name in own if name not in form.parts)
        texts = tuple((name, masked(mould.skeleton[begin:end])) for name, begin, end in spans)
        self._chosen += (
            at for at, place in enumerate(mould.digits) if any(begin <= place < end for _, begin, end in spans)
        )
        self._first.append(len(self._chosen))
        self._alike.append(alike.setdefault((form.shape.name, same, texts), len(alike)))
        added = tuple(sorted(name for name in names if name not in form.fields or name in IN_PLACE))
        stated = frozenset(form.fields.keys() & {"broker", "session", "owner_session"})
        group = added, not names.isdisjoint(OF_THE_FILE), stated
        self._groups.append(groups.setdefault(group, len(groups)))


class _Counting:
    """Numbers what events state."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._interning = Interning()
        self._forms: dict[int, _Forms] = {}
        self._alike: dict[Hashable, int] = {}
        self._groups: dict[Hashable, int] = {}
        self._given: dict[Hashable, int] = {}

    def numbers(self, packed: Packed, part: LogEvents) -> Numbers:
        """The numbers of events of packed records; of those that name a session, nothing is said."""
        forms = self._forms.get(id(packed.moulds))
        if forms is None:
            forms = self._forms[id(packed.moulds)] = _Forms(self._names, packed.moulds)
        forms.extend(self._alike, self._groups)
        codes = forms.first_form[packed.numbers] + packed.forms
        given = self._givens(forms, codes, packed.sessions, part)
        known = given >= 0
        found = np.full(len(codes), _LOOSE, np.int64)
        owners = forms.alike[codes[known]] * _GIVEN + given[known]
        found[known] = self._interning.numbers(
            codes[known], packed.begins[known], owners, forms.first, forms.chosen, packed.digits
        )
        return found

    def _givens(self, forms: _Forms, codes: Numbers, sessions: Numbers, part: LogEvents) -> Numbers:
        """The number of what is added to each event, of the fields that are asked for."""
        keys = forms.groups[codes] * len(part.sessions.names) + sessions
        places = np.full(len(self._groups) * len(part.sessions.names), len(codes), np.int64)
        places[keys[::-1]] = np.arange(len(codes) - 1, -1, -1)
        distinct = np.flatnonzero(places < len(codes))
        first = places[distinct]
        kinds: list[Any] = list(self._groups)
        found = np.empty(len(distinct), np.int64)
        for at, (key, example) in enumerate(zip(distinct.tolist(), first.tolist(), strict=True)):
            group, session = divmod(key, len(part.sessions.names))
            names, of_the_file, _ = kinds[group]
            _, form = forms.forms[int(codes[example])]
            found[at] = self._given_number(part, form, part.sessions.names[session], names, of_the_file=of_the_file)
        places[distinct] = found
        given: Numbers = places[keys]
        return given

    def _given_number(
        self, part: LogEvents, form: Form, session: str | None, names: Sequence[str], *, of_the_file: bool
    ) -> int:
        more = part.author.added(form, session)
        if more is None:
            return _LOOSE
        given = tuple(more.get(name, _ABSENT) for name in names)
        key = given, part.author.run if of_the_file and _ABSENT in given else None
        return self._given.setdefault(key, len(self._given))

    def count_loose(self, numbers: Positions, table: EventTable) -> None:
        """Give numbers to the events that have none, one by one."""
        keys = StatementKeys(self._names)
        known: dict[Hashable, int] = {}
        begin = len(self._interning)
        loose = np.flatnonzero(numbers == _LOOSE)
        for at, event in zip(loose.tolist(), table.at(loose), strict=True):
            key = keys.of(event)
            numbers[at] = begin + known.setdefault(at if key is None else key, len(known))
