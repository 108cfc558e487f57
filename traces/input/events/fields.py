"""JSON values as fields of events, and the fields that a ``from`` block reads from other keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP, Context, Decimal, InvalidOperation
from types import MappingProxyType
from typing import Any

from assay.grammar.kernel.event_source import EventSource, FieldSource
from assay.traces.event import Field, Opaque
from assay.traces.input.events.exact_values import TWICE, named_twice
from assay.traces.input.events.paths import MISSING, compiled_path
from assay.traces.input.events.times import EventClock, TimeError

DEEPEST = 32
"""How deep a value may be nested."""

MOST_DIGITS = 40
"""How many digits a number may have before its point: the power of ten of a text such as 1e999999 is not computed."""

_ROUNDED = {"nearest": ROUND_HALF_UP, "up": ROUND_CEILING, "down": ROUND_FLOOR}
_EXACT = Context(prec=200)


def as_field(value: object, depth: int = 0) -> Field:
    """A JSON value as a field: whole numbers become integers, lists tuples, objects mappings.

    Tuples and mappings are lists and maps that a pattern found in a text. What the language has no value for becomes
    ``Opaque``: it matters only if a rule needs it.
    """
    kind = value.__class__
    # Nearly all values are of these classes; a `match` would try its cases one after the other.
    if kind is str or kind is int or value is None or kind is bool:
        return value  # type: ignore[return-value]
    if depth > DEEPEST:
        return Opaque(f"is nested in more than {DEEPEST} lists and objects")
    match value:
        case Decimal() | float():
            return whole(Decimal(value))
        case MappingProxyType():  # a pattern has made it
            return value
        case list() | tuple():
            return tuple(as_field(item, depth + 1) for item in value)
        case dict():
            inner = {key: as_field(item, depth + 1) for key, item in value.items() if key is not TWICE}
            doubled = {name: Opaque(f"the line has the key `{name}` twice") for name in named_twice(value)}
            return MappingProxyType({**inner, **doubled})
        case Opaque() | int():
            return value
        case _:
            return Opaque(f"{value!r} is no JSON value")


def whole(number: Decimal) -> Field:
    """A number as an integer."""
    if not number.is_finite():
        return Opaque(f"{number} is no number")
    if number.adjusted() > MOST_DIGITS:
        return Opaque(f"{number} is a number of more than {MOST_DIGITS} digits")
    if number == number.to_integral_value():
        return int(number)
    return Opaque(
        f"{number} is a number with a fraction; the language has integers (scale or round it: `field … rounded`)"
    )


Reader = Callable[[Mapping[str, Any]], Field]


def field_readers(source: EventSource) -> tuple[tuple[str, Reader], ...]:
    """For each field that the block reads from a key of its own: its name, and what reads it from a line's object."""
    clock = EventClock(EventSource(zone=source.zone))
    # A field that is read from the key of the time has its format. Other times are ISO 8601.
    own = EventClock(source) if "%" in (source.time_form or "") else clock
    times = source.path("time")
    return tuple((each.name, _reader(each, own if each.path == times else clock)) for each in source.fields)


def _reader(how: FieldSource, clock: EventClock) -> Reader:
    at = compiled_path(how.path)

    def read(content: Mapping[str, Any]) -> Field:
        value = at(content)
        # Before the value counts: of two values under one key it is not known which is meant.
        if how.path in named_twice(content):
            return Opaque(f"the line has the key `{how.path}` twice")
        if value is MISSING:
            return how.default if how.optional else MISSING
        scaled = how.times != 1 or how.divided != 1 or how.rounding is not None
        return _scaled(value, how, clock) if scaled else as_field(value)

    return read


def _scaled(value: object, how: FieldSource, clock: EventClock) -> Field:
    """A number times what the block says; a text that is a time is its milliseconds since 1970."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | str | Decimal):
        return Opaque(f"`{how.path}` is no number")
    try:
        number = Decimal(value)
    except InvalidOperation:
        moment = _moment(value, clock)
        if moment is None:
            return Opaque(f"`{how.path}` is neither a number nor a time, but {value!r}")
        number = Decimal(moment)
    # By the exponent, before anything is computed: `1e999999` would have a million digits.
    if not number.is_finite() or number.adjusted() > MOST_DIGITS or number.adjusted() < -MOST_DIGITS:
        return whole(number) if not number.is_finite() or number.adjusted() > 0 else 0
    exact = _EXACT.divide(_EXACT.multiply(number, Decimal(how.times)), Decimal(how.divided))
    if how.rounding is not None:
        exact = exact.to_integral_value(_ROUNDED[how.rounding])
    return whole(exact)


def _moment(value: object, clock: EventClock) -> int | None:
    """The milliseconds since 1970 of a text that is a time; else None."""
    try:
        return clock.read(value)[0]
    except TimeError:
        return None
