"""What the messages of one skeleton state: which fields are the same in all of them, and where the others stand.

A log has millions of messages, and most of what they state is asked for late or never. So the fields of an event are read when they are first
looked at.
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
"""The text of a field: its conversion, and where it begins and ends."""


@dataclass(slots=True)
class Form:
    """One event of the messages of a skeleton: its shape, the fields as one message states them, and where they stand.

    ``writers`` is where the id of the broker that wrote the line stands.
    """

    shape: Shape
    fields: dict[str, Field]
    parts: dict[str, Part]
    writers: tuple[Part, ...]

    def read(self, message: str) -> dict[str, Field]:
        """The fields in a message."""
        fields = self.fields.copy()
        for name, (convert, begin, end) in self.parts.items():
            fields[name] = convert(message[begin:end])
        return fields

    def __reduce__(self) -> tuple[Callable[..., Form], tuple[object, ...]]:
        """Conversions do not travel: the shape has them."""
        return _placed, (self.shape, self.fields, {name: part[1:] for name, part in self.parts.items()})


def _placed(shape: Shape, fields: dict[str, Field], places: Mapping[str, tuple[int, int]]) -> Form:
    """A form of fields and the places at which they stand."""
    convert = dict((*shape.groups_around, *shape.groups))
    parts = {name: (convert[name], begin, end) for name, (begin, end) in places.items()}
    return Form(shape, fields, parts, _writers(shape, parts))


def _writers(shape: Shape, parts: Mapping[str, Part]) -> tuple[Part, ...]:
    names = shape.writers
    return tuple([parts[name] for name in names if name in parts]) if names else ()


def forms_of(shape: Shape, message: str) -> list[Form]:
    """The forms of the events that a shape finds in a message; none if a number is too long for any number."""
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
    """The fields that a message states, and ``more``. Each is read when it is asked for: a log has too many to keep them all."""

    __slots__ = ("_form", "_message", "_more")

    def __init__(self, form: Form, message: str, more: Mapping[str, Field] = _NOTHING_MORE) -> None:
        self._form, self._message, self._more = form, message, more

    def with_more(self, more: Mapping[str, Field]) -> LineFields:
        """The same with others, behind them or in their place, instead of those that it has."""
        return LineFields(self._form, self._message, more)

    @property
    def form(self) -> Form:
        """What says where the fields stand."""
        return self._form

    @property
    def message(self) -> str:
        """The text that states them."""
        return self._message

    @property
    def names(self) -> KeysView[str]:
        """The names of the fields that the message states; nothing is read for that."""
        return self._form.fields.keys()

    @property
    def more(self) -> Mapping[str, Field]:
        """The fields that the message does not state."""
        return self._more

    def read(self) -> dict[str, Field]:
        """All of them."""
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
        """As mappings are equal; where two state the same message, nothing is read for that."""
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
