"""The layout of a log line around its message: where a record begins, its time, level, thread and logger.

Every record of every layout begins with a timestamp, perhaps in brackets, and has a level near it; the scanner needs no
more. The first alternative of the pattern is the layout of the log4j.properties that Kafka and its ZooKeeper ship, from
0.8 to 4.1. It yields the level at once. The pattern begins with a line feed, because the regular expression engine
skips through text quickly only to a literal prefix. :func:`headers` reads what stands between timestamp and message,
record by record, so that layouts may change within a file.

Every repetition in these patterns is bounded, or is followed by a character that it cannot contain: no text makes them
slow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from assay.traces.input.lines.timestamps import STAMP, STOCK_STAMP

HEADER_LIMIT = 192
"""The greatest length, in bytes, of the beginning of a record up to its level.

A beginning that a block cuts is found again in the next block.
"""

_LEVELS = rb"TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL"

START = re.compile(
    rb"\n(?:\[(" + STOCK_STAMP + rb")\] ([A-Z]{4,5}) +(?=[^ ])"
    rb"|\[?(" + STAMP + rb")\]?(?=[^\n]{0,120}?\b(?:" + _LEVELS + rb")\b)[ :]*)"
)
"""Where a record begins. Either group 1 is the timestamp and group 2 the level, or group 3 is the timestamp."""

LEVEL_FIRST = re.compile(rb"\[?(?:" + _LEVELS + rb")\]?[ :]")
"""The beginning of a line whose layout leaves the time to the collector of the lines."""

_LEVEL = r"\[?(?P<level>TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL)\]?(?: {0,8}[:|])?"
_FIRST = rf"(?:{_LEVEL} {{1,8}})?"
# `[INFO]` is a level in brackets, and no thread.
_THREAD = r"\[ {0,40}(?!(?:TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL)\])(?P<thread>[^\]\n]{0,160})\]"
_LOGGER = (
    r"(?:[\[(](?=[\w$.:@-]{1,400}[\])]))?(?P<logger>[A-Za-z_][\w$]{0,80}(?:\.[\w$-]{1,80}){0,12})(?:[:@]\d{1,6})?[\])]?"
)
# A bracket that does not close behind the name begins a message: `[RequestSendThread controllerId=1] …`.
_END = r"(?: {0,60}[-:|] ?| )"

HEADERS = tuple(
    re.compile(pattern)
    for pattern in (
        # Spring Boot: INFO 4711 --- [app] [main] k.s.KafkaServer : message
        rf"{_FIRST}\d{{1,10}} --- (?:\[[^\]\n]{{0,100}}\] )?{_THREAD} {{0,8}}{_LOGGER}{_END}",
        # LinkedIn's: INFO [KafkaController] [controller-event-thread] [kafka-server] [] message
        rf"{_FIRST}\[(?P<logger>[A-Za-z_][\w$.]{{0,200}})\] {_THREAD} \[[^\]\n]{{0,100}}\] \[[^\]\n]{{0,100}}\] ",
        # ZooKeeper's own: [myid:1] - INFO  [main:QuorumPeerMain@123] - message
        rf"(?:\[myid:[^\]\n]{{0,20}}\] {{0,4}})?(?:- )?{_FIRST}\[(?P<thread>[^\n]{{0,160}}?):{_LOGGER}\] - ",
        # Confluent for Kubernetes, with the method: INFO [main] kafka.server.KafkaServer info - message
        rf"{_FIRST}{_THREAD} {{0,8}}{_LOGGER} [a-z][\w$]{{0,80}} - ",
        rf"{_FIRST}{_THREAD} {{0,8}}{_LOGGER}{_END}",
        rf"{_THREAD} {{0,8}}{_LEVEL} {{1,8}}{_LOGGER}{_END}",
        rf"{_FIRST}{_LOGGER} {{0,8}}{_THREAD}{_END}",
        rf"{_FIRST}{_LOGGER}{_END}",
    )
)
"""What may stand before a message, behind the timestamp and perhaps the level, if the logger is there and not behind
the message.
"""

_LEVEL_ALONE = re.compile(rf"(?:{_THREAD} {{0,8}})?(?:- )?{_LEVEL} {{1,8}}")


class LineHeader(NamedTuple):
    """The parts of a header, and where in the text the message begins."""

    level: str
    thread: str | None
    logger: str
    begin: int


def headers(text: str) -> Iterator[LineHeader]:
    """The interpretations of the beginning of a text as a header with a logger, the likeliest first."""
    return (_header(found) for pattern in HEADERS if (found := pattern.match(text)) is not None)


def header_without_logger(text: str) -> LineHeader | None:
    """The beginning of a text as a level, perhaps behind a thread; None if there is no level."""
    found = _LEVEL_ALONE.match(text)
    return None if found is None else _header(found)


def _header(found: re.Match[str]) -> LineHeader:
    group = found.groupdict()
    thread = (group["thread"] or "").strip() if "thread" in group else ""
    return LineHeader(group["level"] or "", thread or None, group.get("logger", ""), found.end())


_SUFFIX = re.compile(rb"[ \n]\(([A-Za-z_][\w$]*(?:\.[\w$-]+)+)(?::\d{1,6})?\)[ \t\r]{0,400}(?:\n|\Z)")
_OPEN = ord("(")
_NAME = rb"([A-Za-z_][\w$]*(?:\.[\w$-]+)*)(?::\d{1,6})?"
_LAST = re.compile(_NAME)

LOGGER_LAST = re.compile(rb" \(" + _NAME + rb"\)\n")
"""What follows the message of a one-line record in the stock layout; :func:`split_logger` divides every record."""


def split_logger(text: bytes) -> tuple[bytes, bytes, bytes]:
    """Divide the text of a record into message, logger and what follows the logger (a stack trace).

    The logger usually ends the first line, perhaps with a source line number. A configuration dump has it at the end of
    its last line. A message that ends in a line feed has it alone on the second. A record without a logger yields an
    empty logger, and nothing after it.
    """
    end = text.find(b"\n")
    line = text if end < 0 else text[:end]
    line = line.rstrip(b" \t\r")  # a copy of a screen, or a column of a table, is filled up with blanks
    if line.endswith(b")"):
        at = line.rfind(b" (") + 1
        # Without a pattern over the whole line: the logger is looked for behind the last ` (` alone.
        if line[at] == _OPEN and (last := _LAST.fullmatch(line, at + 1, len(line) - 1)) is not None:
            return text[: max(at - 1, 0)], last[1], text[end + 1 :] if end >= 0 else b""
    if end >= 0 and (match := _SUFFIX.search(text, end)) is not None:
        return text[: match.start()], match[1], text[match.end() :]
    return text.rstrip(b"\r\n"), b"", b""


_THREAD_LAST = re.compile(rb"(?<=\)) \[([^\]\n]{1,160})\](?=\r?\n?\Z)")


def split_thread(text: bytes) -> tuple[bytes, str | None]:
    """The text without a thread in brackets behind the logger, at the end of its first or last line; and the thread, or
    None.
    """
    end = text.find(b"\n") + 1 or len(text)
    # The end of the first line, or of the last: a message of several lines has its thread behind the logger there.
    for upto in (end, len(text)):
        if (found := _THREAD_LAST.search(text, max(0, upto - 200), upto)) is not None:
            return text[: found.start()] + text[found.end() :], found[1].decode("ascii", "replace")
    return text, None


COLOUR = re.compile(
    rb"(?:\x1b|\^\[|#033|\\033|\\x1b|\\u001b)\[[0-9;:?]{0,40}[A-Za-z]|\x1b\][^\x07\x1b\n]{0,200}(?:\x07|\x1b\\)"
)
"""An escape sequence, also with its first character as programs print it that show what cannot be seen."""
_BEGIN_COLOUR = b"\x1b", b"^[[", b"#033[", b"\\033[", b"\\x1b[", b"\\u001b["


def without_colours(text: bytes) -> bytes:
    """The text without the escape sequences that colour it on a terminal."""
    return COLOUR.sub(b"", text) if any(each in text for each in _BEGIN_COLOUR) else text
