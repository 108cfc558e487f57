"""Log lines written as JSON objects, one a line, turned into lines of Kafka's own layout.

A layout made the object from a log event (logback, log4j 2), or a collector put one around a line (docker, fluentd,
Loki, journald), or both. ``traces/patterns/rules/json_lines.toml`` lists the keys of each part.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib.resources import files
from typing import Any

from assay.traces.input.lines.timestamps import DATED

_PARTS = ("who", "role", "run", "path")
_MARKERS = {"level", *_PARTS}
"""Keys that mark a log line; an object with a message and none of these, and no time, may be anything."""

_STAMP = re.compile(DATED)
_LEVEL = re.compile(r"TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL")
_LOGGER = re.compile(r"[A-Za-z_][\w$.-]{0,250}")
_NUMBER = re.compile(r"\d{1,20}(?:\.\d{1,9})?")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNITS = ((1e11, 1_000_000), (1e14, 1_000), (1e17, 1))
"""The units of numeric times by size: below the first limit seconds, then milliseconds, then microseconds, each in
microseconds; above, nanoseconds.
"""

_SAMPLE_LINES = 400


@dataclass(frozen=True, slots=True)
class JsonLine:
    """The line in an object: its text, with its own line feeds, and what it says of time and origin, as the groups of a
    prefix.

    Text that does not end in a line feed continues in the next object.
    """

    text: bytes
    groups: Mapping[str, bytes]


def holds_lines(head: bytes) -> bool:
    """Whether some of the lines of a file with these first bytes are log lines as JSON."""
    lines = head[: head.rfind(b"\n") + 1].split(b"\n")[:_SAMPLE_LINES]
    return any(json_line(line) is not None for line in lines)


def json_line(line: bytes) -> JsonLine | None:
    """The line in a JSON object; None if it is not such an object. Its message may be another object."""
    if not line.startswith(b'{"') and not line.startswith(b'{ "'):
        return None
    try:
        content = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(content, dict):
        return None
    part = _parts(content)
    message, stamp = part.get("message"), _stamp(part.get("time"))
    if not isinstance(message, str) or not (stamp or part.keys() & _MARKERS):
        return None
    origin = {
        name: part[name].encode("utf-8", "replace") for name in _PARTS if isinstance(part.get(name), str) and part[name]
    }
    groups = {**origin, "stamp": stamp.encode()} if stamp else origin
    text = _text(message, stamp, part)
    whole = text.endswith("\n") or not content.keys() <= set(_data()["cut"])
    return JsonLine((f"{text}\n" if whole and not text.endswith("\n") else text).encode("utf-8", "replace"), groups)


def _text(message: str, stamp: str, part: Mapping[str, Any]) -> str:
    """The record in Kafka's own layout, if the object has all of its parts; otherwise the message as it is."""
    level = str(part.get("level", "")).upper()
    level = _data()["levels"].get(level, level)
    logger, thread, stack = part.get("logger"), part.get("thread"), part.get("stack")
    if not (isinstance(logger, str) and _LOGGER.fullmatch(logger) and _LEVEL.fullmatch(level)):
        return message
    begin = f"[{stamp}] {level}" if stamp else level
    last = f" [{thread}]" if isinstance(thread, str) and "]" not in thread and "\n" not in message else ""
    below = f"{stack.rstrip()}\n" if isinstance(stack, str) and stack.strip() else ""
    return f"{begin} {message} ({logger}){last}\n{below}"


def _parts(content: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of an object by name, each from the first of its keys that has a value."""
    found: dict[str, Any] = {}
    for name, keys in _data()["keys"].items():
        value = next((value for key in keys if (value := _at(content, key)) not in (None, "")), None)
        if value is not None:
            found[name] = value
    return found


def _at(content: Mapping[str, Any], key: str) -> Any:
    """The value of a key; a key with dots may lead through nested objects.

    An object is no value, except a time of several parts.
    """
    value = content.get(key)
    if value is None and "." in key:
        value = content
        for step in key.split("."):
            value = value.get(step) if isinstance(value, Mapping) else None
    return None if isinstance(value, Mapping) and "epochSecond" not in value else value


def _stamp(value: object) -> str:
    """A time as a timestamp; empty if it names no moment."""
    match value:
        case bool():
            return ""
        case int() | float():
            return _moment(float(value))
        case str() if _NUMBER.fullmatch(value):
            return _moment(float(value))
        case str():
            found = _STAMP.match(value.strip().encode("ascii", "replace"))
            return "" if found is None else found[0].decode("ascii")
        case {"epochSecond": int(second), **more}:
            nanoseconds = more.get("nanoOfSecond", 0)
            return _moment(second + (nanoseconds / 1e9 if isinstance(nanoseconds, int) else 0))
        case _:
            return ""


def _moment(number: float) -> str:
    """A number of seconds, milliseconds, microseconds or nanoseconds since the epoch, distinguished by size, as a
    timestamp.
    """
    if not 0 <= number < 1e20:
        return ""
    scale = next((scale for limit, scale in _UNITS if number < limit), 0.001)
    moment = _EPOCH + timedelta(microseconds=round(number * scale))
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03}Z"


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads((files("assay.traces.patterns.rules") / "json_lines.toml").read_text(encoding="utf-8"))
