"""Which containers a file's lines are in, by its first bytes. They are a document, a table or lines; behind prefixes,
in objects, or wrapped at a column. One may be in another.

A container counts only if log lines, or events, come out of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.input.containers.documents import items_of
from assay.traces.input.containers.encodings import is_markup, without_markup
from assay.traces.input.containers.fields import ObjectReader, parsed
from assay.traces.input.containers.found_items import completed, found_items
from assay.traces.input.containers.learned_parts import learned_message, learned_node, leaves_of
from assay.traces.input.containers.learned_prefix import learned_prefix
from assay.traces.input.containers.tables import entries_of, head_of, rows_of
from assay.traces.input.containers.wrapped_lines import WrapColumn, find_wrap
from assay.traces.input.events.exact_values import is_logfmt, logfmt
from assay.traces.input.lines.line_layout import COLOUR, LEVEL_FIRST, START, without_colours
from assay.traces.input.lines.record_scanner import BOM
from assay.traces.input.lines.timestamps import STOCK_STAMP
from assay.traces.patterns.container import Container, ContainerForm, Containers

# Not all lines: stack traces, lines of the collector itself and a cut last line stand without a prefix.
_MIN_SHARE = 0.9
STOCK = re.compile(rb"\[" + STOCK_STAMP + rb"\] [A-Z]{4,5} ")
LONGEST_HEADING = 400
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

    ``headings`` stand above lines, and say whose they are. ``learned`` are kinds of objects of which the content told
    where their parts are. With ``markup`` it is a web page, and what its text is in is to be found yet.
    ``names`` are the containers in words. ``events`` is whether events were found in them.
    """

    names: tuple[str, ...]
    frame: Container | None = None
    layers: tuple[Container | None, ...] = ()
    wrap: WrapColumn | None = None
    events: bool = False
    delimiter: str = ""
    columns: tuple[str, ...] = ()
    headings: tuple[Container, ...] = ()
    markup: bool = False
    learned: tuple[Container, ...] = ()


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
        self.containers, self.is_event, self.describes = containers, is_event, describes
        self.objects = self._plain_objects = ObjectReader(containers)
        self._learned: tuple[Container, ...] = ()
        self._prefixes = containers.of(ContainerForm.PREFIX)
        self._headings = containers.of(ContainerForm.HEADING)
        self._documents = containers.of(ContainerForm.DOCUMENT)
        self._tables = containers.of(ContainerForm.TABLE)
        self._outputs = containers.of(ContainerForm.OUTPUT)

    def find(self, head: bytes, *, of_page: bool = False) -> Wrapping | None:
        """What the lines of a file with these first bytes are in; None if they stand for themselves.

        A last line that may be cut is ignored, unless it is all that there is. The text ``of_page`` is no page again.
        """
        if _is_bare(head):
            return None
        # What is learned holds for one file. Before and after it, nothing is known but the catalogue.
        self._learned, self.objects = (), self._plain_objects
        found = self._find(head, of_page=of_page)
        found = None if found is None else replace(found, learned=self._learned)
        self._learned, self.objects = (), self._plain_objects
        return found

    def reader_of(self, wrapping: Wrapping) -> ObjectReader:
        """What opens the objects of a file."""
        return ObjectReader(self.containers, wrapping.learned) if wrapping.learned else self.objects

    def _find(self, head: bytes, *, of_page: bool) -> Wrapping | None:
        text = without_colours(head).removeprefix(BOM)
        # A document or a table before lines: their lines would pass for lines behind a prefix.
        found = self._document(text) or self._table(text)
        if found is None:
            # The last line may be cut at the end of the sample.
            whole = text[: text.rfind(b"\n") + 1] or text
            if not of_page and (is_markup(whole) or _is_spaced(whole)):
                return Wrapping(("web page",), markup=True)
            found = self._lines([line for line in whole.split(b"\n")[:_SAMPLE_LINES] if line.strip()])
        if found is None and COLOUR.search(head) is not None:
            found = Wrapping(())
        return found

    def output(self, head: bytes) -> Container | None:
        """The command that printed a text with these first bytes, if one is known."""
        text = head.removeprefix(BOM)
        return next((each for each in self._outputs if each.pattern is not None and each.pattern.search(text)), None)

    def _lines(self, lines: Sequence[bytes]) -> Wrapping | None:
        names: list[str] = []
        headings, lines = self._below_headings(lines, names)
        layers, texts = self._layers(lines, names)
        # An object holds its line as a whole, whatever its length.
        wrap = find_wrap(texts) if None not in layers else None
        if wrap is not None:
            names.append(f"wrapped at column {wrap.column}")
        if headings and not layers and not any(self.begins(text, stamped=False) for text in texts):
            return None
        if not layers and wrap is None and not headings:
            return None
        events = not OF_EVENTS.isdisjoint(names)
        return Wrapping(tuple(names), layers=layers, wrap=wrap, events=events, headings=headings)

    def _below_headings(
        self, lines: Sequence[bytes], names: list[str]
    ) -> tuple[tuple[Container, ...], Sequence[bytes]]:
        """The kinds of headings among lines, and the other lines; the names of the kinds are added."""
        others = [line for line in lines if STOCK.match(line) is None and not line.startswith((b"\t", b"    "))]
        kinds = [each for each in self._headings if any(heading_of((each,), line) is not None for line in others)]
        names += (each.name for each in kinds)
        return tuple(kinds), [line for line in lines if heading_of(kinds, line) is None] if kinds else lines

    def _layers(self, texts: Sequence[bytes], names: list[str]) -> tuple[tuple[Container | None, ...], Sequence[bytes]]:
        """The layers around texts, and the texts without them; their names are added."""
        layers: list[Container | None] = []
        while texts and len(layers) < _MAX_LAYERS:
            inner = self._opened(texts, names)
            if inner is not None:
                layers.append(None)
                texts = inner
            elif self._is_stock(texts):
                break
            elif (prefix := self._prefix(texts, layers)) is not None and prefix.pattern is not None:
                layers.append(prefix)
                names.append(prefix.name)
                texts = [prefix.inside_of(text) for text in texts if prefix.pattern.match(text) is not None]
            else:
                break
        return tuple(layers), texts

    def _is_stock(self, texts: Sequence[bytes]) -> bool:
        """Whether so many lines begin with a record of Kafka's own layout that no prefix can stand before nearly all."""
        stock = [text for text in texts if STOCK.match(text) is not None]
        if len(stock) <= (1 - _MIN_SHARE) * len(texts):
            return False
        return not any(each.pattern is not None and each.pattern.match(stock[0]) for each in self._prefixes)

    def _opened(self, texts: Sequence[bytes], names: list[str]) -> list[bytes] | None:
        """The texts in JSON objects, if there are any."""
        found: list[bytes] = []
        seen: dict[str, None] = {}
        contents = [(text, content) for text in texts if (content := self.object_of(text)) is not None]
        self._learn([content for _, content in contents if not self.is_event(content)])
        for text, content in contents:
            if self.is_event(content):
                seen["JSON events" if text.startswith(b"{") else LOGFMT] = None
                # An event holds no line, so nothing is looked for in it.
                found.append(b"")
            elif (opened := self.objects.open(content)) is not None:
                seen[opened.container.name] = None
                found.append(opened.text.encode("utf-8", "replace"))
        names += seen
        return [text for text in found if text.strip()] if found else None

    def object_of(self, text: bytes) -> dict[str, Any] | None:
        """The object that a line is: JSON, or an event or a record with a logger in logfmt; None if it is none."""
        if text.startswith(b"{"):
            return parsed(text)
        if is_logfmt(text) and (self.is_event(content := logfmt(text)) or "logger" in content):
            return content
        return None

    def _learn(self, contents: Sequence[dict[str, Any]], table: Container | None = None) -> Container | None:
        """Learn where objects have their message and node if no catalogue says it, or lines say otherwise. Of a table,
        whose message is known, only the node is learned; it is returned with that.
        """
        contents = contents[:_SAMPLE_LINES]
        opened = [self.objects.open(content, table) for content in contents]
        messages = ["" if each is None else each.text for each in opened]
        parts: dict[str, tuple[str, ...]] = {}
        # First the message, if no catalogue says which key it is. Then the node, and a container that knows both.
        leaves = leaves_of(contents)
        if not any(map(self._holds_text, messages)):
            parts = learned_message(leaves, self._holds_text) if table is None else {}
            if not parts:
                return table
            messages = [str(each or "") for each in leaves[parts["message"][0]]]
        stated = ["" if each is None or parts else each.origin[0] for each in opened]
        taken = self.containers.keys_beside("node")
        node = learned_node({key: own for key, own in leaves.items() if key not in taken}, messages, stated)
        keys = [key for part in ("message", "logger", "level") for key in parts.get(part, ())]
        if node:
            parts["node"], keys = (node,), [*keys, node]
        base = table or (self.objects.base_of(contents[0]) if parts else None)
        if base is None or not parts or (base.inside and table is None):
            return table
        which = ", ".join(f"{part} in `{parts[part][0]}`" for part in ("message", "node") if parts.get(part))
        found = replace(base, name=f"{base.name} ({which})", keys=(*base.keys, *keys), parts={**base.parts, **parts})
        if table is None:
            self._learned = (found, *self._learned)
            self.objects = ObjectReader(self.containers, self._learned)
        return found

    def _holds_text(self, text: str) -> bool:
        """Whether a text begins a record, or is an object that holds one."""
        data = text.encode("utf-8", "replace")
        if START.match(b"\n" + data[:LONGEST_HEADING]) is not None or self.describes(data):
            return True
        inner = parsed(data) if data.startswith(b"{") else None
        return inner is not None and self._may_hold(inner)

    def _may_hold(self, content: dict[str, Any]) -> bool:
        """Whether an object may hold a log line, wherever in it."""
        return self._holds_record(content) or bool(learned_message(leaves_of([content]), self._holds_text))

    def _prefix(self, texts: Sequence[bytes], outer: Sequence[Container | None]) -> Container | None:
        """What stands before the texts, inside what was taken off already."""
        if (known := self._outermost(texts)) is not None:
            return known
        named = any(
            each is not None and each.pattern is not None and "node" in each.pattern.groupindex for each in outer
        )
        return learned_prefix(texts, named=named)

    def _outermost(self, texts: Sequence[bytes]) -> Container | None:
        """The outermost prefix of the texts: one behind which a record begins, or another prefix."""
        texts = [text for text in texts if not self.containers.is_noise(text)]
        # Some tools print the further lines of a message as they are, without a prefix.
        texts = [text for text in texts if not text.startswith((b" ", b"\t"))] or texts
        plain = any(map(self.describes, texts))
        for prefix in self._prefixes:
            # Lines that patterns describe as they stand are taken apart only for the sake of who wrote them.
            if plain and (prefix.pattern is None or "node" not in prefix.pattern.groupindex):
                continue
            rests = _remainders(prefix, texts)
            if rests and _names_a_time(prefix, texts):
                continue
            # One record behind it is enough: others may be cut, or lines of the collector itself.
            if any(self.begins(rest, stamped=prefix.timed) for rest in rests):
                return prefix
            # Behind this prefix stands another one, behind which records begin.
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
        # A text of JSON holds records with escaped line feeds; what else begins with a quote may be a table.
        is_text = text.startswith(b'"') and b"\\n" in first and START.match(b"\n" + first[1:]) is not None
        is_other = text.startswith((b"{", b"[", b"<")) or first.rstrip() == b"---"
        if not (is_text or is_other) or START.match(b"\n" + first) is not None:
            return None
        content = parsed(first)
        if content is not None and (self.is_event(content) or self.objects.open(content) is not None):
            return None
        is_json = text.startswith((b"{", b"[", b'"'))
        if is_json and b"\n" not in text.rstrip():  # one line, of which the end may not be known yet
            text = completed(text)
        for container in () if is_text else self._documents:
            if not _is_of(container, text):
                continue
            items = [item.content for item in islice(items_of(container, text)[0], _SAMPLE_ITEMS)]
            own = self._learn(self._records(items), container) or container if container.parts else container
            names = [own.name]
            if (layers := self._framed(items, names, own if own.parts else None)) is not None:
                return Wrapping(tuple(names), own, layers, events=self._any_event(items))
        if is_json and (found := found_items(text, self._may_hold)) is not None:
            names = [found.name]
            items = [item.content for item in islice(items_of(found, text)[0], _SAMPLE_ITEMS)]
            if (layers := self._framed(items, names, found if found.parts else None)) is not None:
                return Wrapping(tuple(names), found, layers)
        return None

    def _holds_record(self, content: dict[str, Any]) -> bool:
        """Whether an object holds a log line that begins a record."""
        opened = self.objects.open(content)
        text = b"" if opened is None else opened.text.encode("utf-8", "replace")
        return opened is not None and self.begins(text, stamped=opened.time is not None)

    def _framed(
        self, items: Sequence[object], names: list[str], table: Container | None = None
    ) -> tuple[Container | None, ...] | None:
        """The layers inside the objects of a document, or the rows of a table; None if they hold no log lines."""
        texts: list[bytes] = []
        events = stamped = False
        if table is None:
            self._learn(self._records(items))
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

    def _records(self, items: Sequence[object]) -> list[dict[str, Any]]:
        """The objects that are no events."""
        contents = (parsed(item) if isinstance(item, bytes) else item for item in items)
        return [each for each in contents if isinstance(each, dict) and not self.is_event(each)]

    def _any_event(self, items: Sequence[object]) -> bool:
        contents = (parsed(item) if isinstance(item, bytes) else item for item in items)
        return any(isinstance(content, dict) and self.is_event(content) for content in contents)

    def _table(self, head: bytes) -> Wrapping | None:
        """CSV with a head line, or entries of fields."""
        first, _, rest = head.partition(b"\n")
        # `sep=;`, with which Excel is told the delimiter.
        if first.startswith(b"sep="):
            first, _, rest = rest.partition(b"\n")
        if not rest:
            return None
        lines = [line + b"\n" for line in (first, *rest.split(b"\n")[:_SAMPLE_LINES])]
        found = head_of(first) if START.match(b"\n" + first) is None and not first.startswith((b"{", b"[")) else None
        for known in self._tables:
            table = known
            if table.fields:
                if not rest or re.search(rb"(?m)^ *" + table.keys[0].encode() + b"(?:=|$)", head) is None:
                    continue
                rows = [row.cells for row in islice(entries_of(iter(lines), table), _SAMPLE_ITEMS)]
                delimiter, columns = NO_HEAD
            elif found is not None and set(table.keys) <= set(found[1]):
                delimiter, columns = found
                rows = [row.cells for row in islice(rows_of(iter(lines), *found), _SAMPLE_ITEMS)]
            else:
                continue
            table = self._learn(self._records(rows), table) or table
            names = [table.name]
            if (layers := self._framed(rows, names, table)) is not None:
                events = self._any_event(rows)
                return Wrapping(tuple(names), table, layers, events=events, delimiter=delimiter, columns=columns)
        return None if found is None else self._unnamed_table(lines, *found)

    def _unnamed_table(self, lines: Sequence[bytes], delimiter: str, columns: tuple[str, ...]) -> Wrapping | None:
        """A table whose head does not say which column has the log lines: that in which most records begin."""
        # The first line is a record with commas, and no head.
        if any(self.begins(name.encode(), stamped=False) for name in columns):
            return None
        rows = [row.cells for row in islice(rows_of(iter(lines), delimiter, columns), _SAMPLE_ITEMS)]
        if sum(len(row) == len(columns) for row in rows) < _MIN_SHARE * len(rows):
            return None
        count, column = max(
            (
                sum(self.begins(row.get(name, "").encode("utf-8", "surrogateescape"), stamped=False) for row in rows),
                name,
            )
            for name in columns
        )
        if not count:
            return None
        table = Container(
            f"a table with log lines in `{column}`", ContainerForm.TABLE, "", {}, parts={"message": (column,)}
        )
        table = self._learn(self._records(rows), table) or table
        names = [table.name]
        layers = self._framed(rows, names, table)
        return None if layers is None else Wrapping(tuple(names), table, layers, delimiter=delimiter, columns=columns)


