"""What a log line looks like around its message: where a record begins, its time, its level, and its logger.

A layout is a value. The scanner needs only the pattern that begins a record; it is written with a leading line feed,
because a literal prefix is what makes the regular expression engine skip through text quickly.
"""

from __future__ import annotations

import re
from calendar import timegm
from dataclasses import dataclass

STAMP = rb"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[,.]\d{3}"

HEADER_LIMIT = 128
"""No header of a supported layout is longer than this, in bytes; a header cut by the end of a block is found again."""


@dataclass(frozen=True, slots=True)
class Layout:
    """One way of writing records. ``start`` has the groups 1 (time stamp) and 2 (level) and ends where the message begins."""

    name: str
    start: re.Pattern[bytes]


STOCK = Layout("log4j [%d] %p %m (%c)%n", re.compile(rb"\n\[(" + STAMP + rb")\] ([A-Z]{4,5}) +(?=[^ ])"))
"""The layout of the log4j.properties that Kafka and its ZooKeeper ship, from 0.8 to 4.1."""

LAYOUTS: tuple[Layout, ...] = (STOCK,)


def detect_layout(head: bytes) -> Layout | None:
    """The layout in which the beginning of a file has its first record, or none."""
    found = [(match.start(), layout) for layout in LAYOUTS if (match := layout.start.search(b"\n" + head)) is not None]
    return min(found, key=lambda item: item[0])[1] if found else None


class Clock:
    """Reads time stamps, remembering the last second: records come in bursts, and parsing a date is the slow part."""

    __slots__ = ("_second", "_start")

    def __init__(self) -> None:
        self._second = b""
        self._start: int | None = None

    def read(self, stamp: bytes) -> int | None:
        """Milliseconds since the epoch, the stamp taken as UTC; none if it names no moment, such as a 13th month."""
        second = stamp[:19]
        if second != self._second:
            self._second, self._start = second, _start_of_second(second)
        return None if self._start is None else self._start + int(stamp[20:23])


def _start_of_second(second: bytes) -> int | None:
    year, month, day, hour, minute, of_minute = (int(part) for part in re.split(rb"\D", second))
    if not (1 <= month <= 12 and 1 <= day <= 31 and hour < 24 and minute < 60 and of_minute < 61):
        return None
    return timegm((year, month, day, hour, minute, of_minute)) * 1000


_SUFFIX = re.compile(rb"[ \n]\(([A-Za-z_][\w$]*(?:\.[\w$-]+)+)\)\r?(?:\n|\Z)")
_OPEN = ord("(")
_LOGGER = re.compile(rb"[A-Za-z_][\w$]*(?:\.[\w$-]+)*")


def split_logger(text: bytes) -> tuple[bytes, bytes, bytes]:
    """Divide the text of a record into message, logger and what follows the logger (a stack trace).

    The logger mostly ends the first line. A configuration dump has it at the end of its last line, and a message that
    ends in a line feed has it alone on the second. A record without any has an empty logger and nothing after it.
    """
    end = text.find(b"\n")
    line = text if end < 0 else text[:end]
    line = line.removesuffix(b"\r")
    if line.endswith(b")"):
        at = line.rfind(b" (") + 1
        if line[at] == _OPEN and _LOGGER.fullmatch(line, at + 1, len(line) - 1) is not None:
            return text[: max(at - 1, 0)], line[at + 1 : -1], text[end + 1 :] if end >= 0 else b""
    if end >= 0 and (match := _SUFFIX.search(text, end)) is not None:
        return text[: match.start()], match[1], text[match.end() :]
    return text.rstrip(b"\r\n"), b"", b""
