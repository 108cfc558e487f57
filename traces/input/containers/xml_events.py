"""Log events that are XML elements, as the XML layouts of log4j and of `java.util.logging` write them.

Each becomes an object: its attributes, and the texts of its children, by their names without a prefix. A file of events
without a root is read too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.parsers import expat

# A file of events has many elements at its top, and XML allows one. Its declaration may only stand before that.
_ROOT = b"<_>"
_DECLARATION = re.compile(rb"\s*<\?xml[^>]{0,200}\?>")
_BLOCK = 1 << 16


class XmlEvents:
    """The elements of one name; ``cut`` is whether the text ends, or stops to be XML, before its root does."""

    def __init__(self, name: str, data: bytes) -> None:
        self._name, self._data = name, data
        self._found: list[tuple[int, dict[str, str]]] = []
        self._event: dict[str, str] | None = None
        self._begin, self._child, self._text = 0, "", ""
        self._depth = 0
        self.cut = False

    def items(self) -> Iterator[tuple[int, dict[str, str]]]:
        """The events, each with the place where it begins."""
        parser = expat.ParserCreate()
        parser.StartElementHandler = lambda name, given: self._start(name, given, parser.CurrentByteIndex)
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        declaration = _DECLARATION.match(self._data)
        blanks = b" " * (0 if declaration is None else declaration.end())
        try:
            parser.Parse(_ROOT + blanks)
            for at in range(len(blanks), len(self._data), _BLOCK):
                parser.Parse(self._data[at : at + _BLOCK])
                yield from self._found
                self._found.clear()
        # What came before the damage is kept, as in every other form.
        except expat.ExpatError:
            yield from self._found
            self.cut = True
        self.cut = self.cut or self._depth > 1

    def _start(self, name: str, given: dict[str, str], at: int) -> None:
        self._depth += 1
        if self._event is None and name == self._name:
            self._event, self._begin = {_local(key): value for key, value in given.items()}, at - len(_ROOT)
        elif self._event is not None:
            self._child, self._text = _local(name), ""
            self._event |= {f"{self._child}.{_local(key)}": value for key, value in given.items()}

    def _characters(self, text: str) -> None:
        self._text += text

    def _end(self, name: str) -> None:
        self._depth -= 1
        if self._event is None:
            return
        if name == self._name:
            self._found.append((self._begin, self._event))
            self._event = None
        elif self._child == _local(name) and self._text.strip():
            self._event.setdefault(self._child, self._text)
        self._child = ""


def _local(name: str) -> str:
    return name.rpartition(":")[2]
