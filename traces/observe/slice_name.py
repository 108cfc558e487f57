"""The fields of an event that name its slice."""

from __future__ import annotations

from assay.grammar.kernel import Slicing
from assay.traces.event import Event

Name = tuple[str, ...]


def slice_fields(slicing: Slicing, event: Event) -> Name:
    """The values of the naming fields, as many of the first ones as the event has."""
    found: list[str] = []
    for field in slicing.fields:
        value = event.fields.get(field)
        if value.__class__ is not str:
            if not isinstance(value, int | str):
                break
            value = str(value)
        found.append(value)
    return tuple(found)
