"""Where the log lines of a JSON document are that no catalogue has. It is the first array, however deep, of objects
that hold a log line. Rows whose columns an array before it names count as such objects.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from assay.traces.patterns.container import Container, ContainerForm

_BLANKS = re.compile(r"[ \t\r\n,:]*")
_DECODER = json.JSONDecoder()
_MARKS = re.compile(r'\\.|["\[\]{}]')
# A backslash, or `\u00`, with which a sample ends.
_HALF_ESCAPE = re.compile(r"\\(?:u[0-9A-Fa-f]{0,3})?\Z")
_MOST_COLUMNS = 200
_DEEPEST = 12


def found_items(head: bytes, holds: Callable[[dict[str, Any]], bool]) -> Container | None:
    """The document as a container; None if nothing in its beginning holds a log line, as ``holds`` says of an object."""
    # As Latin-1 each character is a byte.
    search = _Search(head.decode("latin-1"), holds)
    if not search.value(0, ()):
        return None
    steps = search.steps
    items = ".".join(steps).replace(".[]", "[]")
    name = f"JSON, lines in `{items}`" if items else "a JSON text"
    found = Container(name, ContainerForm.DOCUMENT, "", {}, items=items, columns=search.columns)
    return replace(found, by_column=search.by_column, parts={"message": ("message",)} if search.are_texts else {})


def completed(head: bytes) -> bytes:
    """The beginning of a JSON text, closed where it ends: what is cut becomes shorter."""
    closing: list[str] = []
    text = head.decode("latin-1")
    is_string = False
    for found in _MARKS.finditer(text):
        mark = found[0]
        if mark == '"':
            is_string = not is_string
        elif is_string or mark.startswith("\\"):
            continue
        elif mark in "[{":
            closing.append("]" if mark == "[" else "}")
        elif closing:
            closing.pop()
    if is_string:
        text = _HALF_ESCAPE.sub("", text) + '"'
    return (text.rstrip(", \r\n") + "".join(reversed(closing))).encode("latin-1")


class _Search:
    """A walk to the first such array; ``at`` is where the value ends that was left last."""

    def __init__(self, text: str, holds: Callable[[dict[str, Any]], bool]) -> None:
        self._text, self._holds = text, holds
        self._names: list[tuple[str, ...]] = []
        """Lists of names that may be the columns of rows."""
        self.steps: tuple[str, ...] = ()
        self.columns: tuple[str, ...] = ()
        self.by_column = self.are_texts = False
        self.at = 0

    def value(self, at: int, steps: tuple[str, ...]) -> bool:
        """Whether the array is in the value that begins here; if not, the value was left."""
        at = self._blanks(at)
        opens = self._text[at : at + 1]
        if opens == "{" and len(steps) < _DEEPEST:
            return self._members(at + 1, steps)
        if opens == "[" and len(steps) < _DEEPEST:
            return self._elements(at, steps)
        text = self._skip(at)
        if isinstance(text, str) and "\n" in text and self._holds({"message": text}):
            self.steps, self.are_texts = steps, True
            return True
        return False

    def _members(self, at: int, steps: tuple[str, ...]) -> bool:
        at = self._blanks(at)
        while self._text[at : at + 1] == '"':
            name = self._skip(at)
            if not isinstance(name, str) or "." in name or "[" in name:
                return False
            if self.value(self.at, (*steps, name)):
                return True
            at = self._blanks(self.at)
        self.at = at + 1
        return False

    def _elements(self, begin: int, steps: tuple[str, ...]) -> bool:
        """Look at the first element; whole arrays of other things are left, and their names kept."""
        at = self._blanks(begin + 1)
        first = self._skip(at)
        if isinstance(first, dict) and self._holds(first):
            self.steps = (*steps, "[]")
            return True
        if isinstance(first, str) and self._holds({"message": first}):
            self.steps, self.are_texts = (*steps, "[]"), True
            return True
        if isinstance(first, list):
            for names in self._names:
                if len(names) == len(first) and self._holds(dict(zip(names, first, strict=True))):
                    self.steps, self.columns = (*steps, "[]"), names
                    return True
        if self._text[at : at + 1] == "{" and self.value(at, (*steps, "[]")):
            return True
        whole = self._skip(begin)
        if isinstance(first, list) and isinstance(whole, list) and self._are_columns(whole):
            self.steps, self.by_column = steps, True
            return True
        if isinstance(whole, list) and 1 < len(whole) <= _MOST_COLUMNS:
            # Names may stand in objects: `{"name": "message", "type": "text"}`, as Elasticsearch's SQL lists columns.
            columns = [each.get("name") if isinstance(each, dict) else each for each in whole]
            if all(isinstance(each, str) for each in columns):
                self._names.append(tuple(map(str, columns)))
        return False

    def _are_columns(self, lists: list[object]) -> bool:
        """Whether lists are the columns of rows, by names that stood before."""
        row = [each[0] if isinstance(each, list) and each else None for each in lists]
        for names in self._names:
            if len(lists) <= len(names) and self._holds(dict(zip(names, row, strict=False))):
                self.columns = names
                return True
        return False

    def _skip(self, at: int) -> object:
        """The value that begins here, and leave it; None, at the end of the text, if it is cut."""
        try:
            found, self.at = _DECODER.raw_decode(self._text, at)
        except (ValueError, RecursionError):
            self.at = len(self._text)
            return None
        result: object = found
        return result

    def _blanks(self, at: int) -> int:
        found = _BLANKS.match(self._text, at)
        return at if found is None else found.end()
