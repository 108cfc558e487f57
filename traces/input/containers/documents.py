"""JSON documents that hold log lines: the elements of their arrays, each with the place where it begins.

The standard library's decoder says where a value ends, which no faster one does; only what is skipped is decoded by it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterator, Mapping
from typing import Any, NamedTuple

from assay.traces.input.containers.event_objects import as_event
from assay.traces.input.containers.fields import json_value
from assay.traces.input.containers.xml_events import XmlEvents
from assay.traces.input.events.exact_values import exact_json
from assay.traces.input.events.yaml_documents import yaml_documents
from assay.traces.patterns.container import Container

_BLANKS = re.compile(r"[ \t\r\n,]*")
_DECODER = json.JSONDecoder()


class DocumentItem(NamedTuple):
    """An element that holds a log line: where it begins, and the object, or its text if it may be taken as it is."""

    offset: int
    content: bytes | dict[str, Any]


Walked = Generator[DocumentItem, None, int]
"""The elements in a value; returned is where it ends."""


class _Walk:
    """A walk through a document, decoded as Latin-1 so that characters are bytes.

    It ends without a complaint where the document is cut; ``cut`` is then true.
    """

    def __init__(self, container: Container, data: bytes) -> None:
        self._container = container
        self._data = data
        self._text = data.decode("latin-1")
        self._columns, self._pairs = container.columns, container.pairs
        self.cut = False

    def items(self) -> Iterator[DocumentItem]:
        """The elements of all top-level values."""
        steps = _steps(self._container.items)
        at = self._blanks(0)
        while at < len(self._text) and not self.cut:
            # Several values in a row are read too: exports of several pages are put one behind another.
            end = yield from self._value(at, steps, {})
            # What stands here is no value, and nothing behind it can be trusted.
            if end <= at:
                break
            at = self._blanks(end)

    def _value(self, at: int, steps: tuple[str, ...], beside: Mapping[str, Any]) -> Walked:
        """The elements in a value, reached by further steps; returns where it ends."""
        # No further array on the way: this value is an element.
        if not steps or not any(step == "[]" for step in steps):
            end = self._skip(at)
            if not self.cut and self._container.by_column:
                yield from self._rows(at, end, steps)
            elif not self.cut and (found := self._element(at, end, steps, beside)) is not None:
                yield found
            return end
        step, rest = steps[0], steps[1:]
        opens = "[" if step == "[]" else "{"
        if self._text[at : at + 1] != opens:
            return self._skip(at)
        if step == "[]":
            return (yield from self._elements(at, rest, beside))
        return (yield from self._member(at, step, rest, beside))

    def _elements(self, at: int, rest: tuple[str, ...], beside: Mapping[str, Any]) -> Walked:
        at = self._blanks(at + 1)
        while not self.cut and at < len(self._text) and self._text[at] != "]":
            at = self._blanks((yield from self._value(at, rest, beside)))
        # An array that is open at the end of the text was cut, even if its last element is whole.
        self.cut = self.cut or at >= len(self._text)
        return at + 1

    def _member(self, at: int, name: str, rest: tuple[str, ...], beside: Mapping[str, Any]) -> Walked:
        """The elements in one member of an object. What stands beside it may follow it, and is looked for first."""
        if self._container.beside and rest[:1] == ("[]",):
            own = {key: value for key, value in self._others(at, name) if key in self._container.beside.values()}
            beside = {**beside, **{part: own[key] for part, key in self._container.beside.items() if key in own}}
        at = self._blanks(at + 1)
        while not self.cut and at < len(self._text) and self._text[at] == '"':
            key, at = self._key(at)
            at = self._blanks((yield from self._value(at, rest, beside)) if key == name else self._skip(at))
        self.cut = self.cut or at >= len(self._text)
        return at + 1

    def _others(self, at: int, name: str) -> Iterator[tuple[str, Any]]:
        """The members of an object but one, as far as the document goes."""
        at = self._blanks(at + 1)
        while at < len(self._text) and self._text[at] == '"':
            key, at = self._key(at)
            begin, at = at, self._skip(at)
            # The document is cut behind the wanted member. The walk itself will find that.
            if self.cut:
                self.cut = False
                return
            if key != name:
                yield key, json_value(self._data[begin:at])
            at = self._blanks(at)

    def _key(self, at: int) -> tuple[str, int]:
        try:
            key, at = _DECODER.raw_decode(self._text, at)
        # A document may be nested deeper than Python's stack, on purpose or by damage.
        except (ValueError, RecursionError):
            self.cut = True
            return "", len(self._text)
        at = self._blanks(at)
        return str(key), self._blanks(at + (self._text[at : at + 1] == ":"))

    def _skip(self, at: int) -> int:
        """Where a value ends; the end of the document if that is cut, or is no JSON."""
        try:
            return _DECODER.raw_decode(self._text, at)[1]
        except (ValueError, RecursionError):
            self.cut = True
            return len(self._text)

    def _blanks(self, at: int) -> int:
        found = _BLANKS.match(self._text, at)
        return at if found is None else found.end()

    def _element(self, at: int, end: int, steps: tuple[str, ...], beside: Mapping[str, Any]) -> DocumentItem | None:
        """An element as an object with names."""
        text = self._data[at:end]
        if self._container.event:
            return self._event(at, text, beside)
        is_text = text.startswith(b'"')
        if not (is_text or steps or beside or self._columns or self._pairs or self._container.parts):
            return DocumentItem(at, text)
        content = json_value(text)
        for step in steps:
            content = content.get(step) if isinstance(content, dict) else None
        if isinstance(content, str):
            content = {"message": content}
        if self._columns:
            # A row may be shorter or longer than its head: what has a name is read.
            content = dict(zip(self._columns, content, strict=False)) if isinstance(content, list) else None
        if self._pairs:
            content = _named(content, *self._pairs) if isinstance(content, list) else None
        return DocumentItem(at, {**beside, **content}) if isinstance(content, dict) else None

    def _rows(self, at: int, end: int, steps: tuple[str, ...]) -> Iterator[DocumentItem]:
        """The rows of columns, each of which is a list of values."""
        content = json_value(self._data[at:end])
        for step in steps:
            content = content.get(step) if isinstance(content, dict) else None
        columns = [each for each in content if isinstance(each, list)] if isinstance(content, list) else []
        for row in zip(*columns, strict=False):
            yield DocumentItem(at, dict(zip(self._columns, row, strict=False)))

    def _event(self, at: int, text: bytes, beside: Mapping[str, Any]) -> DocumentItem | None:
        """An element that is an event, as an object with the keys of one."""
        try:
            content = exact_json(text)
        except (ValueError, RecursionError):
            return None
        if not isinstance(content, dict) or not all(key in content for key in self._container.needs):
            return None
        return DocumentItem(at, as_event(self._container, {**beside, **content}))


def _named(entries: list[Any], name: str, value: str) -> dict[str, Any]:
    """Objects with a name and a value each, as one object."""
    return {str(each.get(name)): each.get(value) for each in entries if isinstance(each, dict)}


class _Whole:
    """The walk through a document of which a part is as good as the whole."""

    cut = False


WHOLE = _Whole()


def items_of(container: Container, data: bytes) -> tuple[Iterator[DocumentItem], _Walk | XmlEvents | _Whole]:
    """The elements of a document, and the walk, which knows afterwards whether the document was cut."""
    if container.items == "---":
        return (DocumentItem(at, dict(content)) for at, content in yaml_documents(data)), WHOLE
    if container.items.startswith("<"):
        events = XmlEvents(container.items.strip("<>"), data)
        return (DocumentItem(at, content) for at, content in events.items()), events
    walk = _Walk(container, data)
    return walk.items(), walk


def _steps(path: str) -> tuple[str, ...]:
    """A path such as ``hits.hits[]`` as steps: ``hits``, ``hits``, ``[]``."""
    return tuple(
        step for name in path.split(".") for step in (name.removesuffix("[]"), "[]" * name.endswith("[]")) if step
    )
