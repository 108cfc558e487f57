"""Lines that a terminal, a mail program or a page wrapped at a column.

A wrapped line is as wide as the column (cut anywhere), or the next word would not have fitted (cut between words). Log
lines that are whole have all widths, and where one happens to be the widest, a record follows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.input.lines.line_layout import START, split_logger

_MIN_SHARE = 0.9
_FEWEST = 2
_NARROWEST, _WIDEST = 40, 2000
_TRACE = re.compile(r"\t| {0,8}(?:at\b|Caused by:|[\w.$]{1,200}(?:Exception|Error)\b)")
"""Lines of a stack trace, which continue a record without having been wrapped."""


@dataclass(frozen=True, slots=True)
class WrapColumn:
    """Where lines are wrapped: at a column, anywhere or ``between_words``."""

    column: int
    between_words: bool

    def joins(self, line: str, after: str) -> bool:
        """Whether a line goes on in the next one."""
        if not after.strip() or _begins_record(after):
            return False
        if not self.between_words:
            return len(line) == self.column
        word = after.split(maxsplit=1)[0]
        return len(line.rstrip()) + 1 + len(word) > self.column

    def joined(self, line: str, after: str) -> str:
        """Both lines as one."""
        return f"{line.rstrip()} {after.lstrip()}" if self.between_words else line + after


def find_wrap(lines: Sequence[bytes]) -> WrapColumn | None:
    """The column at which these lines are wrapped; None if they are whole."""
    texts = [line.decode("utf-8", "replace").rstrip("\r\n") for line in lines]
    continued = [
        (line, after)
        for line, after in pairwise(texts)
        if after.strip() and not _TRACE.match(after) and not _begins_record(after)
    ]
    if len(continued) < _FEWEST:
        return None
    # A word that is longer than the column stands alone in its line, where lines are cut between words.
    ways = ((False, texts), (True, [text for text in texts if len(text.split(maxsplit=1)) > 1]))
    for between_words, measured in ways:
        way = WrapColumn(max(map(len, measured), default=0), between_words)
        if _NARROWEST <= way.column <= _WIDEST and _is_wrapped(texts, continued, way):
            return way
    return None


def _is_wrapped(texts: Sequence[str], continued: Sequence[tuple[str, str]], way: WrapColumn) -> bool:
    """Whether nearly all lines that begin no record continue one that was wrapped, and records are whole thereby.

    ``continued`` are those lines, each behind the line before it.
    """
    fitting = sum(way.joins(line, after) for line, after in continued)
    if fitting < _FEWEST or fitting < _MIN_SHARE * len(continued):
        return False
    records = [record for record in _rejoined(texts, way) if _begins_record(record)]
    # The proof of a wrap: joined, more records end in their logger than before.
    before = sum(_is_whole(text) for text in texts if _begins_record(text))
    return sum(map(_is_whole, records)) > before


def _rejoined(texts: Sequence[str], way: WrapColumn) -> Iterator[str]:
    """The lines as they were before they were wrapped."""
    whole, last = "", ""
    for text in texts:
        if last and way.joins(last, text):
            whole = way.joined(whole, text)
        else:
            yield whole
            whole = text
        last = text
    yield whole


def _is_whole(text: str) -> bool:
    """Whether a record has its logger at the end."""
    return bool(split_logger(text.encode())[1])


def _begins_record(text: str) -> bool:
    # A byte that is no UTF-8 is a surrogate here, which would be no text without this.
    return START.match(b"\n" + text.encode("utf-8", "surrogateescape")) is not None
