"""The fields of an event that name its slice, and the order of such names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

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


def keys_of(names: Collection[Name]) -> dict[Name, str]:
    """A text for each name: ``orders-0``. Where two names would have one text, as ``a-b`` with ``c`` and ``a`` with
    ``b-c`` would, their parts are listed instead: ``a, b-c``.
    """
    joined = {name: "-".join(name) for name in names}
    counts = Counter(joined.values())
    # All names of one text are listed, not all but one: what a name is called must not depend on which is read first.
    return {name: text if counts[text] == 1 else ", ".join(name) for name, text in joined.items()}


def by_number(part: str) -> tuple[bool, int, str, str]:
    """A key that orders numbers by value, before ``10`` the ``2``, and after all that is no number."""
    # A superscript two is a digit and no number.
    if not part.isdecimal():
        return False, 0, part, ""
    # Python makes no integer of more than 4,300 digits; a damaged line may have more.
    figures = part.lstrip("0")
    return True, len(figures), figures, part
