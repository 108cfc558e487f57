"""Which containers a file's lines are in, by its first bytes: a document, a table or lines; behind prefixes, in objects,
wrapped at a column; one in another.

A container counts only if log lines, or events, come out of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.input.containers.documents import items_of
from assay.traces.input.containers.fields import ObjectReader, parsed
from assay.traces.input.containers.tables import entries_of, head_of, rows_of
from assay.traces.input.containers.wrapped_lines import WrapColumn, find_wrap
from assay.traces.input.events.exact_values import is_logfmt, logfmt
from assay.traces.input.lines.line_layout import LEVEL_FIRST, START, without_colours
from assay.traces.input.lines.record_scanner import BOM
from assay.traces.patterns.container import Container, ContainerForm, Containers

_MIN_SHARE = 0.9
_MAX_LAYERS = 4
_SAMPLE_LINES = 400
_SAMPLE_ITEMS = 100
LOGFMT = "logfmt events"
OF_EVENTS = frozenset({"JSON events", LOGFMT})
"""The names of layers that are events."""

NO_HEAD: tuple[str, tuple[str, ...]] = ("", ())
"""The delimiter and the columns of entries of fields."""


@dataclass(frozen=True, slots=True)
class Wrapping:
    """What a file's lines are in. ``frame`` is a document, a table or neither. The layers follow, the outermost first:
    a prefix, or None where each line is a JSON object. ``wrap`` is the column at which lines are wrapped.

    ``names`` are the containers in words. ``events`` is whether events were found in them.
    """

    names: tuple[str, ...]
    frame: Container | None = None
    layers: tuple[Container | None, ...] = ()
    wrap: WrapColumn | None = None
    events: bool = False
    delimiter: str = ""
    columns: tuple[str, ...] = ()


class ContainerDetector:
    """Recognises containers; one object serves any number of files.

    ``is_event`` says whether an object is an event, ``describes`` whether a line of text is one.
    """

    def __init__(
        self,
        containers: Containers,
        is_event: Callable[[Mapping[str, Any]], bool],
        describes: Callable[[bytes], bool] = lambda _: False,
    ) -> None:
        self.containers, self.objects, self.is_event, self.describes = (
            containers,
            ObjectReader(containers),
            is_event,
            describes,
        )
        self._prefixes = containers.of(ContainerForm.PREFIX)
        self._documents = containers.of(ContainerForm.DOCUMENT)
        self._tables = containers.of(ContainerForm.TABLE)
        self._outputs = containers.of(ContainerForm.OUTPUT)

    def find(self, head: bytes) -> Wrapping | None:
        """What the lines of a file with these first bytes are in; None if they stand for themselves.

        A last line that may be cut is ignored, unless it is all that there is.
        """
        text = without_colours(head).removeprefix(BOM)
        found = self._document(text) or self._table(text)
        if found is None:
            whole = text[: text.rfind(b"\n") + 1] or text
            found = self._lines([line for line in whole.split(b"\n")[:_SAMPLE_LINES] if line.strip()])
        if found is None and b"\x1b[" in head:
            found = Wrapping(())
        return found

    def output(self, head: bytes) -> Container | None:
        """The command that printed a text with these first bytes, if one is known."""
        text = head.removeprefix(BOM)
        return next((each for each in self._outputs if each.pattern is not None and each.pattern.search(text)), None)

    def _lines(self, lines: Sequence[bytes]) -> Wrapping | None:
        names: list[str] = []
        layers, texts = self._layers(lines, names)
        wrap = find_wrap(texts) if None not in layers else None
        if wrap is not None:
            names.append(f"wrapped at column {wrap.column}")
        if not layers and wrap is None:
            return None
        return Wrapping(tuple(names), layers=layers, wrap=wrap, events=not OF_EVENTS.isdisjoint(names))

    def _layers(self, texts: Sequence[bytes], names: list[str]) -> tuple[tuple[Container | None, ...], Sequence[bytes]]:
        """The layers around texts, and the texts without them; their names are added."""
        layers: list[Container | None] = []
        while texts and len(layers) < _MAX_LAYERS:
            inner = self._opened(texts, names)
            if inner is not None:
                layers.append(None)
                texts = inner
            elif (prefix := self._outermost(texts)) is not None and prefix.pattern is not None:
                layers.append(prefix)
                names.append(prefix.name)
                texts = [text[found.end() :] for text in texts if (found := prefix.pattern.match(text)) is not None]
            else:
                break
        return tuple(layers), texts

    def _opened(self, texts: Sequence[bytes], names: list[str]) -> list[bytes] | None:
        """The texts in JSON objects, if there are any."""
        found: list[bytes] = []
        seen: dict[str, None] = {}
        for text in texts:
            if (content := self.object_of(text)) is None:
                continue
            if self.is_event(content):
                seen["JSON events" if text.startswith(b"{") else LOGFMT] = None
                found.append(b"")
            elif (opened := self.objects.open(content)) is not None:
                seen[opened.container.name] = None
                found.append(opened.text.encode("utf-8", "replace"))
        names += seen
        return [text for text in found if text.strip()] if found else None

    def object_of(self, text: bytes) -> dict[str, Any] | None:
        """The object that a line is: JSON, or an event in logfmt; None if it is none."""
        if text.startswith(b"{"):
            return parsed(text)
        if is_logfmt(text) and self.is_event(content := logfmt(text)):
            return content
        return None

    def _outermost(self, texts: Sequence[bytes]) -> Container | None:
        """The outermost prefix of the texts: one behind which a record begins, or another prefix."""
        texts = [text for text in texts if not any(each.match(text) for each in self.containers.noise)]
        # Some tools print the further lines of a message as they are, without a prefix.
        texts = [text for text in texts if not text.startswith((b" ", b"\t"))] or texts
        plain = any(map(self.describes, texts))
        for prefix in self._prefixes:
            # Lines that patterns describe as they stand are taken apart only for the sake of who wrote them.
            if plain and (prefix.pattern is None or "node" not in prefix.pattern.groupindex):
                continue
            rests = _remainders(prefix, texts)
            if any(self.begins(rest, stamped=prefix.timed) for rest in rests):
                return prefix
            if rests and len(rests[0]) < len(texts[0]) and self._outermost(rests) is not None:
                return prefix
        return None

    def begins(self, text: bytes, *, stamped: bool) -> bool:
        """Whether a record, an event or an object with a log line begins here."""
        if START.match(b"\n" + text) is not None or (stamped and LEVEL_FIRST.match(text) is not None):
            return True
        if self.describes(text):
            return True
        content = self.object_of(text)
        return content is not None and (self.is_event(content) or self.objects.open(content) is not None)

    # ------------------------------------------------------------------------------------- documents and tables

    def _document(self, head: bytes) -> Wrapping | None:
        """JSON that is not an object a line."""
        text = head.lstrip()
        first = text.partition(b"\n")[0]
        if not text.startswith((b"{", b"[")) or START.match(b"\n" + first) is not None:
            return None
        content = parsed(first)
        if content is not None and (self.is_event(content) or self.objects.open(content) is not None):
            return None
        for container in self._documents:
            items = [item.content for item in islice(items_of(container, text)[0], _SAMPLE_ITEMS)]
            names = [container.name]
            if (layers := self._framed(items, names, container if container.parts else None)) is not None:
                return Wrapping(tuple(names), container, layers, events=self._any_event(items))
        return None

    def _framed(
        self, items: Sequence[object], names: list[str], table: Container | None = None
    ) -> tuple[Container | None, ...] | None:
        """The layers inside the objects of a document, or the rows of a table; None if they hold no log lines."""
        texts: list[bytes] = []
        events = stamped = False
        for item in items:
            content = parsed(item) if isinstance(item, bytes) else item
            if not isinstance(content, dict):
                continue
            events = events or self.is_event(content)
            opened = self.objects.open(content, table)
            if opened is not None:
                texts.append(opened.text.encode("utf-8", "replace"))
                stamped = opened.time is not None
        if not texts and not events:
            return None
        layers, inner = self._layers([text for text in texts if text.strip()], names)
        if events or layers or any(self.begins(text, stamped=stamped) for text in inner):
            return layers
        return None

    def _any_event(self, items: Sequence[object]) -> bool:
        contents = (parsed(item) if isinstance(item, bytes) else item for item in items)
        return any(isinstance(content, dict) and self.is_event(content) for content in contents)

    def _table(self, head: bytes) -> Wrapping | None:
        """CSV with a head line, or entries of fields."""
        first, _, rest = head.partition(b"\n")
        if first.startswith(b"sep="):
            first, _, rest = rest.partition(b"\n")
        if not rest:
            return None
        lines = [line + b"\n" for line in (first, *rest.split(b"\n")[:_SAMPLE_LINES])]
        found = head_of(first) if START.match(b"\n" + first) is None and not first.startswith((b"{", b"[")) else None
        for table in self._tables:
            names = [table.name]
            if table.fields:
                if not rest or b"\n" + table.keys[0].encode() not in b"\n" + head:
                    continue
                rows = [row.cells for row in islice(entries_of(iter(lines), table), _SAMPLE_ITEMS)]
                delimiter, columns = NO_HEAD
            elif found is not None and set(table.keys) <= set(found[1]):
                delimiter, columns = found
                rows = [row.cells for row in islice(rows_of(iter(lines), *found), _SAMPLE_ITEMS)]
            else:
                continue
            if (layers := self._framed(rows, names, table)) is not None:
                events = self._any_event(rows)
                return Wrapping(tuple(names), table, layers, events=events, delimiter=delimiter, columns=columns)
        return None


def _remainders(prefix: Container, texts: Sequence[bytes]) -> list[bytes]:
    """What stands behind the prefix in the texts that have it; empty if too few have it."""
    rests: list[bytes] = []
    if prefix.pattern is None:
        return rests
    match = prefix.pattern.match
    for number, text in enumerate(texts):
        found = match(text)
        if found is not None:
            rests.append(text[found.end() :])
        # Gives up at the first text at which too few of the others can still have the prefix.
        elif number + 1 - len(rests) > len(texts) - _MIN_SHARE * len(texts):
            return []
    return rests
