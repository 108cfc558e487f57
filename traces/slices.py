"""Which events belong to which slice of a log: by the fields that name it, and by how often it began anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from assay.grammar.kernel import Slicing
from assay.traces.events import Event, Field
from assay.traces.lives import lives
from assay.traces.shapes.form import LineFields
from assay.traces.statement import EVERY_SLICE

Name = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SlicedEvents:
    """The events of no slice, and those of each slice by its name: ``orders-0``, and ``orders-0#2`` when it was created again."""

    shared: tuple[Event, ...]
    slices: Mapping[str, tuple[Event, ...]]

    @property
    def all(self) -> list[Event]:
        """All events, those of slices as their slices see them."""
        return [*self.shared, *(event for events in self.slices.values() for event in events)]


def sliced(slicing: Slicing, events: Sequence[Event]) -> SlicedEvents:
    """The events by slice. One that names a whole group of slices, by the first fields alone, is an event of each of them."""
    shared: list[Event] = []
    named: dict[Name, list[Event]] = {}
    of_groups: list[tuple[Name, Event]] = []
    marks = _Marks(slicing.sort.elements[0])
    for event in events:
        name = _name(slicing, event)
        if not name:
            shared.append(event)
            continue
        marked = Event(event.kind, event.shape, marks.on(event.fields), event.record, event.run, event.stream)
        if len(name) == len(slicing.fields):
            named.setdefault(name, []).append(marked)
        else:
            of_groups.append((name, marked))
    slices: dict[str, tuple[Event, ...]] = {}
    for name in sorted(named, key=_natural):
        of_group = [replace(event) for group, event in of_groups if name[: len(group)] == group]
        for number, part in enumerate(lives(slicing, named[name], of_group), 1):
            slices["-".join(name) + ("" if number == 1 else f"#{number}")] = tuple(part)
    return SlicedEvents(tuple(shared), slices)


class _Marks:
    """Adds the field that every event of a slice has. What lines do not state themselves is alike for many, and kept once."""

    def __init__(self, stands_for: str) -> None:
        self._stands_for = stands_for
        self._marked: dict[int, tuple[Mapping[str, Field], Mapping[str, Field]]] = {}

    def on(self, fields: Mapping[str, Field]) -> Mapping[str, Field]:
        """The fields with the mark."""
        if not isinstance(fields, LineFields):
            return {**fields, EVERY_SLICE: self._stands_for}
        known = self._marked.get(id(fields.more))
        if known is None:
            known = self._marked[id(fields.more)] = fields.more, {**fields.more, EVERY_SLICE: self._stands_for}
        return fields.with_more(known[1])


def _name(slicing: Slicing, event: Event) -> Name:
    """The values of the naming fields, as many of the first ones as the event has."""
    found: list[str] = []
    for field in slicing.fields:
        value = event.fields.get(field)
        if not isinstance(value, int | str):
            break
        found.append(str(value))
    return tuple(found)


def _natural(name: Name) -> tuple[tuple[bool, int, str], ...]:
    return tuple((part.isdigit(), int(part) if part.isdigit() else 0, part) for part in name)
