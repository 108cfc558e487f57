"""Spans and log records of documents as events: attributes become fields, and name, time and node have the usual keys.

Sources: OTLP/JSON (opentelemetry-proto, trace.proto, logs.proto, common.proto), the JSON of Jaeger's query service, Zipkin v2.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from assay.traces.input.events.exact_values import TWICE, cell
from assay.traces.input.events.paths import MISSING, compiled_path
from assay.traces.input.events.times import Nanoseconds
from assay.traces.patterns.container import Container

NANOSECONDS = {"ns": 1, "us": 1_000, "ms": 1_000_000}
_DEEPEST = 32


def as_event(container: Container, content: Mapping[Any, Any]) -> dict[Any, Any]:
    """An element of a document as the object of an event. Its own keys stay; what it has under the key of an attribute
    is not replaced. ``start`` and ``end`` are in nanoseconds since 1970.
    """
    found = dict(content)
    # What the element refers to: a span of Jaeger names its process, which stands beside all spans.
    for target, (where, by) in container.lookup.items():
        known = _at(found, where)
        found[target] = known.get(_at(found, by), {}) if isinstance(known, Mapping) else {}
    # Lists of keys and values become objects: `[{"key": "k", "value": {"intValue": "7"}}]` is `{"k": 7}` then.
    for path in container.named:
        _name_values(found, path.split("."), 0)
    if isinstance(found.get("body"), dict):
        found["body"] = typed_value(found["body"])
    # Attributes become fields of the event.
    for path in container.fields_of:
        values = _at(found, path)
        for name, value in values.items() if isinstance(values, Mapping) else ():
            if name is not TWICE:
                found.setdefault(name, cell(value) if container.cells and isinstance(value, str) else value)
    # Name, time and node get the keys that events have by default.
    logged = {
        key: next((value for path in paths if _is_logged(value := _at(found, path))), None)
        for key, paths in container.event.items()
    }
    found |= {key: value for key, value in logged.items() if value is not None}
    _take_times(found, NANOSECONDS.get(container.unit, 1))
    return found


def _is_logged(value: object) -> bool:
    return value is not None and value is not MISSING and value != ""


def _at(content: Mapping[Any, Any], path: str) -> Any:
    found = compiled_path(path)(content)
    return None if found is MISSING else found


def _name_values(content: dict[Any, Any], path: list[str], at: int) -> None:
    """Replace the list of keys and values at a path by an object."""
    inner = content.get(path[at])
    if at + 1 < len(path):
        if isinstance(inner, dict):
            content[path[at]] = inner = dict(inner)
            _name_values(inner, path, at + 1)
    elif isinstance(inner, list):
        pairs = [each for each in inner if isinstance(each, dict) and isinstance(each.get("key"), str)]
        content[path[at]] = {each["key"]: typed_value(each.get("value")) for each in pairs}


def typed_value(value: Any, depth: int = 0) -> Any:
    """The value of OTLP's ``AnyValue``, such as ``{"intValue": "7"}``; any other value is itself."""
    if not isinstance(value, dict) or len(value) != 1 or depth > _DEEPEST:
        return value
    ((kind, inner),) = value.items()
    match kind, inner:
        case "stringValue" | "boolValue" | "bytesValue", _:
            return inner
        # The JSON of protobuf writes 64-bit integers as texts.
        case (("intValue" | "doubleValue"), str()):
            return _number(inner)
        case (("intValue" | "doubleValue"), _):
            return inner
        case "arrayValue", {"values": list() as items}:
            return [typed_value(each, depth + 1) for each in items]
        case "arrayValue", dict():
            return []
        case "kvlistValue", {"values": list() as items}:
            pairs = (each for each in items if isinstance(each, dict))
            return {str(each.get("key")): typed_value(each.get("value"), depth + 1) for each in pairs}
        case _:
            return value


def _number(text: str) -> int | Decimal | str:
    try:
        return int(text)
    except ValueError:
        try:
            return Decimal(text)
        except ArithmeticError:
            return text


def _take_times(content: dict[Any, Any], unit: int) -> None:
    """The time of the event in milliseconds, and begin and end of a span."""
    begin = _whole(content.get("start"))
    if begin is None:
        content.pop("start", None)
        return
    length, end = _whole(content.get("length")), _whole(content.get("end"))
    # Not a field: begin and end say the same, and a clause would see it in the unit of its source.
    content.pop("length", None)
    content["start"], content["time"] = Nanoseconds(begin * unit), begin * unit // 1_000_000
    if end is not None or length is not None:
        content["end"] = Nanoseconds((begin + length if end is None and length is not None else end or 0) * unit)


def _whole(value: object) -> int | None:
    match value:
        case bool():
            return None
        case int():
            return value
        case str() if value.isdecimal() and len(value) < 30:
            return int(value)
        case Decimal() if value.is_finite() and abs(value) < 10**30:
            return int(value)
        case _:
            return None
