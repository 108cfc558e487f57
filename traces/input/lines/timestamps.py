"""Timestamps as logs write them, and the moments that they name.

A timestamp without a zone is read as UTC. One without a year, or without a date, is read as one of 1972 (a leap year).
``Clock.lacks`` is then set, so that the year can be found from other files. A timestamp without milliseconds names a
whole second, and ``Clock.resolution`` is set: what the line reports may have happened at any time in it.
"""

from __future__ import annotations

import re
from calendar import monthrange, timegm

_HMS = rb"\d\d:\d\d:\d\d"
_FRACTION = rb"(?:[,.]\d{1,9})?"
_ZONES: dict[bytes, int] = {
    b"Z": 0,
    b"UTC": 0,
    b"GMT": 0,
    b"WET": 0,
    b"BST": 60,
    b"WEST": 60,
    b"CET": 60,
    b"MEZ": 60,
    b"CEST": 120,
    b"MESZ": 120,
    b"EET": 120,
    b"EEST": 180,
    b"MSK": 180,
    b"IST": 330,
    b"SGT": 480,
    b"HKT": 480,
    b"JST": 540,
    b"KST": 540,
    b"AEST": 600,
    b"AEDT": 660,
    b"NZST": 720,
    b"NZDT": 780,
    b"EDT": -240,
    b"EST": -300,
    b"CDT": -300,
    b"CST": -360,
    b"MDT": -360,
    b"MST": -420,
    b"PDT": -420,
    b"PST": -480,
}
"""How many minutes zones are ahead of UTC, by their names."""
_NAMED_ZONE = b"|".join([name for _, name in sorted((-len(name), name) for name in _ZONES)])
_ZONE = rb"(?: ?(?:(?:" + _NAMED_ZONE + rb")\b|[+-]\d\d:?\d\d))?"
_MONTH = rb"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"

STOCK_STAMP = rb"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[,.]\d{3}"
"""The timestamp of the log4j.properties that Kafka ships, for which there is a fast path."""

_NOON = rb"(?:\d?\d/\d?\d/\d{4},? \d?\d:\d\d:\d\d" + _FRACTION + rb" [AP]M)"
DATED = (
    rb"(?:(?:\d{4}[-/]\d\d[-/]\d\d[ T]"
    + _HMS
    + rb"|\d\d "
    + _MONTH
    + rb" \d{4} "
    + _HMS
    + rb"|\d\d\.\d\d\.\d{4},? "
    + _HMS
    + rb")"
    + _FRACTION
    + rb"|"
    + _NOON
    + rb")"
    + _ZONE
)
"""Timestamps that name a moment; with AM or PM the month comes before the day."""

STAMP = (
    DATED
    + rb"|(?:\d\d[-/]\d\d "
    + _HMS
    + rb"|"
    + _MONTH
    + rb" [ \d]\d "
    + _HMS
    + rb")"
    + _FRACTION
    + rb"|"
    + _HMS
    + rb"[,.]\d{1,9}"
)
"""All timestamps, including those without a year or without a date."""

BASE_YEAR = 1972
"""The year of timestamps without one: a leap year, so that every day exists."""

