"""Take log lines out of their containers: each goes to the part of the file that its container names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

from assay.traces.event import LogPosition, Notice
from assay.traces.input.containers.detect import ContainerDetector, Wrapping, heading_of
from assay.traces.input.containers.documents import items_of
from assay.traces.input.containers.encodings import without_escapes
from assay.traces.input.containers.fields import NOBODY, Origin, parsed, stamped
from assay.traces.input.containers.fixed_shapes import MOST_SHAPES, MOST_TRIALS, FixedShape
from assay.traces.input.containers.parts import LineOrigin, PartLines
from assay.traces.input.containers.tables import entries_of, rows_of
from assay.traces.input.events.exact_values import cell
from assay.traces.input.lines.line_layout import without_colours
from assay.traces.input.lines.record_scanner import BOM, ByteStream, FileCounts, ScanLimits
from assay.traces.patterns.container import Container, ContainerForm

_MAX_NESTING = 3
"""How deep JSON objects may be nested in one another's messages."""

_LARGEST_DOCUMENT = 1 << 29
"""A JSON document is held in memory; of a larger one only the beginning is read."""

CUT = "end cut off"
"""The kind of notice about a document that ends too early."""

# So many bytes wait in all parts together, however many these are, before records are cut out of them.
_WAITING = 1 << 20
_LABEL = re.compile(r'\b(?:pod|instance|hostname|host|node_name|container)="([\w.:-]{1,100})"')


class TakesEvent(Protocol):
    """What takes an event in: a line or an object, with its place, and when it was collected. ``every_line`` is whether
    all lines may be events.
    """

    every_line: bool

    def __call__(self, part: LineOrigin, place: LogPosition, content: bytes | dict[str, Any], time: object, /) -> None:
        """Take an event in."""


