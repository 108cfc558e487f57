"""States as rows: the codes of all variables in W unsigned 64-bit words.

A variable that fits into the rest of a word does not cross into the next one if that costs no word. Bit 0 of a row is
bit 0 of its first word. Rows are compared, hashed and stored as bytes; bits that belong to no variable are zero.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.checker.layout.decode import decode
from assay.checker.layout.encode import encode
from assay.checker.layout.shape import BitRange, Shape
from assay.checker.layout.shape_of_type import shape_of
from assay.checker.report import State
from assay.grammar.kernel import Variable
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Value

WORD = 64
LAYOUT_VERSION = 2
"""Part of every file and cache key that depends on the layout. Increase it with every change of a layout."""

Rows = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class RowLayout:
    """The position of each state variable; ``words`` is W."""

    words: int
    places: tuple[BitRange, ...]

    def pack(self, state: State) -> Rows:
        """The row of a state: an array of W words. Raises ``UnfitError`` if a value is not of its variable's type."""
        code = sum(encode(value, place.shape) << place.shift for value, place in zip(state, self.places, strict=True))
        # `frombuffer` gives a view that cannot be written; `astype` copies it, in the machine's byte order.
        return np.frombuffer(code.to_bytes(self.words * 8, "little"), dtype="<u8").astype(np.uint64)

    def pack_all(self, states: Iterable[State]) -> Rows:
        """The rows of several states: an array of shape (n, W)."""
        rows = [self.pack(state) for state in states]
        return np.stack(rows) if rows else np.zeros((0, self.words), np.uint64)

    def unpack(self, row: npt.NDArray[Any]) -> State:
        """The state of a row."""
        code = int.from_bytes(np.ascontiguousarray(row, dtype="<u8").tobytes(), "little")
        return tuple(_value(code, place) for place in self.places)


def row_layout(variables: tuple[Variable, ...]) -> RowLayout:
    """The layout of these variables. Raises ``SpecError`` if one is too wide."""
    shapes = [shape_of(variable.type, variable.span) for variable in variables]
    tight = sum(shape.width for shape in shapes)
    words = max(1, -(-tight // WORD))
    places = _aligned(shapes)
    if places and places[-1].shift + places[-1].shape.width > words * WORD:
        places = _tight(shapes)
    return RowLayout(words, places)


def _tight(shapes: list[Shape]) -> tuple[BitRange, ...]:
    places, shift = [], 0
    for shape in shapes:
        places.append(BitRange(shift, shape))
        shift += shape.width
    return tuple(places)


def _aligned(shapes: list[Shape]) -> tuple[BitRange, ...]:
    places, shift = [], 0
    for shape in shapes:
        left = WORD - shift % WORD
        if left < shape.width <= WORD:
            shift += left
        places.append(BitRange(shift, shape))
        shift += shape.width
    return tuple(places)


def _value(code: int, place: BitRange) -> Value:
    return decode(code >> place.shift & ((1 << place.shape.width) - 1), place.shape)
