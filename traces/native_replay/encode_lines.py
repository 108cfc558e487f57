"""Encodes the fields of lines as packed rows, which compiled rules read.

A value that many lines repeat is decoded once. Numbers of a range, which rarely repeat, are packed by array functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from operator import attrgetter, itemgetter
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from assay.checker.layout.encode import encode
from assay.checker.layout.row import WORD, RowLayout, Rows
from assay.checker.layout.shape import BitRange, NumberShape
from assay.grammar import kernel as k
from assay.grammar.identity_memo import IdentityMemo
from assay.grammar.kernel import types as t
from assay.grammar.lazy_dataclass import dataclass
from assay.traces.attribution.run_events import Traits
from assay.traces.event import Event, Field, ProcessRun
from assay.traces.observe.field_values import FieldMismatchError, Named, OutOfRangeError, Reached, decode, needs
from assay.traces.observe.model_size import Needs
from assay.traces.observe.observation import fields_of
from assay.traces.patterns.template_fields import LineFields
from assay.traces.store.distinct_values import distinct_values
from assay.traces.store.record_block import Numbers
from assay.traces.table.event_table import EventTable


class _Absent:
    """Stands for a field that an event does not have."""


_ABSENT = _Absent()
_PLAIN = frozenset({int, str, type(None)})
"""Types whose equal values are the same value; others are compared by type and text, because ``True == 1``."""


@dataclass(frozen=True, slots=True)
class FieldValues:
    """The values of one field over some events: each distinct value once, and for each event the number of its own."""

    every: Sequence[Field]
    numbers: Numbers


@dataclass(frozen=True, slots=True)
class Integers:
    """The values of one field over some events, all integers."""

    every: Numbers


Column = FieldValues | Integers


@dataclass(frozen=True, slots=True)
class EncodedStatements:
    """The fields of one rule over the events that have them all; ``rule`` is the rule's index in its clause. One column
    for each field.
    """

    rule: int
    positions: Numbers
    columns: tuple[Column, ...]


class KindsOfEvents:
    """The events of a log by kind. ``more`` are fields that every event has besides its own."""

    def __init__(self, events: Sequence[Event], more: Mapping[str, Field] = MappingProxyType({})) -> None:
        self._events, self._more = events, more
        table = EventTable.of(events)
        kinds = dict.fromkeys(traits.kind for traits in table.traits())
        self.positions = {kind: table.positions_where(partial(_is_of_kind, kind)) for kind in kinds}

    def logged(self, rules: Sequence[k.TraceRule]) -> Iterator[EncodedStatements]:
        """The encoded fields for each rule that has events."""
        # A table makes an event at each read; here each is read once for every field, so they are all made at once.
        events = list(self._events) if isinstance(self._events, EventTable) else self._events
        for kind, positions in self.positions.items():
            speaking = [(at, rule) for at, rule in enumerate(rules) if rule.event == kind]
            if speaking:
                fields = _Fields(list(map(events.__getitem__, positions.tolist())), self._more)
                for at, rule in speaking:
                    yield _logged(at, rule, positions, fields)


def _is_of_kind(kind: str, traits: Traits) -> bool:
    return traits.kind == kind


class _Fields:
    """The fields of events of one kind, by name."""

    def __init__(self, events: Sequence[Event], more: Mapping[str, Field]) -> None:
        self._events, self._more = events, more
        self._own = list(map(attrgetter("fields"), events))
        # All fields of a line at once: each rule asks for several of them, and each reading decodes anew.
        if LineFields in set(map(type, self._own)):
            self._own = [own.read() if own.__class__ is LineFields else own for own in self._own]
        self._known: dict[str, list[Field | _Absent]] = {}
        self._types: dict[str, set[type]] = {}

    def types(self, name: str) -> set[type]:
        """The types of the values of a field."""
        if name not in self._types:
            self._types[name] = set(map(type, self.named(name)))
        return self._types[name]

    def named(self, name: str) -> list[Field | _Absent]:
        """The value of a field for each event."""
        if name not in self._known:
            self._known[name] = self._read(name)
        return self._known[name]

    def _read(self, name: str) -> list[Field | _Absent]:
        if name in self._more:
            return [self._more[name]] * len(self._events)
        with suppress(KeyError):
            return list(map(itemgetter(name), self._own))
        # Some event lacks the field: the loop in C above gave up at the first that does.
        found: list[Field | _Absent] = [own.get(name, _ABSENT) for own in self._own]
        if name in _OF_RUNS:
            runs = IdentityMemo[ProcessRun, Field]()
            for at, event in enumerate(self._events):
                if found[at] is _ABSENT:
                    found[at] = runs.get_or_make(event.run, _OF_RUNS[name])
        elif name == "previous_run":
            return [fields_of(event).get(name, _ABSENT) for event in self._events]
        return found


_OF_RUNS: Mapping[str, Callable[[ProcessRun], str]] = {"node": lambda run: run.node, "run": str}
"""The fields that every event has unless it has its own."""


def _logged(at: int, rule: k.TraceRule, positions: Numbers, fields: _Fields) -> EncodedStatements:
    given = [fields.named(each.field) for each in rule.fields]
    there = np.ones(len(positions), np.bool_)
    for each, own in zip(rule.fields, given, strict=True):
        if _Absent in fields.types(each.field):
            there &= np.array([value is not _ABSENT for value in own], np.bool_)
    # A line without a field that a rule needs is no line of that rule; another rule may still take it.
    if not there.all():
        kept = np.flatnonzero(there).tolist()
        given = [[own[each] for each in kept] for own in given]
    columns = (
        _column(own, fields.types(each.field) - {_Absent}, isinstance(each.binder.type, t.RangeType))
        for each, own in zip(rule.fields, given, strict=True)
    )
    return EncodedStatements(at, positions[there], tuple(columns))


def _column(given: Sequence[Field | _Absent], kinds: set[type], is_range: bool) -> Column:
    if is_range and kinds == {int}:
        with suppress(OverflowError):  # numbers of more than 64 bits are handled as any other values
            return Integers(np.array(given, np.int64))
    if kinds <= _PLAIN:
        return FieldValues(*distinct_values(given))  # type: ignore[arg-type]  # no absent value is left here
    _, numbers = distinct_values([(type(each), repr(each)) for each in given])
    # Numbers count from 0 in the order of first places, so the values found there stand in the order of their numbers.
    firsts = np.unique(numbers, return_index=True)[1]
    return FieldValues([given[at] for at in firsts.tolist()], numbers)


def needed(logged: Sequence[EncodedStatements], rules: Sequence[k.TraceRule]) -> Needs:
    """The elements and the largest number that the model must have for these fields."""
    named: set[tuple[str, str]] = set()
    largest = 0
    for each in logged:
        for column, field in zip(each.columns, rules[each.rule].fields, strict=True):
            for need in _needs(column, field.binder.type):
                match need:
                    case Named(sort, name):
                        named.add((sort, name))
                    case Reached(number):
                        largest = max(largest, number)
    return frozenset(named), largest


def _needs(column: Column, type_: t.Type) -> Iterator[Named | Reached]:
    match column:
        case Integers(every):
            return needs(int(every.max()), type_) if len(every) else iter(())
        case FieldValues(every):
            return chain.from_iterable(needs(value, type_) for value in every)


def packed(logged: EncodedStatements, rule: k.TraceRule, layout: RowLayout, words: int) -> tuple[Numbers, Rows]:
    """The positions of the events whose fields have the form of the rule, and their fields as rows of ``words`` words.

    Raises ``OutOfRangeError`` if a value has the form of its type and is none of its values.
    """
    fits = np.ones(len(logged.positions), np.bool_)
    rows = np.zeros((len(logged.positions), words), np.uint64)
    for column, field, place in zip(logged.columns, rule.fields, layout.places, strict=True):
        match column:
            case Integers(every):
                _put_numbers(rows, every, place)
            case FieldValues(every, numbers):
                fitting, codes = _codes(every, field.binder.type, place, words)
                fits &= fitting[numbers]
                # Each field has bits of its own, which no other one sets.
                rows |= codes[numbers]
    return logged.positions[fits], rows[fits]


def _codes(every: Sequence[Field], type_: t.Type, place: BitRange, words: int) -> tuple[npt.NDArray[np.bool_], Rows]:
    """For each value: whether it has the form of the type, and its words."""
    fitting, codes = np.ones(len(every), np.bool_), np.zeros((len(every), words), np.uint64)
    for at, value in enumerate(every):
        try:
            code = encode(decode(value, type_), place.shape) << place.shift
        except FieldMismatchError:
            fitting[at] = False
        else:
            codes[at] = np.frombuffer(code.to_bytes(8 * words, "little"), "<u8")
    return fitting, codes


def _put_numbers(rows: Rows, numbers: Numbers, place: BitRange) -> None:
    shape = place.shape
    assert isinstance(shape, NumberShape)
    if len(numbers) and not (shape.low <= numbers.min() and numbers.max() <= shape.high):
        raise OutOfRangeError(f"a number is not in {shape.low} .. {shape.high}")
    codes = (numbers - shape.low).astype(np.uint64)
    at, by = divmod(place.shift, WORD)
    rows[:, at] |= codes << np.uint64(by)
    # The number goes on in the next word. Then `by` is not 0, and the shift is by less than a word.
    if by + shape.width > WORD:
        rows[:, at + 1] |= codes >> np.uint64(WORD - by)
