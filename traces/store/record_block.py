"""Consecutive records in the stock layout as arrays with an entry each: most records are never looked at one by one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.store.log4j_scanner import LEVEL, find_candidates, find_plain

Numbers = npt.NDArray[np.int64]

_FEWEST_BYTES = 16
"""There is room for one candidate per this many bytes."""

_MOST_ODD = 4
"""If more than one candidate in this many is of another layout, the block is left to the regular expressions."""


class RawRecord(NamedTuple):
    """A record as bytes: where it begins (byte from 0, line from 1), the parts of its header, and all that follows the
    header.
    """

    offset: int
    line: int
    stamp: bytes
    level: bytes
    text: bytes


class Candidates(NamedTuple):
    """The line feeds before possible records, where the messages begin, when they were written, and the lines before
    each. The beginning is 0 where only a regular expression can tell.

    Lines are counted from the record with which the text begins.
    """

    starts: Numbers
    bodies: Numbers
    times: Numbers
    lines: Numbers


@dataclass(frozen=True, slots=True)
class RecordBlock:
    """Consecutive records in the stock layout, in a text that begins at the byte ``base`` of its file.

    ``starts`` are the line feeds before the records, and the one that ends the last. ``bodies`` is where the messages
    begin, and ``times`` when they were written. ``lines`` are their line numbers and that of what follows the last.
    ``plain`` is whether they are plain ASCII.
    """

    text: bytes
    base: int
    starts: Numbers
    bodies: Numbers
    times: Numbers
    lines: Numbers
    plain: npt.NDArray[np.uint8]

    def part(self, begin: int, end: int) -> RecordBlock:
        """The records from ``begin`` to ``end``."""
        these = slice(begin, end)
        return RecordBlock(
            self.text,
            self.base,
            self.starts[begin : end + 1],
            self.bodies[these],
            self.times[these],
            self.lines[begin : end + 1],
            self.plain[these],
        )

    def raw(self, at: int) -> RawRecord:
        """One of the records."""
        text, start, body = self.text, int(self.starts[at]), int(self.bodies[at])
        stamp, level = text[start + 2 : start + LEVEL - 2], text[start + LEVEL : body].rstrip(b" ")
        end = int(self.starts[at + 1]) + 1
        return RawRecord(self.base + start + 1, int(self.lines[at]), stamp, level, text[body:end])


def candidates(text: bytes, first: int, *, pending: bool) -> Candidates | None:
    """Where records may begin from the byte ``first`` on, and at the first byte if a stock record is ``pending`` there.

    None if most candidates are of another layout.
    """
    room = np.empty((4, len(text) // _FEWEST_BYTES + 2), np.int64)
    count = find_candidates(np.frombuffer(text, np.uint8), pending, first, *room)
    found = Candidates(*room[:, : max(0, count)].copy())
    # Compiled code counted line feeds from `first` on. Those before are added, without the one at byte 0, which is
    # the line feed before the first record. A pending record stands at that byte and keeps 0.
    found.lines[pending:] += text.count(b"\n", 1, first) if first else -text.startswith(b"\n")
    odd = np.count_nonzero(found.bodies == 0)
    return None if count < 0 or odd * _MOST_ODD > count else found


def plain_records(text: bytes, starts: Numbers, lines: Numbers) -> npt.NDArray[np.uint8]:
    """Which records are plain ASCII; in a record of several lines, a carriage return makes it not plain."""
    plain = np.ones(len(starts) - 1, np.uint8)
    if not text.isascii() or b"\r" in text:
        find_plain(np.frombuffer(text, np.uint8), starts, lines, plain)
    return plain
