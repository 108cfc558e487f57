"""Tables of log lines: CSV with a head line, and entries of fields, as ``journalctl -o export`` writes them."""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

from assay.traces.input.containers.fields import parsed
from assay.traces.input.events.exact_values import MISFIT
from assay.traces.patterns.container import Container

_DELIMITERS = ",;\t|"
_LONGEST_FIELD = 1 << 24
LABELS = "labels"
_FIELD = re.compile(rb"[A-Za-z_][\w.]{0,200}")


class TableRow(NamedTuple):
    """A row by the names of its columns, with the line and the byte where it begins."""

    line: int
    offset: int
    cells: dict[str, Any]


class _CountedLines:
    """The lines of a text for the reader of CSV; ``offset`` is where the next begins."""

    def __init__(self, lines: Iterator[bytes]) -> None:
        self._lines = lines
        self.offset = 0

    def __iter__(self) -> _CountedLines:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.offset += len(line)
        return line.decode("utf-8", "surrogateescape").replace("\0", "")


def head_of(line: bytes) -> tuple[str, tuple[str, ...]] | None:
    """The delimiter and the columns of a head line; None if it is none: a name is short, and there are two at least."""
    text = line.decode("utf-8", "replace").lstrip("\ufeff").strip()
    delimiter = max(_DELIMITERS, key=text.count)
    if len(text) > 1 << 14 or delimiter not in text:
        return None
    try:
        columns = tuple(name.strip() for name in next(csv.reader([text], delimiter=delimiter), []))
    except csv.Error:  # a carriage return within the line, say, in a file that is no text
        return None
    if len(columns) < 2 or not all(0 < len(name) < 200 for name in columns) or len(set(columns)) < len(columns):
        return None
    return delimiter, columns


def rows_of(lines: Iterator[bytes], delimiter: str, columns: tuple[str, ...]) -> Iterator[TableRow]:
    """The rows of a table whose head was not read yet. A row that is cut short has the cells that it has."""
    # `csv` refuses cells above 128 KB by default; a stack trace may be longer.
    csv.field_size_limit(min(_LONGEST_FIELD, sys.maxsize))
    counted = _CountedLines(lines)
    reader = csv.reader(counted, delimiter=delimiter)
    line, offset, is_head = 1, 0, True
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error:
            line, offset = reader.line_num + 1, counted.offset
            continue
        # The head may come again, where several exports were put into one file.
        if cells and not is_head and tuple(cells) != columns:
            row: dict[str, Any] = dict(zip(columns, cells, strict=False))
            if row.get(LABELS, "").startswith("{"):  # Grafana writes them as an object
                row[LABELS] = parsed(row[LABELS].encode("utf-8", "replace")) or row[LABELS]
            if len(cells) > len(columns):
                row[MISFIT] = f"the row has {len(cells)} cells, and the head of the table names {len(columns)}"
            yield TableRow(line, offset, row)
        is_head = False
        line, offset = reader.line_num + 1, counted.offset


def entries_of(data: Iterator[bytes], container: Container) -> Iterator[TableRow]:
    """The entries of fields. A field of several lines has its name alone, then its length in eight bytes, then its
    value. With ``-o verbose`` fields are indented below the head of an entry, and further lines of a value more so.
    """
    cells: dict[str, Any] = {}
    last = ""
    begin, at = (1, 0), (1, 0)
    while (line := next(data, None)) is not None:
        at = (at[0] + 1, at[1] + len(line))
        text = line.rstrip(b"\r\n")
        name, equals, value = text.strip().partition(b"=")
        is_field = _FIELD.fullmatch(name) is not None
        if text.startswith(b" ") and last and not is_field:
            cells[last] += f"\n{text.decode('utf-8', 'surrogateescape').strip()}"
        elif not text or not (is_field or text.startswith(b" ")):
            if container.keys[0] in cells:
                yield TableRow(*begin, cells)
            cells, begin, last = {}, at, ""
        elif equals:
            last = name.decode() if text.startswith(b" ") else ""
            cells[name.decode()] = value.decode("utf-8", "surrogateescape")
        else:
            value, read, feeds = _binary(data)
            cells[name.decode("utf-8", "replace")] = value.decode("utf-8", "surrogateescape")
            at = (at[0] + feeds, at[1] + read)
    if container.keys[0] in cells:
        yield TableRow(*begin, cells)


def _binary(data: Iterator[bytes]) -> tuple[bytes, int, int]:
    """A value behind its length, how many bytes were read, and how many lines."""
    read, feeds = b"", 0
    while len(read) < 8 or len(read) < 9 + int.from_bytes(read[:8], "little"):
        line = next(data, None)
        if line is None or len(read) > _LONGEST_FIELD:
            break
        read, feeds = read + line, feeds + 1
    return read[8 : 8 + int.from_bytes(read[:8], "little")], len(read), feeds
