"""Events of any system, one JSON object a line; docs/events.md has the schema.

A line needs ``event``, the name of its kind. ``time``, ``node``, ``run``, ``thread`` and ``message`` give its origin;
every other key is a field of the event.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from assay.traces.event import Field, LogPosition, LogRecord, Notice
from assay.traces.input.lines.record_scanner import ByteStream, FileCounts, ScanLimits
from assay.traces.input.lines.timestamps import Clock

RESERVED = frozenset({"event", "time", "node", "run", "thread", "message", "level"})
"""The keys that are not fields of the event."""

_DEEPEST = 8


@dataclass(frozen=True, slots=True)
class JsonEvent:
    """One line: its kind, its fields, and the process run that wrote it; ``node`` is empty if the line does not name
    it.
    """

    kind: str
    fields: Mapping[str, Field]
    record: LogRecord
    node: str
    run: int


@dataclass(slots=True)
class JsonEvents:
    """The events of a file, and notices about its other lines."""

    events: list[JsonEvent] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)


class NoEventError(Exception):
    """Raised for a line that is not an event; the text says why."""


def holds_events(head: bytes) -> bool:
    """Whether a file with these first bytes is a file of events: its first line that is not blank is a JSON object with
    ``event``.
    """
    first = head.lstrip(b"\xef\xbb\xbf \t\r\n").partition(b"\n")[0]
    if not first.startswith(b"{"):
        return False
    try:
        content = json.loads(first)
    except (ValueError, RecursionError):
        # A first line longer than the head is cut, and no JSON; the key is then all there is to go by.
        return b'"event"' in first
    return isinstance(content, dict) and isinstance(content.get("event"), str)


def read_events(stream: ByteStream, file: str, tally: FileCounts, limits: ScanLimits) -> JsonEvents:
    """Read a file of events to its end.

    Other lines are counted by what is wrong with them, with the first position of each kind.
    """
    found = JsonEvents()
    wrong: dict[str, tuple[int, LogPosition]] = {}
    clock = Clock()
    for place, line in lines_of(stream, file, tally, limits):
        if not line.strip():
            continue
        tally.records += 1
        try:
            found.events.append(_event(line, place, clock))
        except NoEventError as error:
            count, first = wrong.get(str(error), (0, place))
            wrong[str(error)] = (count + 1, first)
    found.notices += [
        Notice("not an event", place, f"{count:,} lines: {text}") for text, (count, place) in wrong.items()
    ]
    return found


def lines_of(
    stream: ByteStream, file: str, tally: FileCounts, limits: ScanLimits
) -> Iterator[tuple[LogPosition, bytes]]:
    """The lines with their positions; of a line that is too long only the beginning, which is not an event."""
    rest, offset, number, skipping = b"", 0, 0, False
    while block := stream.read(limits.block):
        tally.bytes += len(block)
        *lines, rest = (rest + block).split(b"\n")
        for line in lines:
            number += 1
            if not skipping:
                yield LogPosition(file, number, offset), line
            skipping = False
            offset += len(line) + 1
        if len(rest) > limits.record:
            if not skipping:
                yield LogPosition(file, number + 1, offset), rest[: limits.kept]
            skipping, offset, rest = True, offset + len(rest), b""
    if rest and not skipping:
        yield LogPosition(file, number + 1, offset), rest
    tally.lines = number + bool(rest or skipping)


def _event(line: bytes, place: LogPosition, clock: Clock) -> JsonEvent:
    content = _object(line)
    kind = content.get("event")
    if not isinstance(kind, str):
        raise NoEventError("`event`, the name of the event, is missing or no text")
    fields = {name: field_of(value, name) for name, value in content.items() if name not in RESERVED}
    run = content.get("run", 1)
    if not isinstance(run, int) or isinstance(run, bool) or run < 1:
        raise NoEventError("`run` is no number from 1 on")
    thread, level = (_text(content, name) for name in ("thread", "level"))
    time, resolution = _time(content.get("time"), clock)
    message = _text(content, "message") or line.decode("utf-8", "replace").strip()
    record = LogRecord(place, time, level or "INFO", "", thread, message, resolution)
    node = content.get("node", "")
    if not isinstance(node, str | int) or isinstance(node, bool):
        raise NoEventError("`node` is neither a text nor a number")
    return JsonEvent(kind, MappingProxyType(fields), record, str(node), run)


def _object(line: bytes) -> dict[str, object]:
    try:
        content = json.loads(line.removeprefix(b"\xef\xbb\xbf"))
    except UnicodeDecodeError:
        raise NoEventError("the text is not UTF-8") from None
    except (ValueError, RecursionError):
        raise NoEventError("the line is no JSON, or only the beginning of it") from None
    if not isinstance(content, dict):
        raise NoEventError("the line is no JSON object")
    return content


def _text(content: Mapping[str, object], name: str) -> str | None:
    value = content.get(name)
    if value is not None and not isinstance(value, str):
        raise NoEventError(f"`{name}` is no text")
    return value


def field_of(value: object, name: str, depth: int = 0) -> Field:
    """A JSON value as a field: numbers become integers, lists tuples, objects mappings.

    Raises ``NoEventError`` for other values.
    """
    if depth > _DEEPEST:
        raise NoEventError(f"`{name}` is nested too deeply")
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            if value.is_integer():
                return int(value)
            raise NoEventError(f"`{name}` is a number with a fraction; the language has integers")
        case list():
            return tuple(field_of(item, name, depth + 1) for item in value)
        case dict():
            return MappingProxyType({key: field_of(item, name, depth + 1) for key, item in value.items()})
        case _:
            raise NoEventError(f"`{name}` is no JSON value")


def _time(value: object, clock: Clock) -> tuple[int | None, int]:
    """Milliseconds since the epoch and their resolution, from such a number or from ISO 8601."""
    match value:
        case None:
            return None, 1
        case bool():
            raise NoEventError("`time` is neither a number of milliseconds nor ISO 8601")
        case int():
            return value, 1
        case float() if value.is_integer():
            return int(value), 1
        case str():
            moment = clock.read(value.encode("ascii", "replace"))
            if moment is None or clock.lacks is not None:
                raise NoEventError("`time` is neither a number of milliseconds nor ISO 8601")
            return moment, clock.resolution
        case _:
            raise NoEventError("`time` is neither a number of milliseconds nor ISO 8601")
