"""Assigns each event to its slice: by the fields that name the slice, and by the incarnation of the slice under that
name.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Iterator, Mapping, Sequence
from typing import TypeVar

import numpy as np

from assay.grammar.kernel import Slicing
from assay.grammar.lazy_dataclass import dataclass
from assay.traces.attribution.run_events import LogEvents
from assay.traces.event import Event
from assay.traces.observe.slice_incarnations import incarnations
from assay.traces.observe.slice_name import Name, by_number, keys_of, slice_fields
from assay.traces.table.event_selection import Selection, SliceField
from assay.traces.table.event_table import EventTable, Positions, in_order
from assay.traces.table.statement_ids import EveryKind, FieldNames

H = TypeVar("H", bound=Hashable)


@dataclass(frozen=True, slots=True)
class SlicedEvents:
    """The shared events, and the events of each slice by its name: ``orders-0``, and ``orders-0#2`` for its second
    incarnation.
    """

    shared: Selection
    slices: Mapping[str, Selection]
    names: FieldNames

    @property
    def all(self) -> Iterator[Event]:
        """All events. Those of a slice come as the slice sees them, so an event of a group occurs once for each slice
        of it.
        """
        yield from self.shared
        for events in self.slices.values():
            yield from events

    def __len__(self) -> int:
        return len(self.shared) + sum(map(len, self.slices.values()))

    def distinct(self, what: Hashable, make: Callable[[Event], H]) -> set[H]:
        """The set of ``make(event)`` over all distinct statements, shared and of slices.

        Results are cached under ``what`` across calls, for logs that grow (see ``traces.table.statement_ids``).
        """
        statements = self.shared.table.statements(self.names)
        found = self.shared.distinct(statements, self.shared.positions, (what, "shared"), make)
        if self.slices:
            # All slices have one table, so one selection asks for the events of all.
            one, *others = self.slices.values()
            positions = np.concatenate([one.positions, *(each.positions for each in others)])
            found |= one.distinct(statements, positions, (what, "of slices"), make)
        return found


def unsliced(events: Sequence[Event], names: FieldNames) -> SlicedEvents:
    """All events as shared ones: no slices."""
    return SlicedEvents(Selection.of(events, names), {}, names)


def sliced(slicing: Slicing, events: Sequence[Event], names: FieldNames, *, lacking: bool = True) -> SlicedEvents:
    """The events by slice; ``names`` are the fields that their clause reads. Where logs are ``lacking``, the line that
    reports that a slice was created again may be missing.

    An event that has only the first of the naming fields, such as a topic without a partition, names a group of slices.
    It belongs to each of them.
    """
    table = EventTable.of(events)
    telling = frozenset({*slicing.fields, *(() if slicing.identity is None else (slicing.identity,))})
    statements = table.statements(EveryKind(telling, names))
    found = _Named(slicing, table)
    mark = SliceField(slicing.sort.elements[0])
    slices: dict[str, Selection] = {}
    # Nothing tells incarnations apart, and no event is of several slices: positions are those of the table as they are.
    undivided = slicing.since is None and slicing.identity is None and not found.groups
    keys = keys_of(found.slices)
    for name in sorted(found.slices, key=lambda each: tuple(map(by_number, each))):
        own = found.slices[name]
        if undivided:
            slices[_free(keys[name], slices)] = Selection(table, own, statements.numbers, mark)
            continue
        # The line of a topic is about each of its partitions: `orders` is a group of `orders-0` and `orders-1`.
        of_group = [found.groups[name[:size]] for size in range(1, len(name)) if name[:size] in found.groups]
        # The slice's own events stand in front, since `incarnations` counts on that; the parts are sorted again below.
        every = np.concatenate([own, *of_group])
        group = np.sort(every[len(own) :])
        every[len(own) :] = group
        selection = Selection(table, every, statements.numbers)
        for number, part in enumerate(incarnations(slicing, selection, len(own), lacking=lacking), 1):
            key = _free(keys[name] + ("" if number == 1 else f"#{number}"), slices)
            slices[key] = Selection(table, np.sort(every[part]), statements.numbers, mark)
    return SlicedEvents(Selection(table, found.shared, statements.numbers), slices, names)


def _free(key: str, taken: Container[str]) -> str:
    """The key, or one like it that is not taken: a slice may itself be called ``x#2``, and none may replace another."""
    while key in taken:
        key += "'"
    return key


class _Named:
    """The positions of the events of each slice, of each group of slices, and of the shared events."""

    def __init__(self, slicing: Slicing, table: EventTable) -> None:
        self.slices: dict[Name, Positions] = {}
        self.groups: dict[Name, Positions] = {}
        self.shared = np.empty(0, np.int32)
        known: dict[Name, int] = {}
        if any(isinstance(part, LogEvents) for part in table.parts):
            statements = table.statements(
                EveryKind(frozenset(slicing.fields))
            )  # far fewer than what events state in all
            names = table.map_statements(statements, "names a slice", lambda event: slice_fields(slicing, event))
            codes = np.array([known.setdefault(name, len(known)) for name in names], np.int32)
            own = codes[statements.numbers] if len(codes) else np.empty(0, np.int32)
        else:  # of events that are objects hardly two state the same
            own = np.array([known.setdefault(slice_fields(slicing, event), len(known)) for event in table], np.int32)
        order, begins = in_order(own, len(known))
        for name, code in known.items():
            positions = order[begins[code] : begins[code + 1]]
            if not name:
                self.shared = positions
            elif len(name) == len(slicing.fields):
                self.slices[name] = positions
            else:
                self.groups[name] = positions
