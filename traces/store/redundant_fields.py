"""Events that a record states twice.

A message with a list, for example of partitions, has one field layout of the same pattern for each element, and each is
an event. Where two have equal fields, they are one event. Equality is decided by the texts of the fields, for
conversions under which equal values have equal texts. A number with leading zeros, which no program writes into a list,
counts as different. A record with other conversions is decoded and compared as a whole.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from assay.checker.jit.jit_function import LinearFunction
from assay.traces.patterns.field_types import CONVERSIONS
from assay.traces.patterns.template_fields import FieldLayout
from assay.traces.store.log4j_scanner import FACTOR, MIX
from assay.traces.store.record_block import Numbers

if TYPE_CHECKING:
    from assay.traces.store.record_layouts import RecordLayout

_INJECTIVE = CONVERSIONS["text"], CONVERSIONS["int"], CONVERSIONS["bool"]
"""Conversions under which different texts have different values."""


@LinearFunction
def mark_redundant(
    layouts: Any, begins: Any, digits: Any, field_layouts: Any, slots: Any, entries: Any, found: Any
) -> None:
    """Mark each field layout of each record that equals an earlier one of the same record.

    A record is given by the number of its record layout and by where its digits begin. ``entries`` is where the marks
    of each record begin in ``found``.
    """
    first_field_layout, alike, first, chosen = field_layouts
    hashes, owners, holders = slots
    mask = hashes.shape[0] - 1
    for row in range(layouts.shape[0]):
        begin, first_own = begins[row], first_field_layout[layouts[row]]
        for field_layout in range(first_own, first_field_layout[layouts[row] + 1]):
            hash_code = np.uint64(alike[field_layout])
            for place in range(first[field_layout], first[field_layout + 1]):
                hash_code = (hash_code ^ np.uint64(digits[begin + chosen[place]])) * FACTOR
            slot = np.int64(hash_code ^ (hash_code >> MIX)) & mask
            # Slots carry the number of the row that filled them, so that they need not be cleared between records.
            while owners[slot] == row + 1:
                other = holders[slot]
                if hashes[slot] == hash_code and alike[other] == alike[field_layout]:
                    size, place = first[field_layout + 1] - first[field_layout], 0
                    while (
                        place < size
                        and digits[begin + chosen[first[field_layout] + place]]
                        == digits[begin + chosen[first[other] + place]]
                    ):
                        place += 1
                    if place == size:
                        found[entries[row] + field_layout - first_own] = 1
                        break
                slot = (slot + 1) & mask
            owners[slot], hashes[slot], holders[slot] = row + 1, hash_code, field_layout


def mask_digits(text: bytes) -> bytes:
    """A text with each digit replaced by 0."""
    return bytes(48 if 48 <= each < 58 else each for each in text)


class RedundantEvents(NamedTuple):
    """The result for some records. It says which of them have to be compared as a whole. It has the redundant events,
    each by the record and its field layout.
    """

    doubtful: npt.NDArray[np.bool_]
    records: Numbers
    field_layouts: Numbers


class RedundancyIndex:
    """What distinguishes the field layouts of each record layout, by number; empty for layouts in which no pattern
    occurs twice.
    """

    def __init__(self) -> None:
        self._first_field_layout, self._first = [0], [0]
        self._alike: list[int] = []
        self._chosen: list[int] = []
        self._certain: list[bool] = []
        self._numbers: dict[Hashable, int] = {}

    def extend(self, layouts: Sequence[RecordLayout]) -> None:
        """Add the layouts that are new."""
        known = len(self._first_field_layout) - 1
        for layout in layouts[known:]:
            for field_layout in layout.template_match.field_layouts if layout.template_match.repeats else ():
                self._add(layout, field_layout)
            self._first_field_layout.append(len(self._alike))
        if known < len(layouts):
            numbers = self._first_field_layout, self._alike, self._first, self._chosen
            self._field_layouts = tuple(np.array(each, np.int64) for each in numbers)

    def _add(self, layout: RecordLayout, field_layout: FieldLayout) -> None:
        comparable = [
            (name, begin, end) for name, (convert, begin, end) in field_layout.spans.items() if convert in _INJECTIVE
        ]
        texts = tuple((name, mask_digits(layout.template[begin:end])) for name, begin, end in comparable)
        # Two events can only be equal if what stands between their digits is: `orders-1` and `events-1` differ in it.
        key = field_layout.pattern.name, frozenset(field_layout.fields), texts
        self._alike.append(self._numbers.setdefault(key, len(self._numbers)))
        self._certain.append(len(comparable) == len(field_layout.spans))
        self._chosen += (
            at for at, place in enumerate(layout.digits) if any(begin <= place < end for _, begin, end in comparable)
        )
        self._first.append(len(self._chosen))

    def of(self, layouts: Numbers, begins: Numbers, digits: npt.NDArray[np.uint8]) -> RedundantEvents:
        """The redundant events of some records, each given by the number of its record layout and by where its digits
        begin.
        """
        first_field_layout = self._field_layouts[0]
        sizes = first_field_layout[layouts + 1] - first_field_layout[layouts]
        entries = np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes)))
        # Twice the room of the largest record, so that a probe always meets a slot that this record has not filled.
        room = 1 << (2 * int(sizes.max(initial=1))).bit_length()
        slots = np.zeros(room, np.uint64), np.zeros(room, np.int64), np.zeros(room, np.int64)
        found = np.zeros(int(entries[-1]), np.uint8)
        mark_redundant(layouts, begins, digits, self._field_layouts, slots, entries, found)
        again = np.flatnonzero(found)
        records = np.searchsorted(entries, again, side="right") - 1
        field_layouts = again - entries[records]
        certain = np.array(self._certain, np.bool_)[first_field_layout[layouts[records]] + field_layouts]
        doubtful = np.zeros(len(layouts), np.bool_)
        doubtful[records[~certain]] = True
        kept = ~doubtful[records]
        return RedundantEvents(doubtful, records[kept], field_layouts[kept])
