"""Decodes one line as an event, as the ``from`` block of a trace clause says; docs/events.md has the schema."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from assay.grammar.kernel.event_source import DEFAULT_KEYS, DEFAULT_SOURCE, EventSource
from assay.grammar.lazy_dataclass import dataclass
from assay.traces.event import Field, LogPosition, LogRecord, Opaque
from assay.traces.input.events.edn import EdnError, is_jepsen, jepsen_object
from assay.traces.input.events.exact_values import (
    MISFIT,
    TWICE,
    exact_json,
    is_logfmt,
    logfmt,
    named_twice,
    unusual_json,
)
from assay.traces.input.events.fields import MOST_DIGITS, as_field, field_readers
from assay.traces.input.events.paths import MISSING, compiled_path
from assay.traces.input.events.stamps import CausalStamp, StampError, StampReader
from assay.traces.input.events.text_lines import TextLines
from assay.traces.input.events.times import EventClock, TimeError
from assay.traces.input.lines.moments import timestamp

RESERVED = frozenset(DEFAULT_KEYS)
"""The keys that are not fields of the event, unless the clause names them."""


@dataclass(frozen=True, slots=True)
class JsonEvent:
    """One line: its kind, its fields, and the process run that wrote it; ``node`` is empty if the line does not name
    it. ``sequence`` is its number, and ``stamp`` what came before it, if the clause says which keys hold them.
    """

    kind: str
    fields: Mapping[str, Field]
    record: LogRecord
    node: str
    run: int
    sequence: int | None = None
    stamp: CausalStamp | None = None


class NoEventError(Exception):
    """Raised for a line that is not an event, but may have been meant as one; the text says why."""


class OtherLineError(Exception):
    """Raised for a line that is none of the events; the text says why."""


class EventDecoder:
    """Decodes the lines of files of events."""

    def __init__(self, source: EventSource = DEFAULT_SOURCE) -> None:
        self.source = source
        self._at = {key: compiled_path(path) for key, path in source.keys}
        self._names = dict(source.keys)
        self._paths = frozenset(path for key, path in source.keys if key not in {"message", "level"})
        self._clock = EventClock(source)
        self._stamps = StampReader(source) if source.order == "causal" else None
        self._readers = field_readers(source)
        # `node` and `run` are never fields of their own: `fields_of` adds them to each event, in the form that rules
        # expect.
        self._hidden = RESERVED - (source.needed - {"node", "run"})

    def describes(self, line: bytes) -> bool:  # noqa: ARG002 - lines of text are described by patterns
        """Whether a line that is no object is an event."""
        return False

    def recognises(self, line: bytes) -> bool:
        """Whether a line is a JSON object that names its event. A line that is cut has to hold the key."""
        try:
            content = _parsed(line)
        except (ValueError, RecursionError):
            key = self._names["event"].rpartition(".")[2]
            return line.startswith(b"{") and f'"{key}"'.encode() in line
        return isinstance(content, dict) and self.names_event(content)

    def names_event(self, content: Mapping[str, Any]) -> bool:
        """Whether an object names its event."""
        return isinstance(self._at["event"](content), str)

    def events(self, line: bytes | dict[str, Any], place: LogPosition, time: object = None) -> list[JsonEvent]:  # noqa: ARG002
        """The events of a line, or of an object of a document: one. ``time`` is when a line of text was collected.

        Raises ``NoEventError`` or ``OtherLineError``.
        """
        if isinstance(line, dict):
            return [self.of_object(line, place, json.dumps(line, default=str, skipkeys=True).encode())]
        content = logfmt(line) if is_logfmt(line) else self._object(line)
        return [self.of_object(content, place, line)]

    def of_object(self, content: Mapping[str, Any], place: LogPosition, line: bytes = b"") -> JsonEvent:
        """The event that an object states; ``line`` is what to show of it."""
        # First of all: under which name a cell is, is not known, so no other key can be trusted.
        if MISFIT in content:
            raise NoEventError(content[MISFIT])
        if TWICE in content and (doubled := named_twice(content) & self._paths):
            raise NoEventError(f"the line has the key `{min(doubled)}` twice")
        kind = self._at["event"](content)
        if not isinstance(kind, str):
            if kind is MISSING and "event" in self.source.logged:
                raise OtherLineError(f"lines without `{self._names['event']}`, the name of an event")
            raise NoEventError(f"`{self._names['event']}`, the name of the event, is missing or no text")
        stamp = self._at["time"](content)
        try:
            time, resolution = self._clock.read(None if stamp is MISSING else stamp)
        except TimeError as error:
            raise NoEventError(f"`{self._names['time']}` {error}") from None
        thread, level, message = (self._text(content, name) for name in ("thread", "level", "message"))
        message = message or line.decode("utf-8", "replace").strip()
        record = LogRecord(place, time, level or "INFO", "", thread, message, resolution)
        run = self._number(content, "run", 1)
        if run is None or run < 1:
            raise NoEventError(f"`{self._names['run']}`, the run of the node, is no number from 1 on")
        return JsonEvent(
            kind,
            MappingProxyType(self._fields(content)),
            record,
            self._node(content),
            run,
            self._number(content, "sequence", None) if "sequence" in self._at else None,
            self._stamp(kind, content),
        )

    def _object(self, line: bytes) -> dict[str, Any]:
        text = line.strip()
        try:
            content = _parsed(line)
        except UnicodeDecodeError:
            raise NoEventError("the text is not UTF-8") from None
        except EdnError as error:
            raise NoEventError(str(error)) from None
        except (ValueError, RecursionError) as error:
            if (unusual := unusual_json(error)) is not None:
                raise NoEventError(unusual) from None
            # Half an event at least begins or ends like one; any other text was written by something else.
            if text.startswith(b"{") or text.endswith(b"}"):
                raise NoEventError("the line is no JSON, or only the beginning of it") from None
            raise OtherLineError("other text than JSON") from None
        if not isinstance(content, dict):
            raise NoEventError("the line is no JSON object")
        return content

    def _fields(self, content: Mapping[str, Any]) -> dict[str, Field]:
        hidden, doubled = self._hidden, named_twice(content)
        fields: dict[str, Field] = {
            name: as_field(value) for name, value in content.items() if name not in hidden and name is not TWICE
        }
        for name in doubled:
            fields[name] = Opaque(f"the line has the key `{name}` twice")
        for name, read in self._readers:
            value = read(content)
            if value is not MISSING:
                fields[name] = value
            else:
                fields.pop(name, None)
        return fields

    def _node(self, content: Mapping[str, Any]) -> str:
        node = self._at["node"](content)
        if node is MISSING:
            if "node" in self.source.logged:
                raise NoEventError(f"`{self._names['node']}`, the node, is missing")
            return ""
        if isinstance(node, bool) or not isinstance(node, str | int):
            raise NoEventError(f"`{self._names['node']}`, the node, is neither a text nor a number")
        return str(node)

    def _stamp(self, kind: str, content: Mapping[str, Any]) -> CausalStamp | None:
        if self._stamps is None:
            return None
        try:
            return self._stamps.read(kind, content)
        except StampError as error:
            raise NoEventError(str(error)) from None

    def _text(self, content: Mapping[str, Any], key: str) -> str | None:
        """What a key holds that only tells a person, or tells threads apart: as text, whatever it is."""
        value = self._at[key](content)
        if value is MISSING or value is None:
            return None
        return value if isinstance(value, str) else json.dumps(value, default=str)

    def _number(self, content: Mapping[str, Any], key: str, otherwise: int | None) -> int | None:
        value = self._at[key](content)
        if value is MISSING and otherwise is not None:
            return otherwise
        # Python makes no integer of more than 4,300 digits, and no run or place in an order has so many.
        if isinstance(value, str) and value.removeprefix("-").isdecimal() and len(value) <= MOST_DIGITS:
            return int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise NoEventError(f"`{self._names[key]}`, the {key}, is missing or no whole number")
        return value


def _parsed(line: bytes) -> Any:
    # Most lines are JSON, and begin so: they are spared the two patterns of EDN.
    if not line.startswith(b'{"') and is_jepsen(line):
        return jepsen_object(line)
    return exact_json(line)


class TextDecoder(EventDecoder):
    """Decodes the lines of text logs, which patterns describe."""

    def __init__(self, source: EventSource, lines: TextLines) -> None:
        super().__init__(source)
        self._lines = lines

    def recognises(self, line: bytes) -> bool:  # noqa: ARG002 - no line of text is an object
        """A file of text is recognised by no single line of it."""
        return False

    def names_event(self, content: Mapping[str, Any]) -> bool:  # noqa: ARG002 - objects hold lines
        """An object may hold a line of text, and is no event."""
        return False

    def describes(self, line: bytes) -> bool:
        """Whether a pattern describes a line."""
        return bool(self._lines.objects(_text_of(line)))

    def events(self, line: bytes | dict[str, Any], place: LogPosition, time: object = None) -> list[JsonEvent]:
        """The events of a line. Raises ``NoEventError`` or ``OtherLineError``."""
        if isinstance(line, dict):
            raise OtherLineError("objects, in a log whose lines are text")
        text = _text_of(line)
        found = self._lines.objects(text)
        if not found and (meant := self._lines.meant(text)) is not None:
            raise NoEventError(f"the line holds the `literal` of the pattern `{meant}`, which does not describe it")
        if not found:
            raise OtherLineError("no pattern describes them")
        # Collectors write times without a year, too: the order of the lines is then all that is known.
        collected = timestamp(time.decode("ascii", "replace") if isinstance(time, bytes) else time)
        shared = {"time": collected} if collected else {}
        return [self.of_object({**shared, **each}, place, line) for each in found]


def _text_of(line: bytes) -> str:
    return line.decode("utf-8", "replace").rstrip("\r\n").removeprefix("\ufeff")
