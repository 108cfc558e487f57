"""Where the fields of an event stand in the messages of one template, and which fields are the same in all of them.

A log has millions of messages, and most of their fields are never used. So the fields of an event are decoded when they
are first read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, KeysView, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from assay.traces.event import Field
from assay.traces.patterns.field_types import Conversion
from assay.traces.patterns.pattern import Place, Shape

_NOTHING_MORE: Mapping[str, Field] = MappingProxyType({})


Part = tuple[Conversion, int, int]
"""The text of a field: its conversion, and where it begins and ends in the message."""


@dataclass(slots=True)
class Form:
    """The field layout of one event in the messages of a template: its pattern, the fields as one message has them, and
    the positions of those that vary.

    ``writers`` are the positions of the id of the broker that wrote the line.
    """

    shape: Shape
    fields: dict[str, Field]
    parts: dict[str, Part]
    writers: tuple[Part, ...]

    def read(self, message: str) -> dict[str, Field]:
        """The fields in a message of this template."""
        fields = self.fields.copy()
        for name, (convert, begin, end) in self.parts.items():
            fields[name] = convert(message[begin:end])
        return fields

    def __reduce__(self) -> tuple[Callable[..., Form], tuple[object, ...]]:
        """Pickle without the conversions, which the pattern holds."""
        return _placed, (self.shape, self.fields, {name: part[1:] for name, part in self.parts.items()})


def _placed(shape: Shape, fields: dict[str, Field], places: Mapping[str, tuple[int, int]]) -> Form:
    """A field layout, rebuilt from the positions of its fields."""
    convert = dict((*shape.groups_around, *shape.groups))
    parts = {name: (convert[name], begin, end) for name, (begin, end) in places.items()}
    return Form(shape, fields, parts, _writers(shape, parts))


def _writers(shape: Shape, parts: Mapping[str, Part]) -> tuple[Part, ...]:
    names = shape.writers
    return tuple([parts[name] for name in names if name in parts]) if names else ()


def forms_of(shape: Shape, message: str) -> list[Form]:
    """The field layouts of the events that a pattern finds in a message; none if a number is too long
    to be converted.
    """
    try:
        return [_form(shape, message, place) for place in shape.places(message)]
    except ValueError:
        return []


def _form(shape: Shape, message: str, places: Iterable[Place]) -> Form:
    fields: dict[str, Field] = dict(shape.constants)
    parts: dict[str, Part] = {}
    for name, convert, begin, end in places:
        fields[name] = convert(message[begin:end])
        parts[name] = convert, begin, end
    return Form(shape, fields, parts, _writers(shape, parts))


class LineFields(Mapping[str, Field]):
    """The fields that a message holds, and ``more``.

    Each is decoded when it is read: a log has too many to keep them all.
    """

    __slots__ = ("_form", "_message", "_more")

    def __init__(self, form: Form, message: str, more: Mapping[str, Field] = _NOTHING_MORE) -> None:
        self._form, self._message, self._more = form, message, more

    def with_more(self, more: Mapping[str, Field]) -> LineFields:
        """The same fields with other additional ones in place of ``more``; these override fields of the message."""
        return LineFields(self._form, self._message, more)

    @property
    def form(self) -> Form:
        """The field layout of the message."""
        return self._form

    @property
    def message(self) -> str:
        """The text that holds the fields."""
        return self._message

    @property
    def names(self) -> KeysView[str]:
        """The names of the fields that the message holds; nothing is decoded for that."""
        return self._form.fields.keys()

    @property
    def more(self) -> Mapping[str, Field]:
        """The additional fields, which the message does not hold."""
        return self._more

    def read(self) -> dict[str, Field]:
        """All fields, decoded."""
        made = self._form.read(self._message)
        made |= self._more
        return made

    def __getitem__(self, name: str) -> Field:
        if name in self._more:
            return self._more[name]
        part = self._form.parts.get(name)
        if part is None:
            return self._form.fields[name]
        convert, begin, end = part
        return convert(self._message[begin:end])

    def __iter__(self) -> Iterator[str]:
        return iter(self.read())

    def __len__(self) -> int:
        return len(self.read())

    def __eq__(self, other: object) -> bool:
        """Equality of mappings; nothing is decoded where both have the same message and equal additional fields."""
        if isinstance(other, LineFields) and self._form is other._form and self._message == other._message:
            return self._more == other._more or self.read() == other.read()
        return Mapping.__eq__(self, other)

    __hash__ = None  # type: ignore[assignment]  # as of every mapping that has no hash

    def __contains__(self, name: object) -> bool:
        return name in self._form.fields or name in self._more

    def __repr__(self) -> str:
        return repr(self.read())

    def __reduce__(self) -> tuple[type[dict[str, Field]], tuple[dict[str, Field]]]:
        return dict, (self.read(),)