class Unwrapper:
    """Reads one file; ``new_part`` makes what takes the lines of a part, ``take_event`` takes an event."""

    def __init__(
        self,
        detector: ContainerDetector,
        wrapping: Wrapping,
        file: str,
        tally: FileCounts,
        limits: ScanLimits,
        new_part: Callable[[LineOrigin], PartLines],
        take_event: TakesEvent,
    ) -> None:
        self._wrapping, self._objects = wrapping, detector.reader_of(wrapping)
        self._noise = detector.containers.is_noise
        self._is_event, self._object_of = detector.is_event, detector.object_of
        self._lines_are_events = take_event.every_line
        self._file, self._tally, self._limits = file, tally, limits
        self._new_part, self._take_event = new_part, take_event
        self._parts: dict[Origin, PartLines] = {}
        self._origins: dict[Origin, LineOrigin] = {}
        self._incomplete: dict[Origin, tuple[bytes, int, int]] = {}
        """Beginnings of lines that a collector cut, with their places."""
        frame = wrapping.frame
        self._table = frame if frame is not None and (frame.form is ContainerForm.TABLE or frame.parts) else None
        self._shapes: list[tuple[FixedShape, Origin]] = []
        """Shapes of lines that were read, that of the last row first."""
        self._waiting = 0
        self._last: Origin = NOBODY
        """Whose the last line was; an indented line without a prefix continues it."""
        self._without: list[LogPosition] = []
        self._left_out: list[LogPosition] = []
        self._too_long: list[tuple[LogPosition, int]] = []

    def read(self, stream: ByteStream) -> None:
        """Read a stream to its end."""
        frame = self._wrapping.frame
        if (
            frame is None
            and self._wrapping.layers == (None,)
            and not self._wrapping.wrap
            and not self._lines_are_events
        ):
            self._read_objects(stream)
        elif frame is None:
            self._read_lines(stream)
        elif frame.form is ContainerForm.DOCUMENT:
            self._read_document(stream, frame)
        else:
            self._read_table(stream, frame)
        # What no later line completed is a line by itself.
        for origin, (text, number, offset) in self._incomplete.items():
            self._give(text, number, offset, origin, None)
        for part in self._parts.values():
            part.flush(last=True)
        self._report()

    # ------------------------------------------------------------------------------------------------- frames

    def _read_lines(self, stream: ByteStream) -> None:
        layers, take, origin = self._wrapping.layers, self._take, NOBODY
        headings = self._wrapping.headings
        for number, offset, line in self._lines(stream):
            text = without_colours(line)
            if headings and (found := heading_of(headings, text)) is not None:
                # The lines below are of this origin, up to the next heading.
                origin, _ = _with_groups(found, NOBODY, None)
                continue
            take(text, number, offset, layers, origin, None)
            if self._waiting > _WAITING:
                self._flush()

    def _read_objects(self, stream: ByteStream) -> None:
        """Read lines that are objects: rows of equal shape at once, the others one by one."""
        trials = 0
        number = 0
        for first, offset, data in self._blocks(stream):
            number, at = first, 0
            while at < len(data):
                # Lines that go on are joined one by one: a shape takes each line for a whole one.
                end = at if self._incomplete else self._take_row(data, at, number, offset)
                if end > at:
                    number += data.count(b"\n", at, end)
                    at = end
                    continue
                end = data.find(b"\n", at) + 1 or len(data)
                line = data[at:end]
                plain = without_colours(line)
                self._take(plain, number, offset + at, (None,), NOBODY, None)
                if trials < MOST_TRIALS and len(self._shapes) < MOST_SHAPES:
                    trials += 1
                    self._learn(line)
                number, at = number + 1, end
                if self._waiting > _WAITING:
                    self._flush()

    def _take_row(self, data: bytes, at: int, number: int, offset: int) -> int:
        """Take a row of lines of a known shape, and return where it ends; ``at`` if none begins here."""
        for place, (shape, origin) in enumerate(self._shapes):
            end = shape.end(data, at)
            if end == at:
                continue
            # To the front: what wrote this line writes the next one, most likely.
            if place:
                self._shapes.insert(0, self._shapes.pop(place))
            row = data[at:end]
            text = shape.record(row)
            self._last = origin
            self._part(origin).take_rows(text, number, offset + at, row)
            self._waiting += len(text)
            if self._waiting > _WAITING:
                self._flush()
            return end
        return at

    def _learn(self, line: bytes) -> None:
        content = self._object_of(line)
        # An event is kept as an object with all its fields, of which a shape knows those of a record alone.
        if content is not None and not self._is_event(content) and not self._incomplete:
            shape = self._objects.shape_of(line, content)
            if shape is not None:
                self._shapes.insert(0, shape)

    def _read_document(self, stream: ByteStream, container: Container) -> None:
        data = self._whole(stream)
        items, walk = items_of(container, data)
        layers, number, counted = self._wrapping.layers, 1, 0
        for offset, content in items:
            # From the last item on: to count from the beginning each time would take the square of a document's length.
            number += data.count(b"\n", counted, offset)
            counted = offset
            if isinstance(content, bytes):
                self._take(content + b"\n", number, offset, (None, *layers), NOBODY, None)
            else:
                self._take_object(content, number, offset, layers, NOBODY, None)
            if self._waiting > _WAITING:
                self._flush()
        if walk.cut:
            place = LogPosition(self._file, self._tally.lines, len(data))
            self._tally.notices.append(Notice(CUT, place, "the JSON document is not complete"))

    def _whole(self, stream: ByteStream) -> bytes:
        """A document as a whole, without a mark of its encoding, which becomes blanks so that places stay."""
        blocks: list[bytes] = []
        while self._tally.bytes < _LARGEST_DOCUMENT and (block := stream.read(self._limits.block)):
            blocks.append(block)
            self._tally.bytes += len(block)
        data = b"".join(blocks)
        if stream.read(1):
            text = f"a JSON document of more than {_LARGEST_DOCUMENT >> 20} MB; only its beginning was read"
            self._tally.notices.append(Notice("record too long", LogPosition(self._file, 1, 0), text))
        self._tally.lines = data.count(b"\n") + (not data.endswith(b"\n"))
        return b" " * len(BOM) + data[len(BOM) :] if data.startswith(BOM) else data

    def _read_table(self, stream: ByteStream, table: Container) -> None:
        lines = (line for _, _, line in self._lines(stream))
        if table.fields:
            rows = entries_of(lines, table)
        else:
            rows = rows_of(lines, self._wrapping.delimiter, self._wrapping.columns)
        for number, offset, cells in rows:
            self._take_object(cells, number, offset, self._wrapping.layers, NOBODY, None)
            if self._waiting > _WAITING:
                self._flush()

    def _lines(self, stream: ByteStream) -> Iterator[tuple[int, int, bytes]]:
        """The lines with their numbers and places; of one that is too long only the beginning."""
        for first, begin, block in self._blocks(stream):
            number, offset = first, begin
            *lines, rest = block.split(b"\n")
            for line in lines:
                yield number, offset, line + b"\n"
                number, offset = number + 1, offset + len(line) + 1
            if rest:
                yield number, offset, rest

    def _blocks(self, stream: ByteStream) -> Iterator[tuple[int, int, bytes]]:
        """Some whole lines at a time, with the number of the first and its place; of a line that is too long only the
        beginning.
        """
        rest, number, offset = b"", 0, 0
        while block := stream.read(self._limits.block):
            self._tally.bytes += len(block)
            if not offset and not rest and block.startswith(BOM):
                block, offset = block[len(BOM) :], len(BOM)
            block = rest + block
            end = block.rfind(b"\n") + 1
            whole, rest = block[:end], block[end:]
            if whole:
                yield number + 1, offset, whole
                number, offset = number + whole.count(b"\n"), offset + end
            # The rest of a line without an end is not kept: a binary file may be one line of gigabytes.
            while len(rest) > self._limits.record:
                number += 1
                size, after = self._skip(stream, len(rest))
                self._too_long.append((LogPosition(self._file, number, offset), size))
                yield number, offset, rest[: self._limits.kept] + b"\n"
                offset, rest = offset + size, after
        if rest:
            number += 1
            yield number, offset, rest
        self._tally.lines = number

    def _skip(self, stream: ByteStream, size: int) -> tuple[int, bytes]:
        """Skip the rest of a line: its size with the line feed, and what was read behind it."""
        while block := stream.read(self._limits.block):
            self._tally.bytes += len(block)
            at = block.find(b"\n")
            if at >= 0:
                return size + at + 1, block[at + 1 :]
            size += len(block)
        return size, b""

    # ------------------------------------------------------------------------------------------------- layers

    def _take(
        self,
        text: bytes,
        number: int,
        offset: int,
        layers: tuple[Container | None, ...],
        origin: Origin,
        time: object,
    ) -> None:
        """Take the layers off a line, and give it to its part."""
        for depth, layer in enumerate(layers):
            if layer is None:
                if self._is_taken(text, number, offset, layers[depth + 1 :], origin, time):
                    return
                continue
            found = layer.pattern.match(text) if layer.pattern is not None else None
            if found is None:
                if text.startswith((b" ", b"\t")):
                    # It goes on with the last line, as a stack trace does.
                    origin = self._last
                elif text.strip() and not self._noise(text):
                    self._without.append(LogPosition(self._file, number, offset))
                break
            # Most prefixes are only cut off. That is done here, without a call for each line.
            is_plain = not (layer.rest or layer.controls or layer.moves_level)
            text = text[found.end() :] if is_plain else layer.inside_of(text)
            group = found.groupdict()
            if group:
                origin, time = _with_groups(group, origin, time)
                if group.get("number"):
                    self._count(origin, int(group["number"]), LogPosition(self._file, number, offset))
                if self._incomplete or group.get("partial"):
                    whole = self._completed(text, number, offset, origin, cut=bool(group.get("partial")))
                    if whole is None:
                        return
                    text, number, offset = whole
        self._give(text, number, offset, origin, time)

    def _is_taken(
        self,
        text: bytes,
        number: int,
        offset: int,
        layers: tuple[Container | None, ...],
        origin: Origin,
        time: object,
    ) -> bool:
        """Whether a line is a JSON object, which was taken: an event, or a container of further lines."""
        content = self._object_of(text)
        if content is not None and self._is_event(content):
            self._take_event(self._origin(origin), LogPosition(self._file, number, offset), text, time)
            return True
        return content is not None and self._take_object(content, number, offset, layers, origin, time)

    def _take_object(
        self,
        content: dict[str, Any],
        number: int,
        offset: int,
        layers: tuple[Container | None, ...],
        origin: Origin,
        time: object,
    ) -> bool:
        """Take the line out of an object, and out of objects in its message; False if there is none."""
        text = b""
        if self._is_event(content):
            self._take_event(self._origin(origin), LogPosition(self._file, number, offset), self._logged(content), time)
            return True
        # One collector may wrap what another wrote: docker's `log` holds an object in which Kafka's line is.
        for depth in range(_MAX_NESTING):
            opened = self._objects.open(content, None if depth else self._table)
            if opened is None:
                break
            if opened.origin != NOBODY:
                origin = opened.origin if origin == NOBODY else _inner(opened.origin, origin)
            time = time if opened.time is None else opened.time
            # Cells of a table were decoded with escapes, so that bytes which are no UTF-8 come back as they were.
            text = opened.text.encode("utf-8", "surrogateescape" if self._table is not None else "replace")
            if self._incomplete or not text.endswith(b"\n"):
                whole = self._completed(text, number, offset, origin, cut=not text.endswith(b"\n"))
                if whole is None:
                    return True
                text, number, offset = whole
            inner = parsed(text) if text.startswith(b"{") else None
            if inner is None:
                break
            if self._is_event(inner):
                self._take_event(self._origin(origin), LogPosition(self._file, number, offset), text, time)
                return True
            content = inner
        if text:
            self._hand_on(text, number, offset, layers, origin, time)
        return bool(text)

    def _hand_on(
        self, text: bytes, number: int, offset: int, layers: tuple[Container | None, ...], origin: Origin, time: object
    ) -> None:
        """What an object held: a line, or a line in further layers."""
        text = without_escapes(without_colours(text))
        if layers:
            self._take(text, number, offset, layers, origin, time)
        else:
            self._give(text, number, offset, origin, time)

    def _logged(self, content: dict[str, Any]) -> dict[str, Any]:
        """The fields of an event. A row of a table has texts only, of which some are numbers and lists."""
        frame = self._wrapping.frame
        if frame is None or frame.form is not ContainerForm.TABLE:
            return content
        return {name: cell(value) for name, value in content.items()}

    def _completed(
        self, text: bytes, number: int, offset: int, origin: Origin, *, cut: bool
    ) -> tuple[bytes, int, int] | None:
        """A line with its beginning, which came before, and the place of that; None while it goes on."""
        if origin in self._incomplete:
            before, number, offset = self._incomplete.pop(origin)
            text = before + text
        # A collector that marks each line as cut would else make one line of all of them.
        if cut and len(text) <= self._limits.record:
            self._incomplete[origin] = text.removesuffix(b"\n"), number, offset
            return None
        return text, number, offset

    # -------------------------------------------------------------------------------------------------- parts

    def _give(self, text: bytes, number: int, offset: int, origin: Origin, time: object) -> None:
        self._last = origin
        if self._lines_are_events:
            if text.strip():
                self._take_event(self._origin(origin), LogPosition(self._file, number, offset), text, time)
            return
        self._part(origin).take(stamped(text, time) if time else text, number, offset)
        self._waiting += len(text)

    def _part(self, origin: Origin) -> PartLines:
        part = self._parts.get(origin)
        if part is None:
            part = self._parts[origin] = self._new_part(self._origin(origin))
        return part

    def _origin(self, origin: Origin) -> LineOrigin:
        found = self._origins.get(origin)
        if found is None:
            found = self._origins[origin] = LineOrigin(*origin)
        return found

    def _flush(self) -> None:
        for part in self._parts.values():
            if part.waiting:
                part.flush(last=False)
        self._waiting = 0

    def _count(self, origin: Origin, number: int, place: LogPosition) -> None:
        """Detect lines that were left out when these lines were taken from their file."""
        part = self._part(origin)
        if number != part.number + 1:
            self._left_out.append(place)
        part.number = number

    def _report(self) -> None:
        notices = self._tally.notices
        if self._without:
            text = (
                f"{len(self._without):,} lines lack the prefix that the others have; they were read as lines of nobody"
            )
            notices.append(Notice("no prefix", self._without[0], text))
        if self._left_out:
            times = f", {len(self._left_out):,} times" if len(self._left_out) > 1 else ""
            text = f"the numbers of lines jump{times}: lines of the original file were left out"
            notices.append(Notice("lines left out", self._left_out[0], text))
        for place, size in self._too_long:
            text = f"a line of {size:,} bytes; only its first {self._limits.kept:,} were read"
            notices.append(Notice("record too long", place, text))


def _with_groups(group: Mapping[str, bytes | None], origin: Origin, time: object) -> tuple[Origin, object]:
    """What a prefix adds to the origin of a line, and its time."""
    node, role, run, path = (
        (value.decode("utf-8", "replace") if (value := group.get(name)) else before)
        for name, before in zip(("node", "role", "run", "path"), origin, strict=True)
    )
    # A path of Windows, which may have been collected on any system.
    path = path.replace("\\", "/")
    if role.endswith(".log") and not path:
        role, path = "", role  # what syslog calls a program may be the file that was forwarded
    labels = group.get("labels")
    if labels and (found := _LABEL.search(labels.decode("utf-8", "replace"))) is not None:
        node = found[1]
    return (node, role, run, path), group.get("time") or time


def _inner(inner: Origin, outer: Origin) -> Origin:
    """The origin that an object names, completed by that around it."""
    return tuple(own or before for own, before in zip(inner, outer, strict=True))  # type: ignore[return-value]
