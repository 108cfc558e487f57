"""Lines of text logs as objects, by the patterns of a file (docs/events.md): what stands before a message, and what the
message says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from assay.traces.event import Field
from assay.traces.input.lines.line_layout import headers, split_logger
from assay.traces.input.lines.timestamps import DATED, STAMP
from assay.traces.patterns.field_types import scalar
from assay.traces.patterns.pattern import LinePattern

_STAMPED = re.compile(rf"(?P<before>[^|{{\[\n]{{0,24}}?)\[?(?P<time>{STAMP.decode()})\]?(?P<gap>[\s:|,*#.>-]{{0,20}})")
_DATED = re.compile(DATED.decode())
_LEVEL = re.compile(
    r"\[?(?P<level>TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERR(?:OR)?|FATAL|CRIT(?:ICAL)?)\]?[\s:|,-]{1,10}"
)


class LineStart(NamedTuple):
    """What stands before a message, as fields, and the message."""

    fields: dict[str, Any]
    message: str


class TextLines:
    """Reads lines by patterns; ``headers`` describe what stands before a message, else the usual forms are tried."""

    def __init__(self, patterns: Sequence[LinePattern], line_headers: Sequence[re.Pattern[str]]) -> None:
        self._patterns, self._headers = patterns, line_headers
        named = [(each.name, each.literal) for each in patterns if each.literal]
        self._meant = [(name, re.compile(rf"(?<!\w){re.escape(literal)}(?!\w)")) for name, literal in named]

    def objects(self, line: str) -> list[dict[str, Any]]:
        """The objects that a line states, usually one; empty if no pattern describes it."""
        found = next(self.readings(line), None)
        return [] if found is None else found[1]

    def readings(self, line: str) -> Iterator[tuple[LinePattern, list[dict[str, Any]]]]:
        """The patterns that describe a line, each with the objects that it finds; the first one counts."""
        starts: list[LineStart] | None = None
        for pattern in self._patterns:
            if pattern.literal not in line:
                continue
            if starts is None:
                starts = list(self._starts(line))
            # The first way to divide the line counts with which the pattern fits.
            for start in starts:
                if (found := pattern.match(start.message)) and _is_logger(pattern, start):
                    yield pattern, [_object(pattern, start, fields) for fields in found]
                    break

    def meant(self, line: str) -> str | None:
        """The pattern whose ``literal`` a line holds that no pattern describes; None if there is none."""
        return next((name for name, literal in self._meant if literal.search(line)), None)

    def _starts(self, line: str) -> Iterator[LineStart]:
        """The ways to divide a line into what stands before the message, and the message."""
        if not self._headers:
            yield from _usual_starts(line)
        for header in self._headers:
            if (found := header.match(line)) is not None:
                yield LineStart(_groups(found), line[found.end() :])


def _groups(found: re.Match[str]) -> dict[str, Any]:
    """The fields of what stands before a message; a time stays as it is written."""
    named = ((name, value) for name, value in found.groupdict().items() if value is not None)
    return {name: value if name == "time" else scalar(value) for name, value in named}


def _usual_starts(line: str) -> Iterator[LineStart]:
    """The usual ways: a time, perhaps with a process before it; a level; a thread; a logger, perhaps at the end."""
    stamp = _STAMPED.match(line)
    # A time without its date says nothing of the order among files: the order of the lines alone is known.
    timed = {} if stamp is None or _DATED.fullmatch(stamp["time"]) is None else {"time": stamp["time"]}
    # The line as a whole comes first: a pattern may describe it with its time.
    yield LineStart(timed, line)
    rest = line if stamp is None else line[stamp.end() :]
    if stamp is not None:
        yield LineStart(timed, rest)
    for header in headers(rest):
        own = {"level": header.level, "thread": header.thread, "logger": header.logger}
        yield LineStart(timed | {name: value for name, value in own.items() if value}, rest[header.begin :])
    if (level := _LEVEL.match(rest)) is not None:
        leveled = timed | {"level": level["level"]}
        yield LineStart(leveled, rest[level.end() :])
        message, logger, _ = split_logger(rest[level.end() :].encode())
        if logger:
            yield LineStart(leveled | {"logger": logger.decode()}, message.decode("utf-8", "replace"))


def _is_logger(pattern: LinePattern, start: LineStart) -> bool:
    """Whether the logger of a line is one of the pattern's, if it names any."""
    wanted = [name for name in pattern.loggers if name]
    return not wanted or any(fnmatchcase(str(start.fields.get("logger", "")), name) for name in wanted)


def _object(pattern: LinePattern, start: LineStart, fields: dict[str, Field]) -> dict[str, Any]:
    named = {name: value for name, value in fields.items() if value is not None or name in pattern.constants}
    return {**start.fields, **({"event": pattern.kind} if pattern.kind else {}), **named}
