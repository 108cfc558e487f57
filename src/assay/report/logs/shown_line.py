"""A log line as a finding shows it: below its place, with the field marked that is wrong, as compilers show source."""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.report.lines import Line, Tone, clean
from assay.traces.event import Event, LogPosition
from assay.traces.result import LogViolation

# The numbers of repetitions are bounded: a line of a log may be a megabyte of slashes.
_LONG_PLACE = re.compile(r"(?<![\w./~-])/(?:[^/\s:`]{1,255}/){1,40}?([^/\s:`]{1,255}/[^/\s:`]{1,255}:\d)")
BEFORE = 60
"""Of a long line, as many characters before the marked field are shown."""
WIDTH = 96
UNMARKED = 3
"""The length of the mark below the beginning of a line of which no single field is wrong."""


def place_text(place: LogPosition) -> str:
    """The place of a line without the folders above the node's: ``broker-1/controller.log:12``."""
    parts = place.file.replace("!", "/").split("/")
    return clean(f"{'/'.join(parts[-2:])}:{place.line}")


def short_places(text: str) -> str:
    """The text with places in absolute paths as :func:`place_text` has them."""
    return _LONG_PLACE.sub(r"\1", text)


def shown_line(event: Event, value: str | None, field: str | None, why: str) -> Iterator[Line]:
    """The line, and below it a mark at the value of the field with the reason. Without a value its beginning is marked."""
    # Before the value is looked for: a character that is escaped takes several columns.
    message = clean(event.record.message.partition("\n")[0])
    begin, length = _span(message, value, field)
    start = max(0, begin - BEFORE) if len(message) > WIDTH else 0
    shown = message[start : start + WIDTH]
    lead = "…" if start else ""
    number = str(event.record.place.line)
    yield Line(f"   {number} | {lead}{shown}{'…' if start + WIDTH < len(message) else ''}")
    length = max(1, min(length, WIDTH - (begin - start)))
    yield Line(f"   {' ' * len(number)} | {' ' * (len(lead) + begin - start)}{'^' * length} {clean(why)}", Tone.BAD)


def marked_field(violation: LogViolation) -> tuple[str, str, str] | None:
    """The wrong value of a line, its field, and why it is wrong; None if no single field is wrong.

    It is the field whose change explains the line, else the first one that a false condition compares.
    """
    repair, event = violation.repair, violation.event
    if repair.event is event and repair.field and repair.old is not None and repair.new is not None:
        return repair.old, repair.field, f"{repair.field} {repair.new} would fit all other lines"
    compared = (
        pair for blame in violation.blame[:1] if blame.event is event for part in blame.parts for pair in part.log
    )
    return next(((value, name, f"{name} is {value} here") for name, value in compared if name in event.fields), None)


def _span(message: str, value: str | None, field: str | None) -> tuple[int, int]:
    """Where a value is in a message. Of several places that one which follows a word of the field's name."""
    if value is None:
        return 0, UNMARKED
    # Whole words: the epoch 1 must not be marked within the broker id 1001.
    found = list(re.finditer(rf"(?<![\w.]){re.escape(value)}(?![\w])", message))
    if not found:
        return 0, UNMARKED
    words = [word for word in (field or "").lower().split("_") if word]
    best = min(found, key=lambda at: (_distance(message[: at.start()].lower(), words), -at.start()))
    return best.start(), best.end() - best.start()


def _distance(before: str, words: list[str]) -> int:
    """How many characters ago the last of some words ended."""
    ends = [at + len(word) for word in words if (at := before.rfind(word)) >= 0]
    return len(before) - max(ends, default=0)
