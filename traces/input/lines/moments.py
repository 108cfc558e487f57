"""Times of containers: numbers since 1970, ISO 8601 and other forms become timestamps of log lines."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache

_STOCK = re.compile(r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)[.,](\d{3})\d{0,6}(?: ?(?:Z|UTC|[+-]00:?00))?")
_ISO = re.compile(r"\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?")
_KIBANA = re.compile(r"([A-Z][a-z]{2}) (\d{1,2}), (\d{4}) @ (\d\d:\d\d:\d\d)(?:\.(\d{3}))?\d*")
_NOON = re.compile(
    r"(\d{1,2})/(\d{1,2})/(\d{4}),? (\d{1,2}):(\d\d:\d\d)(?:[.,](\d{3})\d{0,6})? ([AP])M(?: ?(?:Z|UTC|[+-]00:?00))?"
)
"""As Excel and spreadsheets of the United States write a time."""
_NUMBER = re.compile(r"\d{1,20}(?:\.\d{1,9})?")
_OFFSET = re.compile(r" ?([+-]\d\d):?(\d\d)$")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNITS = ((1e11, 1_000_000), (1e14, 1_000), (1e17, 1))
"""The units of numeric times by size: below the first limit seconds, then milliseconds, then microseconds, each in
microseconds; above, nanoseconds.
"""


def timestamp(value: object) -> str:
    """A time as a timestamp in UTC, with milliseconds if it has any; empty if it names no moment."""
    match value:
        case str():
            found = _STOCK.fullmatch(value)
            return f"{found[1]}.{found[2]}" if found is not None else _of_text(value)
        case bool():
            return ""
        case int() | float():
            return _of_number(value)
        # Bounded before they are floats: a damaged line may hold an integer that no float can be.
        case {"epochSecond": int(second), **more} if 0 <= second < _UNITS[0][0]:
            rest = more.get("nanoOfSecond", 0)
            return _of_number(second + (rest / 1e9 if isinstance(rest, int) and 0 <= rest < 10**9 else 0))
        case _:
            return ""


@lru_cache(maxsize=256)
def _of_text(value: str) -> str:
    """A time in another form than most: a number as text, with a zone, without milliseconds, or as Kibana writes it."""
    text = value.strip()
    if _NUMBER.fullmatch(text):
        return _of_number(float(text))
    kibana = _KIBANA.fullmatch(text)
    if kibana is not None and kibana[1] in _MONTHS:
        month = _MONTHS.index(kibana[1]) + 1
        return f"{kibana[3]}-{month:02}-{int(kibana[2]):02}T{kibana[4]}.{kibana[5] or '000'}"
    noon = _NOON.fullmatch(text)
    if noon is not None and int(noon[4]) <= 12:
        hour = int(noon[4]) % 12 + (12 if noon[7] == "P" else 0)
        fraction = f".{noon[6]}" if noon[6] else ""
        return f"{noon[3]}-{int(noon[1]):02}-{int(noon[2]):02}T{hour:02}:{noon[5]}{fraction}"
    found = _ISO.match(text)
    if found is None:
        return ""
    offset = _OFFSET.search(found[0])
    if offset is None:
        return found[0]
    return _in_utc(found[0], offset)


def _in_utc(text: str, offset: re.Match[str]) -> str:
    """A time with an offset as one in UTC; one that cannot be is left as it is, for the reader of timestamps."""
    plain = text[: offset.start()].replace("/", "-").replace(",", ".")
    second, _, fraction = plain.partition(".")
    try:
        moment = datetime.fromisoformat(second)
        hours = int(offset[1])
        moment -= timedelta(hours=hours, minutes=int(offset[2]) * (1 if hours >= 0 else -1))
    except (ValueError, OverflowError):
        return text
    stamp = f"{moment:%Y-%m-%dT%H:%M:%S}" if moment.year >= 1000 else text
    return f"{stamp}.{fraction[:3].ljust(3, '0')}" if fraction else f"{stamp}Z"


def _of_number(number: float) -> str:
    """A number of seconds, milliseconds, microseconds or nanoseconds since the epoch, distinguished by size."""
    if not 0 <= number < 1e20:
        return ""
    scale = next((scale for limit, scale in _UNITS if number < limit), 0.001)
    # Rounded to microseconds before it is cut: 1078625331.860 times 1000 is 1078625331859.9999 as a float.
    millisecond = round(number * scale) // 1000
    second, rest = divmod(millisecond, 1000)
    return f"{_second(second)}.{rest:03}"


@lru_cache(maxsize=4096)
def _second(second: int) -> str:
    return f"{_EPOCH + timedelta(seconds=second):%Y-%m-%dT%H:%M:%S}"