_MONTHS = {name: number for number, name in enumerate(b"Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(), 1)}
_PARTS = re.compile(
    rb"(?:(?P<year>\d{4})[-/](?P<month>\d\d)[-/](?P<day>\d\d)[ T]"
    rb"|(?P<day2>\d\d) (?P<name2>[A-Z][a-z]{2}) (?P<year2>\d{4}) "
    rb"|(?P<day5>\d\d)\.(?P<month5>\d\d)\.(?P<year5>\d{4}),? "
    rb"|(?P<month6>\d?\d)/(?P<day6>\d?\d)/(?P<year6>\d{4}),? "
    rb"|(?P<month3>\d\d)[-/](?P<day3>\d\d) "
    rb"|(?P<name4>[A-Z][a-z]{2}) (?P<day4>[ \d]\d) )?"
    rb"(?P<hour>\d?\d):(?P<minute>\d\d):(?P<second>\d\d)(?:[,.](?P<fraction>\d{1,9}))?(?: (?P<noon>[AP]M))?"
    rb" ?(?P<zone>" + _NAMED_ZONE + rb"|[+-]\d\d:?\d\d)?"
)
DAY = 24 * 3600 * 1000
_BACK = DAY // 2


class Clock:
    """Parses timestamps, remembering the last second: records come in bursts, and parsing a date is the slow part."""

    __slots__ = ("_days", "_last", "_second", "_start", "_years", "lacks", "resolution")

    def __init__(self) -> None:
        self._second = b""
        self._start: int | None = None
        self._days, self._years, self._last = 0, 0, -1
        self.resolution = 1
        self.lacks: str | None = None

    def read(self, stamp: bytes) -> int | None:
        """Milliseconds since the epoch; None if the timestamp names no moment, such as one in a 13th month."""
        # The stock form alone takes the fast path; a zone or other digits of the second change what is read.
        if len(stamp) != 23 or stamp[4] not in b"-/" or stamp[19] not in b",." or not stamp[20:].isdigit():
            return self._read_any(stamp)
        second = stamp[:19]
        if second != self._second:
            start = self._read_any(second)
            self._second, self._start = second, start
        self.resolution = 1
        return None if self._start is None else self._start + int(stamp[20:23])

    def _read_any(self, stamp: bytes) -> int | None:
        found = _PARTS.match(stamp)
        if found is None:
            return None
        part = found.groupdict()
        year = part["year"] or part["year2"] or part["year5"] or part["year6"]
        month = part["month"] or part["month3"] or part["month5"] or part["month6"]
        month = int(month) if month else _MONTHS.get(part["name2"] or part["name4"] or b"Jan", 0)
        days = (part[name] for name in ("day", "day2", "day3", "day4", "day5", "day6"))
        day = int(next(filter(None, days), b"1"))
        hour, minute, second = _hour(part["hour"], part["noon"]), int(part["minute"]), int(part["second"])
        # `23:59:60` is a leap second. `timegm` makes it the first second of the next minute, as the compiled scanner
        # does.
        if not (year != b"0000" and 1 <= month <= 12 and hour < 24 and minute < 60 and second < 61):
            return None
        if not 1 <= day <= monthrange(int(year or BASE_YEAR), month)[1]:
            return None
        start = timegm((int(year or BASE_YEAR), month, day, hour, minute, second)) * 1000
        fraction = part["fraction"]
        self.resolution = 1000 if fraction is None else 1 if len(fraction) >= 3 else 10 ** (3 - len(fraction))
        moment = start - _offset(part["zone"]) + (int(fraction[:3].ljust(3, b"0")) if fraction else 0)
        return moment if year else self._in_sequence(moment, dated=part["day3"] is not None or part["day4"] is not None)

    def _in_sequence(self, moment: int, *, dated: bool) -> int:
        """A moment without year, or without date.

        If it falls back by half of the cycle, the next year or day has begun.
        """
        self.lacks = "year" if dated else "date"
        cycle = 366 * DAY if dated else DAY
        moment += (self._years if dated else self._days) * cycle
        if self._last >= 0 and moment < self._last - cycle // 2:
            moment += cycle
            if dated:
                self._years += 1
            else:
                self._days += 1
        self._last = moment
        return moment


def year_start(year: int) -> int:
    """The first moment of a year, in milliseconds since the epoch."""
    return timegm((year, 1, 1, 0, 0, 0)) * 1000


def _offset(zone: bytes | None) -> int:
    """How far a zone is ahead of UTC, in milliseconds."""
    if zone is None or zone[:1] not in b"+-":
        return 0 if zone is None else _ZONES[zone] * 60_000
    digits = zone[1:].replace(b":", b"")
    minutes = int(digits[:2]) * 60 + int(digits[2:4])
    return (minutes if zone[:1] == b"+" else -minutes) * 60_000


def _hour(text: bytes, noon: bytes | None) -> int:
    """An hour of the day, or one before or after noon."""
    hour = int(text)
    if noon is None:
        return hour
    return (hour % 12 if hour <= 12 else 24) + (12 if noon == b"PM" else 0)
