"""Events that a record states twice.

A message with a list, for example of partitions, has one field layout of the same pattern for each element, and each is
an event. Where two have equal fields, they are one event. Equality is decided by the texts of the fields, for
conversions under which equal values have equal texts. (A number with leading zeros, which no program writes into a
list, counts as different.) A record with other conversions is decoded and compared as a whole.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from assay.checker.jit.jit_function import ArrayFunction
from assay.traces.patterns.field_types import CONVERSIONS
from assay.traces.patterns.template_fields import Form
from assay.traces.store.log4j_scanner import FACTOR, MIX
from assay.traces.store.record_block import Numbers

if TYPE_CHECKING:
    from assay.traces.store.message_templates import Mould

_TELLING = CONVERSIONS["text"], CONVERSIONS["int"], CONVERSIONS["bool"]
"""Conversions under which different texts have different values."""


@ArrayFunction
def alike_before(moulds: Any, begins: Any, digits: Any, forms: Any, slots: Any, entries: Any, found: Any) -> None:
    """Mark each field layout of each record that equals an earlier one of the same record.

    A record is given by the number of its record layout and by where its digits begin. ``entries`` is where the marks
    of each record begin in ``found``.
    """
    first_form, alike, first, chosen = forms
    marks, owners, holders = slots
    mask = marks.shape[0] - 1
    for row in range(moulds.shape[0]):
        begin, first_own = begins[row], first_form[moulds[row]]
        for form in range(first_own, first_form[moulds[row] + 1]):
            mark = np.uint64(alike[form])
            for place in range(first[form], first[form + 1]):
                mark = (mark ^ np.uint64(digits[begin + chosen[place]])) * FACTOR
            slot = np.int64(mark ^ (mark >> MIX)) & mask
            # Slots carry the number of the row that filled them, so that they need not be cleared between records.
            while owners[slot] == row + 1:
                other = holders[slot]
                if marks[slot] == mark and alike[other] == alike[form]:
                    size, place = first[form + 1] - first[form], 0
                    while (
                        place < size
                        and digits[begin + chosen[first[form] + place]] == digits[begin + chosen[first[other] + place]]
                    ):
                        place += 1
                    if place == size:
                        found[entries[row] + form - first_own] = 1
                        break
                slot = (slot + 1) & mask
            owners[slot], marks[slot], holders[slot] = row + 1, mark, form


def masked(text: bytes) -> bytes:
    """A text with each digit replaced by 0."""
    return bytes(48 if 48 <= each < 58 else each for each in text)


class Repeated(NamedTuple):
    """The result for some records: which of them have to be compared as a whole, and the redundant events, each by the
    record and its field layout.
    """

    doubtful: npt.NDArray[np.bool_]
    records: Numbers
    forms: Numbers


class Repetition:
    """What distinguishes the field layouts of each record layout, by number; empty for layouts in which no pattern
    occurs twice.
    """

    def __init__(self) -> None:
        self._first_form, self._first = [0], [0]
        self._alike: list[int] = []
        self._chosen: list[int] = []
        self._certain: list[bool] = []
        self._numbers: dict[Hashable, int] = {}

    def extend(self, moulds: Sequence[Mould]) -> None:
        """Add the layouts that are new."""
        known = len(self._first_form) - 1
        for mould in moulds[known:]:
            for form in mould.likeness.forms if mould.likeness.repeats else ():
                self._add(mould, form)
            self._first_form.append(len(self._alike))
        if known < len(moulds):
            numbers = self._first_form, self._alike, self._first, self._chosen
            self._forms = tuple(np.array(each, np.int64) for each in numbers)

    def _add(self, mould: Mould, form: Form) -> None:
        telling = [(name, begin, end) for name, (convert, begin, end) in form.parts.items() if convert in _TELLING]
        texts = tuple((name, masked(mould.skeleton[begin:end])) for name, begin, end in telling)
        key = form.shape.name, frozenset(form.fields), texts
        self._alike.append(self._numbers.setdefault(key, len(self._numbers)))
        self._certain.append(len(telling) == len(form.parts))
        self._chosen += (
            at for at, place in enumerate(mould.digits) if any(begin <= place < end for _, begin, end in telling)
        )
        self._first.append(len(self._chosen))

    def of(self, moulds: Numbers, begins: Numbers, digits: npt.NDArray[np.uint8]) -> Repeated:
        """The redundant events of some records, each given by the number of its record layout and by where its digits
        begin.
        """
        first_form = self._forms[0]
        sizes = first_form[moulds + 1] - first_form[moulds]
        entries = np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes)))
        room = 1 << (2 * int(sizes.max(initial=1))).bit_length()
        slots = np.zeros(room, np.uint64), np.zeros(room, np.int64), np.zeros(room, np.int64)
        found = np.zeros(int(entries[-1]), np.uint8)
        alike_before(moulds, begins, digits, self._forms, slots, entries, found)
        again = np.flatnonzero(found)
        records = np.searchsorted(entries, again, side="right") - 1
        forms = again - entries[records]
        certain = np.array(self._certain, np.bool_)[first_form[moulds[records]] + forms]
        doubtful = np.zeros(len(moulds), np.bool_)
        doubtful[records[~certain]] = True
        kept = ~doubtful[records]
        return Repeated(doubtful, records[kept], forms[kept])
