"""Records in the stock layout that follow one another, as arrays with an entry for each: most records are never looked at one by one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from assay.traces.store.log4j_scanner import LEVEL, find_candidates, find_plain

Numbers = npt.NDArray[np.int64]

_FEWEST_BYTES = 16
"""For so many bytes there is room for one candidate."""

_MOST_ODD = 4
"""If more than one in so many candidates is of another layout, machine code is of no use."""


class RawRecord(NamedTuple):
    """A record as bytes: where it begins (byte from 0, line from 1), its header's parts, and all that follows the header."""

    offset: int
    line: int
    stamp: bytes
    level: bytes
    text: bytes


class Candidates(NamedTuple):
    """The line feeds before what may be records, where the messages begin (0 where only a pattern can tell), when they were written, and how many lines are before.

    Lines are counted from the record on with which the text begins.
    """

    starts: Numbers
    bodies: Numbers
    times: Numbers
    lines: Numbers


@dataclass(frozen=True, slots=True)
class Stretch:
    """Records in the stock layout that follow one another in a text, which begins at the byte ``base``.

    ``starts`` are the line feeds before them, and the last one's own; ``bodies`` where the messages begin, ``times`` when they were written, ``lines``
    where they stand, and what follows the last, and ``plain`` whether they are of plain letters.
    """

    text: bytes
    base: int
    starts: Numbers
    bodies: Numbers
    times: Numbers
    lines: Numbers
    plain: npt.NDArray[np.uint8]

    def part(self, begin: int, end: int) -> Stretch:
        """Some of the records that follow one another."""
        these = slice(begin, end)
        return Stretch(
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
    """Where records may begin from a byte on, and at the first one if a stock record is ``pending`` there; None if most are of another layout."""
    room = np.empty((4, len(text) // _FEWEST_BYTES + 2), np.int64)
    count = find_candidates(np.frombuffer(text, np.uint8), pending, first, *room)
    found = Candidates(*room[:, : max(0, count)].copy())
    found.lines[pending:] += text.count(b"\n", 1, first) if first else -text.startswith(b"\n")
    odd = np.count_nonzero(found.bodies == 0)
    return None if count < 0 or odd * _MOST_ODD > count else found


def plain_records(text: bytes, starts: Numbers, lines: Numbers) -> npt.NDArray[np.uint8]:
    """Which records are of plain letters; in several lines, a carriage return is none."""
    plain = np.ones(len(starts) - 1, np.uint8)
    if not text.isascii() or b"\r" in text:
        find_plain(np.frombuffer(text, np.uint8), starts, lines, plain)
    return plain
