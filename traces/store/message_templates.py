"""Record layouts: what the records of one kind have in common, and how a message is rebuilt from its digits."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Hashable, Sequence
from struct import Struct
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from assay.traces.patterns.field_types import CONVERSIONS
from assay.traces.patterns.match import Likeness
from assay.traces.patterns.template_fields import Form
from assay.traces.store.digit_pool import longer
from assay.traces.store.record_block import Numbers
from assay.traces.store.redundant_fields import Repetition, masked

H = TypeVar("H", bound=Hashable)

_DIGITS = re.compile(rb"\d+")
_WHOLE_NUMBERS = CONVERSIONS["int"], CONVERSIONS["int?"]

NO_WRITER = -1


class Mould:
    """What the records of one kind have in common; ``skeleton`` is a message of it with arbitrary digits.

    ``thread`` and ``resolution`` are those of ``LogRecord``. ``digits`` are the positions of the digits in a message,
    ``writer`` the span of the id of the broker that wrote it. ``packs`` says whether messages can be rebuilt from their
    digits, and their writers read by compiled code.
    """

    __slots__ = (
        "_runs",
        "_template",
        "_writer_digits",
        "digits",
        "level",
        "likeness",
        "logger",
        "packs",
        "resolution",
        "skeleton",
        "thread",
        "writer",
    )

    def __init__(
        self,
        level: str,
        logger: str,
        likeness: Likeness,
        skeleton: bytes,
        thread: str | None = None,
        resolution: int = 1,
    ) -> None:
        self.level, self.logger, self.likeness, self.skeleton = level, logger, likeness, skeleton
        self.thread, self.resolution = thread, resolution
        runs = [found.span() for found in _DIGITS.finditer(skeleton)]
        self.digits = tuple(at for begin, end in runs for at in range(begin, end))
        self._runs = Struct("".join(f"{end - begin}s" for begin, end in runs))
        self._template = _DIGITS.sub(b"%s", skeleton.replace(b"%", b"%%"))
        self.packs, self.writer = self._find_writer()
        self._writer_digits = (
            None if self.writer is None else slice(*(bisect_left(self.digits, at) for at in self.writer))
        )

    def _find_writer(self) -> tuple[bool, tuple[int, int] | None]:
        if not self.likeness.writers:
            return True, None
        (convert, begin, end), *more = self.likeness.writers
        text = self.skeleton[begin:end]
        # Nine digits fit into the 32-bit column of writers.
        if more or convert not in _WHOLE_NUMBERS or len(text) > 9:
            return False, None
        return text.removeprefix(b"-").isdigit(), (begin, end) if text.isdigit() else None

    def writer_in(self, digits: bytes) -> int:
        """The id of the broker that wrote a message of these digits."""
        return NO_WRITER if self._writer_digits is None else int(digits[self._writer_digits])

    def message(self, digits: npt.NDArray[np.uint8], begin: int) -> str:
        """The message whose digits begin at ``begin``."""
        return (self._template % self._runs.unpack_from(digits.data, begin)).decode("ascii")

    def __reduce__(self) -> tuple[type[Mould], tuple[object, ...]]:
        return Mould, (self.level, self.logger, self.likeness, self.skeleton, self.thread, self.resolution)


class Places:
    """For compiled code: the digit positions of each record layout, from ``first[number]`` to ``first[number + 1]``,
    and the span of the writer's id (0 to 0 without one).
    """

    def __init__(self) -> None:
        self.first = np.zeros(2, np.int64)
        self.places = np.empty(1 << 10, np.int64)
        self.writers = np.empty((1, 2), np.int64)
        self._count = 0

    def extend(self, moulds: Sequence[Mould]) -> None:
        """Add the layouts that are new; the first ones are those that were added before."""
        for mould in moulds[self._count :]:
            count, begin = self._count, int(self.first[self._count])
            end = begin + len(mould.digits)
            if count + 1 == len(self.first):
                self.first, self.writers = longer(self.first, 2 * count + 2), longer(self.writers, 2 * count + 1)
            if end > len(self.places):
                self.places = longer(self.places, 2 * end)
            self.places[begin:end] = mould.digits
            self.writers[count] = mould.writer or (0, 0)
            self.first[count + 1] = end
            self._count += 1


class Moulds:
    """Record layouts by number, with properties of all of them as arrays."""

    def __init__(self) -> None:
        self.moulds: list[Mould] = []
        self._places, self._repetition = Places(), Repetition()
        self._first_forms, self._forms = np.zeros(1, np.int64), list[tuple[Mould, Form]]()
        self._told: dict[Callable[[Mould], Any], npt.NDArray[Any]] = {}
        self._of_forms: dict[Callable[[Mould, Form], Any], tuple[dict[Any, int], Numbers]] = {}

    def __len__(self) -> int:
        return len(self.moulds)

    def __getitem__(self, number: int) -> Mould:
        return self.moulds[number]

    def add(self, mould: Mould) -> int:
        """Add a record layout; returns its number."""
        self.moulds.append(mould)
        return len(self.moulds) - 1

    @property
    def places(self) -> Places:
        """The digit positions of each layout."""
        self._places.extend(self.moulds)
        return self._places

    def told(self, ask: Callable[[Mould], Any]) -> npt.NDArray[Any]:
        """What a function returns for each layout.

        It is cached by the identity of the function, so pass the same function each time.
        """
        found = self._told.get(ask)
        if found is None or len(found) < len(self.moulds):
            self._told[ask] = np.array([ask(mould) for mould in self.moulds])
        return self._told[ask]

    def told_by_form(self, ask: Callable[[Mould, Form], H]) -> tuple[list[H], Numbers]:
        """The distinct results of a function of field layouts, and for each field layout the index of its result.

        Cached like ``evaluate``.
        """
        known, found = self._of_forms.get(ask) or ({}, np.empty(0, np.int64))
        _, forms = self.forms
        if len(found) < len(forms):
            fresh = [known.setdefault(ask(*each), len(known)) for each in forms[len(found) :]]
            found = np.concatenate((found, np.array(fresh, np.int64)))
            self._of_forms[ask] = known, found
        return list(known), found

    @property
    def repetition(self) -> Repetition:
        """The index that distinguishes the field layouts of each record layout."""
        self._repetition.extend(self.moulds)
        return self._repetition

    @property
    def forms(self) -> tuple[Numbers, list[tuple[Mould, Form]]]:
        """For each record layout the number of its first field layout, and the field layouts of all."""
        fresh = self.moulds[len(self._first_forms) - 1 :]
        if fresh:
            counts = np.cumsum([len(mould.likeness.forms) for mould in fresh]) + len(self._forms)
            self._first_forms = np.concatenate((self._first_forms, counts))
            self._forms += ((mould, form) for mould in fresh for form in mould.likeness.forms)
        return self._first_forms, self._forms

    def __reduce__(self) -> tuple[Callable[..., Moulds], tuple[object, ...]]:
        return moulds_of, (self.moulds,)


def moulds_of(moulds: list[Mould]) -> Moulds:
    """Record layouts, numbered in the order of a list."""
    found = Moulds()
    for mould in moulds:
        found.add(mould)
    return found


class LikeMoulds:
    """The record layouts of many texts in one numbering: equal ones have one number, whichever text they come from.

    Logs that grow are read piece by piece, each with layouts of its own. With one numbering a property of a layout is
    evaluated once instead of once for each piece.
    """

    def __init__(self) -> None:
        self.moulds = Moulds()
        self._known: dict[Hashable, int] = {}

    def numbers(self, moulds: Moulds) -> Numbers:
        """The common number of each of some record layouts."""
        return np.array([self._number(mould) for mould in moulds.moulds], np.int32)

    def _number(self, mould: Mould) -> int:
        key = mould.level, mould.logger, mould.thread, mould.resolution, masked(mould.skeleton), _told(mould.likeness)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self.moulds.add(mould)
        return known


def _told(likeness: Likeness) -> Hashable:
    """What messages of a template state, apart from the values of their digits; equal for equal templates of different
    texts.
    """
    forms = tuple(
        (form.shape.name, tuple((name, part[1:]) for name, part in form.parts.items()), _constants(form))
        for form in likeness.forms
    )
    return forms, likeness.whole, likeness.repeats, likeness.writers, likeness.roles


def _constants(form: Form) -> str:
    """The fields that are the same in all messages of a field layout."""
    return repr([(name, value) for name, value in form.fields.items() if name not in form.parts])
