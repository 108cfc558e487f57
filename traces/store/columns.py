"""What packed records are made of: the columns, the digits of their messages, and the compiled functions that extract
them from a text.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from assay.checker.jit.jit_function import LinearFunction
from assay.traces.store.log4j_scanner import FACTOR, MIX, ZERO
from assay.traces.store.record_block import Numbers
from assay.traces.store.record_layouts import NO_WRITER, RecordLayouts

Bytes = npt.NDArray[np.uint8]


class RecordSource:
    """Where packed records come from: the file, the record layouts of their messages, and their digits.

    Digits can be appended.
    """

    def __init__(self, file: str, layouts: RecordLayouts, digits: Bytes | None = None) -> None:
        self.file, self.layouts = file, layouts
        self._parts: list[Bytes] = [] if digits is None else [digits]
        self._loose = bytearray()
        self._size = 0 if digits is None else len(digits)

    @property
    def digits(self) -> Bytes:
        """The digits of all messages, one after the other."""
        self._end_loose()
        if len(self._parts) != 1:
            # The whole takes the place of its parts: the digits are in memory once, and later reads copy nothing.
            self._parts = [np.concatenate([np.empty(0, np.uint8), *self._parts])]
        return self._parts[0]

    def add(self, digits: Bytes) -> int:
        """Append the digits of more messages; returns the index at which they begin."""
        self._end_loose()
        self._parts.append(digits)
        self._size += len(digits)
        return self._size - len(digits)

    def add_one(self, digits: bytes) -> int:
        """Append the digits of one message; returns the index at which they begin."""
        self._loose += digits
        self._size += len(digits)
        return self._size - len(digits)

    def _end_loose(self) -> None:
        if self._loose:
            # From a copy: a `bytearray` that an array looks into can be neither resized nor cleared.
            self._parts.append(np.frombuffer(bytes(self._loose), np.uint8))
            self._loose.clear()


class Columns(NamedTuple):
    """Records, one entry each.

    * ``sources``: the index of its source.
    * ``layouts``: the number of its record layout; ``~index`` of a record that is kept as an object, which is below
      zero.
    * ``times``: milliseconds since the epoch, or ``NEVER``.
    * ``offsets`` and ``lines``: where it begins, in bytes from 0 and in lines from 1.
    * ``begins``: where its digits begin in its source.
    * ``writers``: the id of the broker that wrote it, or ``NO_WRITER``.
    """

    sources: npt.NDArray[np.int32]
    layouts: npt.NDArray[np.int32]
    times: Numbers
    offsets: Numbers
    lines: npt.NDArray[np.int32]
    begins: Numbers
    writers: npt.NDArray[np.int32]

    def at(self, which: Any) -> Columns:
        """Some of the records, by any index that numpy takes."""
        return Columns(*(column[which] for column in self))


@LinearFunction
def pack(  # noqa: PLR0913, PLR0917
    text: Any,
    kept: Any,
    numbers: Any,
    bodies: Any,
    first: Any,
    places: Any,
    spans: Any,
    begins: Any,
    digits: Any,
    writers: Any,
) -> None:
    """Extract the digits of some records of a text, and the id of the broker that wrote each.

    ``kept`` are the records, ``numbers`` their record layouts, and ``begins`` where the digits of each go in
    ``digits``. ``first`` and ``places`` are the digit positions of the layouts, ``spans`` those of the writer's id.
    """
    for row in range(kept.shape[0]):
        number, body, at = numbers[row], bodies[kept[row]], begins[row]
        for place in range(first[number], first[number + 1]):
            digits[at] = text[body + places[place]]
            at += 1
        # The span holds at most nine digits and no sign (`RecordLayout._find_writer`), so nothing is tested here.
        writer = 0
        for place in range(spans[number, 0], spans[number, 1]):
            writer = writer * 10 + int(text[body + place]) - ZERO
        writers[row] = writer if spans[number, 1] else NO_WRITER


@LinearFunction
def hash_messages(layouts: Any, begins: Any, first: Any, digits: Any, templates: Any, hashes: Any) -> None:
    """A hash of the message of each record, from the hash of its template and its digits."""
    for row in range(layouts.shape[0]):
        # A layout fixes where digits stand and how many there are: its template and its digits determine the message.
        number, at = layouts[row], begins[row]
        found = templates[number]
        for place in range(at, at + first[number + 1] - first[number]):
            found = (found ^ np.uint64(digits[place])) * FACTOR
        hashes[row] = found ^ (found >> MIX)