def _is_of(container: Container, text: bytes) -> bool:
    """Whether a document may be of that kind: XML, documents of YAML, or JSON."""
    opens, mark = container.items[:1] == "<", container.items == "---"
    return text.startswith(b"<") is opens and text.startswith(b"---") is mark


def _is_spaced(head: bytes) -> bool:
    """Whether records begin only if the hard spaces of a page are spaces."""
    return (
        b"\xc2\xa0" in head
        and not any(map(START.search, (head, b"\n" + head)))
        and (START.search(b"\n" + without_markup(head)) is not None)
    )


_GOES_ON = re.compile(rb"\t| \(|(?:Caused by: )?[A-Za-z_][\w.$]*(?:Exception|Error)\b")
"""How a line goes on with a record: a frame of a stack, the logger behind a message of several lines, an exception."""


def _is_bare(head: bytes) -> bool:
    """Whether each of the first lines begins a record of Kafka's own layout or goes on with one, so that nothing stands
    around them. Most files are such, and of a small file the search for a container takes longer than reading it."""
    if b"\x1b" in head or is_markup(head):
        return False
    lines = head[: head.rfind(b"\n") + 1].split(b"\n", _SAMPLE_LINES)[:_SAMPLE_LINES]
    return STOCK.match(head) is not None and all(
        not line or STOCK.match(line) is not None or _GOES_ON.match(line) is not None for line in lines
    )


