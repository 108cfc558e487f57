"""What the messages of one skeleton state: which fields are the same in all of them, and where the others stand.

A log has millions of messages, and most of what they state is asked for late or never. So the fields of an event are read when they are first
looked at.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from assay.traces.events import Field
from assay.traces.shapes.convert import Conversion
from assay.traces.shapes.shape import Shape

_DIGIT = re.compile("[0-9]")


class Part(NamedTuple):
    """The text of a field: its conversion, and where it begins and ends."""

    convert: Conversion
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Form:
    """One event of the messages of a skeleton: its shape, the fields as one message states them, and which of them vary.

    ``writers`` is where the id of the broker that wrote the line stands.
    """

    shape: Shape
    fields: dict[str, Field]
    varying: tuple[tuple[str, Part], ...]
    writers: tuple[Part, ...]

    def read(self, message: str) -> dict[str, Field]:
        """The fields in a message."""
        fields = self.fields.copy()
        for name, (convert, begin, end) in self.varying:
            fields[name] = convert(message[begin:end])
        return fields


def form_of(shape: Shape, place: re.Match[str], fields: dict[str, Field]) -> Form:
    """The form of an event that was found in one message. What holds no digit is the same in every message of the skeleton."""
    groups = enumerate(shape.groups, 1)
    parts = [(name, Part(convert, *place.span(n))) for n, (name, convert) in groups if place[n] is not None]
    return Form(
        shape,
        fields,
        tuple((name, part) for name, part in parts if _DIGIT.search(place.string, part.begin, part.end)),
        tuple(part for name, part in parts if name in shape.writers),
    )


class LineFields(Mapping[str, Field]):
    """The fields that a message states, and ``more``; they are read when the first one is asked for."""

    __slots__ = ("_form", "_made", "_message", "_more")

    def __init__(self, form: Form, message: str, more: Mapping[str, Field] | None = None) -> None:
        self._form, self._message, self._more = form, message, more
        self._made: dict[str, Field] | None = None

    def with_more(self, more: Mapping[str, Field]) -> LineFields:
        """The same and others, behind them or in their place."""
        return LineFields(self._form, self._message, more)

    @property
    def names(self) -> Collection[str]:
        """The names of the fields that the message states; nothing is read for that."""
        return self._form.fields

    def read(self) -> dict[str, Field]:
        """All of them."""
        made = self._made
        if made is None:
            made = self._form.read(self._message)
            if self._more is not None:
                made |= self._more
            self._made = made
        return made

    def __getitem__(self, name: str) -> Field:
        return self.read()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.read())

    def __len__(self) -> int:
        return len(self.read())

    def __contains__(self, name: object) -> bool:
        return name in self.read()

    def __repr__(self) -> str:
        return repr(self.read())

    def __reduce__(self) -> tuple[type[dict[str, Field]], tuple[dict[str, Field]]]:
        return dict, (self.read(),)
