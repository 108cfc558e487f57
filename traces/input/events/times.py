"""The time of an event: a number of some unit, or a text in some format."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from decimal import Decimal, InvalidOperation
from zoneinfo import ZoneInfo

from assay.grammar.kernel.event_source import TIME_UNITS, EventSource
from assay.traces.durations import LATEST
from assay.traces.input.lines.timestamps import Clock

_ZONED = re.compile(r"(?:Z|UTC|GMT|[+-]\d\d:?\d\d)$")
_HAS_NO_DATE = "has no year, or no date"


class Nanoseconds(int):
    """A time in nanoseconds since 1970, whatever unit a clause gives to the times of its log: its source says so."""


class TimeError(Exception):
    """Raised for a value that is no time; the text says why, after the name of the key."""


class EventClock:
    """Reads times as the ``from`` block says."""

    def __init__(self, source: EventSource) -> None:
        self._form = source.time_form
        self._zone = _zone(source.zone)
        self._clock = Clock()

    def read(self, value: object) -> tuple[int | None, int]:
        """Milliseconds since the epoch, and their resolution in milliseconds. Raises ``TimeError``."""
        if value is None:
            return None, 1
        form = "ns" if isinstance(value, Nanoseconds) else self._form
        if form is None:
            return self._text(value, "%") if isinstance(value, str) else self._number(value, "ms")
        if form in TIME_UNITS:
            return self._number(value, form)
        if not isinstance(value, str):
            raise TimeError("is no text, and the clause says how its text is read")
        return self._text(value, form)

    def _number(self, value: object, unit: str) -> tuple[int, int]:
        if isinstance(value, bool) or not isinstance(value, int | Decimal | str):
            raise TimeError("is neither a number of milliseconds nor ISO 8601")
        if value.__class__ is int and unit == "ms" and -LATEST <= value <= LATEST:
            return int(value), 1  # the usual case
        try:
            number = Decimal(value)
        except InvalidOperation:
            raise TimeError(f"is no number of {unit}") from None
        if not number.is_finite() or number.adjusted() > 30:
            raise TimeError(f"is no number of {unit} since 1970")
        factor = TIME_UNITS[unit]
        # Downwards, so that times before 1970 are cut like all others.
        moment = int((number * -factor if factor < 0 else number / factor).__floor__())
        if not -LATEST <= moment <= LATEST:
            raise TimeError(f"lies after the year 9999 if it is in {unit}: say its unit, such as `time = … in ns`")
        whole_second = factor < 0 and int(number.as_tuple().exponent) >= 0  # `7.000` has a fraction, `7` has none
        return moment, 1000 if whole_second else 1

    def _text(self, text: str, form: str) -> tuple[int, int]:
        if form not in {"%", "iso"}:
            return self._formatted(text, form)
        moment = self._clock.read(text.encode("ascii", "replace"))
        if moment is None:
            raise TimeError("is neither a number of milliseconds nor ISO 8601")
        if self._clock.lacks is not None:
            # A new clock, because the old one has begun to count days or years, and would shift later times by them.
            self._clock = Clock()
            raise TimeError(f"is neither a number of milliseconds nor ISO 8601: it {_HAS_NO_DATE}")
        resolution = self._clock.resolution
        if self._zone is not None and _ZONED.search(text) is None:
            moment = _moment(datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=moment), self._zone)
        return moment, resolution

    def _formatted(self, text: str, form: str) -> tuple[int, int]:
        try:
            read = datetime.strptime(text, form)
        except ValueError:
            raise TimeError(f"is not of the format `{form}`") from None
        if read.year == 1900 and "%Y" not in form and "%y" not in form:
            raise TimeError(f"{_HAS_NO_DATE}: the format `{form}` names none")
        return _moment(read, read.tzinfo or self._zone or UTC), 1 if "%f" in form else 1000


def _moment(local: datetime, zone: tzinfo) -> int:
    """Milliseconds since the epoch of a time in a zone."""
    begin = datetime.fromtimestamp(0, UTC)
    return (local.replace(tzinfo=zone) - begin) // timedelta(milliseconds=1)


def _zone(name: str | None) -> tzinfo | None:
    if name is None:
        return None
    if name in {"UTC", "Z"}:
        return UTC
    if name[0] in "+-":
        digits = name[1:].replace(":", "")
        ahead = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
        return timezone(ahead if name[0] == "+" else -ahead)
    return ZoneInfo(name)