def heading_of(headings: Sequence[Container], line: bytes) -> dict[str, bytes] | None:
    """What a heading says, in the names of groups; None for another line."""
    if len(line) > LONGEST_HEADING or STOCK.match(line) is not None:
        return None
    for each in headings:
        if each.pattern is not None and (found := each.pattern.match(line)) is not None:
            return found.groupdict()
    return None


_MOMENT = re.compile(rb"\d{10}(?:\.\d{1,9})?|\d{13,19}")


def _names_a_time(prefix: Container, texts: Sequence[bytes]) -> bool:
    """Whether what a prefix takes for a node is a number of seconds or milliseconds since 1970."""
    if prefix.pattern is None or "node" not in prefix.pattern.groupindex:
        return False
    found = next(filter(None, map(prefix.pattern.match, texts)), None)
    return found is not None and _MOMENT.fullmatch(found["node"] or b"") is not None


def _remainders(prefix: Container, texts: Sequence[bytes]) -> list[bytes]:
    """What stands behind the prefix in the texts that have it; empty if too few have it."""
    rests: list[bytes] = []
    if prefix.pattern is None:
        return rests
    match = prefix.pattern.match
    for number, text in enumerate(texts):
        found = match(text)
        if found is not None:
            rests.append(prefix.inside_of(text) if prefix.moves_level else text[found.end() :])
        # Gives up at the first text at which too few of the others can still have the prefix.
        elif number + 1 - len(rests) > len(texts) - _MIN_SHARE * len(texts):
            return []
    return rests
