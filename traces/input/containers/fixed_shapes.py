"""Rows of JSON lines that differ in a few plain texts only: one substitution makes log lines of a whole row.

A collector writes all lines alike: keys, their order and the blanks between them. So the first line of a kind gives a
regular expression for the others, with groups for message, time, level, logger and thread. Whatever else decides how an
object is read has to be as in the first line. That is keys, types, which texts are empty, and the texts that say whose
line it is. Only printable ASCII without backslashes matches; all other lines are parsed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from operator import itemgetter
from typing import Any, NamedTuple

from assay.traces.input.lines.timestamps import STOCK_STAMP

Path = tuple[str, ...]

MOST_SHAPES = 8
MOST_TRIALS = 64
"""From how many lines a shape is sought in one file."""

LEVELS = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")

PARTS = ("date", "part", "level", "message", "logger", "thread")
"""The groups of a record that is put together, in its order."""

_PLAIN = rb"[ !#-\[\]-~]"
# Times of UTC alone: others have to be calculated, so their lines are parsed.
_TIME = rb"(?P<date>\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)[.,](?P<part>\d{3})\d{0,6}(?: ?(?:Z|UTC|[+-]00:?00))?"
_LOGGER = rb"(?P<logger>[A-Za-z_][\w$.-]{0,250})"
_THREAD = rb"(?P<thread>[ !#-\[^-~]+)"
_MESSAGE = rb"(?P<message>" + _PLAIN + rb"+)"
_RECORD = rb"(?P<message>\[" + STOCK_STAMP + rb"\] [A-Z]{4,5} {1,8}(?! )" + _PLAIN + rb"+)"
_NUMBER = rb"-?(?:0|[1-9]\d{0,17})"
_TOKEN = re.compile(
    rb'(?P<space>[ \t]*)(?:(?P<mark>[{}:,])|"(?P<text>' + _PLAIN + rb'*)(?P<feed>\\n)?"|(?P<number>' + _NUMBER + rb")"
    rb"(?=[ \t,}])|(?P<fixed>true|false|null|-?\d{1,18}\.\d{1,18}|\[[^\[\]{}\\]*\])(?=[ \t,}]))"
)


class JsonLeaf(NamedTuple):
    """A text or a number in an object, and where; ``feed`` is whether the text ends in a line feed."""

    path: Path
    content: bytes
    is_text: bool
    feed: bool


class Roles(NamedTuple):
    """Where objects like this one have the parts of a record; ``fixed`` are further texts on which the reading
    depends. Without a logger the message is a whole record.
    """

    message: Path
    time: Path | None = None
    level: Path | None = None
    logger: Path | None = None
    thread: Path | None = None
    fixed: frozenset[Path] = frozenset()


class FixedShape:
    """The shape of a line, which reads rows of lines of this shape."""

    def __init__(self, line: bytes, pattern: bytes, *, threads: bool) -> None:
        # Possessive: the first line of another shape ends the row, and no shorter row is tried.
        self._row = re.compile(b"(?:" + re.sub(rb"\(\?P<\w+>", b"(?:", pattern) + b")++")
        self._line = re.compile(pattern)
        groups = self._line.groupindex
        self._pick = None if len(groups) == 1 else itemgetter(*(groups[name] - 1 for name in PARTS[: 5 + threads]))
        self._template = b"[%b.%b] %b %b (%b)" + (b" [%b]" if threads else b"") + b"\n"
        self.example = self.record(line)

    def end(self, data: bytes, at: int) -> int:
        """Where the row of such lines ends that begins here; ``at`` if there is none."""
        found = self._row.match(data, at)
        return at if found is None else found.end()

    def record(self, row: bytes) -> bytes:
        """The log lines of a row."""
        found: list[Any] = self._line.findall(row)
        if self._pick is None:
            return b"\n".join(found) + b"\n"
        template, pick = self._template, self._pick
        return b"".join([template % pick(each) for each in found])


def fixed_shape(line: bytes, roles: Roles, levels: Mapping[str, str]) -> FixedShape | None:
    """The shape of a line; None if it has none. ``levels`` are other names of levels."""
    pieces = _pieces(line)
    if pieces is None:
        return None
    whole = roles.logger is None
    named = {roles.message: _RECORD if whole else _MESSAGE}
    if not whole:
        # A level that has another name here could not be copied as it stands.
        own = [each.encode() for each in LEVELS if levels.get(each, each) == each]
        named |= {path: text for path, text in (
            (roles.time, _TIME),
            (roles.level, rb"(?P<level>" + b"|".join(own) + b")"),
            (roles.logger, _LOGGER),
            (roles.thread, _THREAD),
        ) if path is not None}  # fmt: skip
    if not named.keys() <= {each.path for each in pieces if isinstance(each, JsonLeaf) and each.is_text}:
        return None
    pattern = b"".join(
        re.escape(each) if isinstance(each, bytes) else _leaf(each, named, roles.fixed) for each in pieces
    )
    shape = FixedShape(line, pattern, threads=not whole and roles.thread is not None)
    return shape if shape.end(line, 0) == len(line) else None


def _leaf(leaf: JsonLeaf, named: Mapping[Path, bytes], fixed: frozenset[Path]) -> bytes:
    """The expression for a text or a number with its quotes."""
    if not leaf.is_text:
        return re.escape(leaf.content) if leaf.path in fixed else _NUMBER
    inner = named.get(leaf.path)
    if inner is None:
        inner = re.escape(leaf.content) if leaf.path in fixed or not leaf.content else _PLAIN + b"+"
    return b'"' + inner + (rb"\\n" if leaf.feed else b"") + b'"'


def _pieces(line: bytes) -> list[bytes | JsonLeaf] | None:
    """A line in pieces: what stays as it is, and texts and numbers. None for a line of another kind."""
    if not line.endswith(b"\n") or not line.startswith(b"{"):
        return None
    pieces: list[bytes | JsonLeaf] = []
    names: list[dict[str, None]] = []
    is_name = False
    at = 0
    for token in _tokens(line):
        at = token.end()
        pieces.append(token["space"])
        mark = token["mark"]
        if token["text"] is not None and is_name:
            name = token["text"].decode()
            # A name that stands there twice: parsers disagree which value counts, so such lines are parsed.
            if token["feed"] or name in names[-1]:
                return None
            names[-1][name] = None
            pieces.append(b'"' + token["text"] + b'"')
        elif token["text"] is not None or token["number"] is not None:
            content = token["number"] if token["text"] is None else token["text"]
            path = tuple(next(reversed(each)) for each in names)
            pieces.append(JsonLeaf(path, content, token["text"] is not None, token["feed"] is not None))
        else:
            pieces.append(mark or token["fixed"])
        if mark == b"{":
            names.append({})
        elif mark == b"}":
            names.pop()
        is_name = mark in {b"{", b","}
        if not names:
            break
    rest = line[at:]
    return [*pieces, rest] if not names and not rest.strip() else None


def _tokens(line: bytes) -> Iterator[re.Match[bytes]]:
    at = 0
    while (found := _TOKEN.match(line, at)) is not None:
        yield found
        at = found.end()
