"""Files of events of any system, one JSON object a line; docs/events.md has the schema."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import Any

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.durations import duration_in_words
from assay.traces.event import LogPosition, Notice
from assay.traces.input.events.decoder import EventDecoder, JsonEvent, NoEventError, OtherLineError
from assay.traces.input.lines.record_scanner import ByteStream, FileCounts, ScanLimits

UNREAD_EVENT = "not an event"
"""The kind of notice about lines that were not read and may be events."""

TIME_BACK = "time goes back"
"""The kind of notice about times that are not in the order of the lines."""

FAR_BACK = 1_000
"""Times that go back by more milliseconds are reported: buffers and threads do less."""

OTHER_LINES = "other lines"
"""The kind of notice about lines of a file of events that are none."""


@dataclass(slots=True)
class JsonEvents:
    """The events of a file, and notices about its other lines."""

    events: list[JsonEvent] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)


class TimesBack:
    """Counts the lines whose time lies well before that of the line before, of one node's run in one file."""

    def __init__(self) -> None:
        self._last: dict[tuple[str, int], int] = {}
        self._count = 0
        self._first: tuple[LogPosition, int] | None = None

    def add(self, event: JsonEvent) -> None:
        """Take the next event of the file in."""
        time = event.record.time
        if time is None:
            return
        who = event.node, event.run
        back = self._last.get(who, time) - time
        self._last[who] = time
        if back > FAR_BACK:
            self._count += 1
            self._first = self._first or (event.record.place, back)

    def notices(self) -> list[Notice]:
        """A notice that counts them, if there are any."""
        if self._first is None:
            return []
        place, back = self._first
        lines = "1 line" if self._count == 1 else f"{self._count:,} lines"
        far = duration_in_words(back)
        return [
            Notice(
                TIME_BACK, place, f"times go back in {lines}, first {place}, by {far}; the order is that of the lines"
            )
        ]


class SkippedLines:
    """Counts the lines that are no events by what is wrong with them, with the first position of each kind."""

    def __init__(self) -> None:
        self._wrong: dict[tuple[str, str], tuple[int, LogPosition, int | None]] = {}

    def add(self, kind: str, text: str, place: LogPosition, since: int | None) -> None:
        """Count a line; ``since`` is the time of the event before it."""
        count, first, begun = self._wrong.get((kind, text), (0, place, since))
        self._wrong[kind, text] = (count + 1, first, begun)

    def notices(self) -> list[Notice]:
        """A notice for each kind."""
        found = self._wrong.items()
        return [
            Notice(kind, place, f"{count:,} {'line' if count == 1 else 'lines'}: {text}", since)
            for (kind, text), (count, place, since) in found
        ]


def holds_events(head: bytes, decoder: EventDecoder) -> bool:
    """Whether a file with these first bytes is a file of events. Then its first line that is not blank is a JSON object
    that names its event.
    """
    return decoder.recognises(head.lstrip(b"\xef\xbb\xbf \t\r\n").partition(b"\n")[0])


def read_events(
    stream: ByteStream, file: str, tally: FileCounts, limits: ScanLimits, decoder: EventDecoder
) -> JsonEvents:
    """Read a file of events to its end.

    Other lines are counted by what is wrong with them, with the first position of each kind.
    """
    lines = ((place, line, None) for place, line in lines_of(stream, file, tally, limits) if line.strip())
    return events_in(lines, tally, decoder)


FoundLine = tuple[LogPosition, bytes | dict[str, Any], object]
"""A line, or an object that stands for one, with its place and the time that its container gives it, or None."""


def events_in(lines: Iterable[FoundLine], tally: FileCounts, decoder: EventDecoder) -> JsonEvents:
    """The events on some lines, none of them blank; other lines are counted by what is wrong with them."""
    found, skipped, back = JsonEvents(), SkippedLines(), TimesBack()
    for place, line, time in lines:
        tally.records += 1
        # A line that was not read has no time; it cannot matter to what happened before the event in front of it.
        since = found.events[-1].record.time if found.events else None
        try:
            events = decoder.events(line, place, time)
        except NoEventError as error:
            skipped.add(UNREAD_EVENT, str(error), place, since)
        except OtherLineError as error:
            skipped.add(OTHER_LINES, str(error), place, since)
        else:
            found.events += events
            for event in events:
                back.add(event)
    found.notices += skipped.notices()
    if decoder.source.order in {"file", "lines"}:
        found.notices += back.notices()
    return found


def lines_of(
    stream: ByteStream, file: str, tally: FileCounts, limits: ScanLimits
) -> Iterator[tuple[LogPosition, bytes]]:
    """The lines with their positions; of a line that is too long only the beginning, which is not an event."""
    rest, offset, number, skipping = b"", 0, 0, False
    while block := stream.read(limits.block):
        tally.bytes += len(block)
        *lines, rest = (rest + block).split(b"\n")
        for line in lines:
            number += 1
            if not skipping:
                yield LogPosition(file, number, offset), line
            skipping = False
            offset += len(line) + 1
        # A line that is too long comes once, cut. What is left of it is passed over up to its line feed.
        if len(rest) > limits.record:
            if not skipping:
                yield LogPosition(file, number + 1, offset), rest[: limits.kept]
            skipping, offset, rest = True, offset + len(rest), b""
    if rest and not skipping:
        yield LogPosition(file, number + 1, offset), rest
    # The last line may lack its line feed.
    tally.lines = number + bool(rest or skipping)
