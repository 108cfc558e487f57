"""The fields of an event that name its slice, and the order of such names."""

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


def by_number(part: str) -> tuple[bool, int, str, str]:
    """A key that orders numbers by value, before ``10`` the ``2``, and after all that is no number."""
    # A superscript two is a digit and no number.
    if not part.isdecimal():
        return False, 0, part, ""
    # Python makes no integer of more than 4,300 digits; a damaged line may have more.
    figures = part.lstrip("0")
    return True, len(figures), figures, part
