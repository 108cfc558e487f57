"""Where the fields of an event stand in the messages of one template, and which fields are the same in all of them.

A log has millions of messages, and most of their fields are never used. So the fields of an event are decoded when they
are first read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, KeysView, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.event import Field
from assay.traces.patterns.field_types import Conversion

if TYPE_CHECKING:
    from assay.traces.patterns.pattern import FieldSpan, LinePattern

_NOTHING_MORE: Mapping[str, Field] = MappingProxyType({})


TypedSpan = tuple[Conversion, int, int]
"""The text of a field: its conversion, and where it begins and ends in the message."""


@dataclass(slots=True)
class FieldLayout:
    """The field layout of one event in the messages of a template. It has the pattern, the fields as one message has
    them, and the positions of those that vary.

    ``writers`` are the positions of the id of the broker that wrote the line.
    """

    pattern: LinePattern
    fields: dict[str, Field]
    spans: dict[str, TypedSpan]
    writers: tuple[TypedSpan, ...]

    def read(self, message: str) -> dict[str, Field]:
        """The fields in a message of this template."""
        fields = self.fields.copy()
        for name, (convert, begin, end) in self.spans.items():
            fields[name] = convert(message[begin:end])
        return fields

    def __reduce__(self) -> tuple[Callable[..., FieldLayout], tuple[object, ...]]:
        """Pickle without the conversions, which the pattern holds."""
        return _placed, (self.pattern, self.fields, {name: span[1:] for name, span in self.spans.items()})


def _placed(pattern: LinePattern, fields: dict[str, Field], places: Mapping[str, tuple[int, int]]) -> FieldLayout:
    """A field layout, rebuilt from the positions of its fields."""
    convert = pattern.conversions
    spans = {name: (convert[name], begin, end) for name, (begin, end) in places.items()}
    return FieldLayout(pattern, fields, spans, _writers(pattern, spans))


def _writers(pattern: LinePattern, spans: Mapping[str, TypedSpan]) -> tuple[TypedSpan, ...]:
    names = pattern.writers
    return tuple([spans[name] for name in names if name in spans]) if names else ()


def field_layouts_of(pattern: LinePattern, message: str) -> list[FieldLayout]:
    """The field layouts of the events that a pattern finds in a message; none if a number is too long
    to be converted.
    """
    try:
        return [_layout(pattern, message, place) for place in pattern.places(message)]
    except ValueError:
        return []


def _layout(pattern: LinePattern, message: str, places: Iterable[FieldSpan]) -> FieldLayout:
    # A field may have several groups (`name`, `name_`), of which one alternative took part; the last of these counts.
    fields: dict[str, Field] = dict(pattern.constants)
    spans: dict[str, TypedSpan] = {}
    for name, convert, begin, end in places:
        fields[name] = convert(message[begin:end])
        spans[name] = convert, begin, end
    return FieldLayout(pattern, fields, spans, _writers(pattern, spans))


class LineFields(Mapping[str, Field]):
    """The fields that a message holds, and ``more``.

    Each is decoded when it is read: a log has too many to keep them all.
    """

    __slots__ = ("_layout", "_message", "_more")

    def __init__(self, field_layout: FieldLayout, message: str, more: Mapping[str, Field] = _NOTHING_MORE) -> None:
        self._layout, self._message, self._more = field_layout, message, more

    def with_more(self, more: Mapping[str, Field]) -> LineFields:
        """The same fields with other additional ones in place of ``more``; these override fields of the message."""
        return LineFields(self._layout, self._message, more)

    @property
    def field_layout(self) -> FieldLayout:
        """The field layout of the message."""
        return self._layout

    @property
    def message(self) -> str:
        """The text that holds the fields."""
        return self._message

    @property
    def names(self) -> KeysView[str]:
        """The names of the fields that the message holds; nothing is decoded for that."""
        return self._layout.fields.keys()

    @property
    def more(self) -> Mapping[str, Field]:
        """The additional fields, which the message does not hold."""
        return self._more

    def read(self) -> dict[str, Field]:
        """All fields, decoded."""
        made = self._layout.read(self._message)
        made |= self._more
        return made

    def __getitem__(self, name: str) -> Field:
        if name in self._more:
            return self._more[name]
        span = self._layout.spans.get(name)
        if span is None:
            return self._layout.fields[name]
        convert, begin, end = span
        return convert(self._message[begin:end])

    def __iter__(self) -> Iterator[str]:
        return iter(self.read())

    def __len__(self) -> int:
        return len(self.read())

    def __eq__(self, other: object) -> bool:
        """Equality of mappings; nothing is decoded where both have the same message and equal additional fields."""
        # The usual comparison is of a line with its copy in a rotated or merged file.
        if isinstance(other, LineFields) and self._layout is other._layout and self._message == other._message:
            return self._more == other._more or self.read() == other.read()
        return Mapping.__eq__(self, other)

    __hash__ = None  # type: ignore[assignment]  # as of every mapping that has no hash

    def __contains__(self, name: object) -> bool:
        return name in self._layout.fields or name in self._more

    def __repr__(self) -> str:
        return repr(self.read())

    def __reduce__(self) -> tuple[type[dict[str, Field]], tuple[dict[str, Field]]]:
        # The layout would take its whole pattern along with every event that goes to another process.
        return dict, (self.read(),)
