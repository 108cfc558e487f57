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
from assay.traces.patterns.match import TemplateMatch
from assay.traces.patterns.template_fields import FieldLayout
from assay.traces.store.digit_pool import longer
from assay.traces.store.record_block import Numbers
from assay.traces.store.redundant_fields import RedundancyIndex, mask_digits

H = TypeVar("H", bound=Hashable)

_DIGITS = re.compile(rb"\d+")
_WHOLE_NUMBERS = CONVERSIONS["int"], CONVERSIONS["int?"]

NO_WRITER = -1


class RecordLayout:
    """What the records of one kind have in common; ``template`` is a message of it with arbitrary digits.

    ``thread`` and ``resolution`` are those of ``LogRecord``. ``digits`` are the positions of the digits in a message,
    ``writer`` the span of the id of the broker that wrote it. ``packs`` says whether messages can be rebuilt from their
    digits, and their writers read by compiled code.
    """

    __slots__ = (
        "_format",
        "_runs",
        "_writer_digits",
        "digits",
        "level",
        "logger",
        "packs",
        "resolution",
        "template",
        "template_match",
        "thread",
        "writer",
    )

    def __init__(
        self,
        level: str,
        logger: str,
        template_match: TemplateMatch,
        template: bytes,
        thread: str | None = None,
        resolution: int = 1,
    ) -> None:
        self.level, self.logger, self.template_match, self.template = level, logger, template_match, template
        self.thread, self.resolution = thread, resolution
        runs = [found.span() for found in _DIGITS.finditer(template)]
        self.digits = tuple(at for begin, end in runs for at in range(begin, end))
        self._runs = Struct("".join(f"{end - begin}s" for begin, end in runs))
        # `%s` takes each run of digits as bytes. One format call rebuilds a message, whatever the number of its runs.
        self._format = _DIGITS.sub(b"%s", template.replace(b"%", b"%%"))
        self.packs, self.writer = self._find_writer()
        self._writer_digits = (
            None if self.writer is None else slice(*(bisect_left(self.digits, at) for at in self.writer))
        )

    def _find_writer(self) -> tuple[bool, tuple[int, int] | None]:
        if not self.template_match.writers:
            return True, None
        (convert, begin, end), *more = self.template_match.writers
        text = self.template[begin:end]
        # Nine digits fit into the 32-bit column of writers.
        if more or convert not in _WHOLE_NUMBERS or len(text) > 9:
            return False, None
        # A negative id is nobody's: the layout packs, and its records have no writer.
        return text.removeprefix(b"-").isdigit(), (begin, end) if text.isdigit() else None

    def writer_in(self, digits: bytes) -> int:
        """The id of the broker that wrote a message of these digits."""
        return NO_WRITER if self._writer_digits is None else int(digits[self._writer_digits])

    def message(self, digits: npt.NDArray[np.uint8], begin: int) -> str:
        """The message whose digits begin at ``begin``."""
        return (self._format % self._runs.unpack_from(digits.data, begin)).decode("ascii")

    def __reduce__(self) -> tuple[type[RecordLayout], tuple[object, ...]]:
        return RecordLayout, (self.level, self.logger, self.template_match, self.template, self.thread, self.resolution)


class DigitPositions:
    """For compiled code: the digit positions of each record layout, from ``first[number]`` to ``first[number + 1]``.
    Then the span of the writer's id (0 to 0 without one).
    """

    def __init__(self) -> None:
        self.first = np.zeros(2, np.int64)
        self.places = np.empty(1 << 10, np.int64)
        self.writers = np.empty((1, 2), np.int64)
        self._count = 0

    def extend(self, layouts: Sequence[RecordLayout]) -> None:
        """Add the layouts that are new; the first ones are those that were added before."""
        for layout in layouts[self._count :]:
            count, begin = self._count, int(self.first[self._count])
            end = begin + len(layout.digits)
            # Twice as long each time, so that adding one layout after the other stays linear.
            if count + 1 == len(self.first):
                self.first, self.writers = longer(self.first, 2 * count + 2), longer(self.writers, 2 * count + 1)
            if end > len(self.places):
                self.places = longer(self.places, 2 * end)
            self.places[begin:end] = layout.digits
            self.writers[count] = layout.writer or (0, 0)
            self.first[count + 1] = end
            self._count += 1


class RecordLayouts:
    """Record layouts by number, with properties of all of them as arrays."""

    def __init__(self) -> None:
        self.layouts: list[RecordLayout] = []
        self._places, self._repetition = DigitPositions(), RedundancyIndex()
        self._first_field_layouts, self._field_layouts = np.zeros(1, np.int64), list[tuple[RecordLayout, FieldLayout]]()
        self._evaluated: dict[Callable[[RecordLayout], Any], npt.NDArray[Any]] = {}
        self._by_field_layout: dict[Callable[[RecordLayout, FieldLayout], Any], tuple[dict[Any, int], Numbers]] = {}

    def __len__(self) -> int:
        return len(self.layouts)

    def __getitem__(self, number: int) -> RecordLayout:
        return self.layouts[number]

    def add(self, layout: RecordLayout) -> int:
        """Add a record layout; returns its number."""
        self.layouts.append(layout)
        return len(self.layouts) - 1

    @property
    def places(self) -> DigitPositions:
        """The digit positions of each layout."""
        self._places.extend(self.layouts)
        return self._places

    def evaluate(self, ask: Callable[[RecordLayout], Any]) -> npt.NDArray[Any]:
        """What a function returns for each layout.

        It is cached by the identity of the function, so pass the same function each time.
        """
        found = self._evaluated.get(ask)
        # Layouts are only ever added: what was evaluated for the first ones stays true.
        if found is None or len(found) < len(self.layouts):
            self._evaluated[ask] = np.array([ask(layout) for layout in self.layouts])
        return self._evaluated[ask]

    def evaluate_field_layouts(self, ask: Callable[[RecordLayout, FieldLayout], H]) -> tuple[list[H], Numbers]:
        """The distinct results of a function of field layouts, and for each field layout the index of its result.

        Cached like ``evaluate``.
        """
        known, found = self._by_field_layout.get(ask) or ({}, np.empty(0, np.int64))
        _, field_layouts = self.field_layouts
        if len(found) < len(field_layouts):
            fresh = [known.setdefault(ask(*each), len(known)) for each in field_layouts[len(found) :]]
            found = np.concatenate((found, np.array(fresh, np.int64)))
            self._by_field_layout[ask] = known, found
        return list(known), found

    @property
    def repetition(self) -> RedundancyIndex:
        """The index that distinguishes the field layouts of each record layout."""
        self._repetition.extend(self.layouts)
        return self._repetition

    @property
    def field_layouts(self) -> tuple[Numbers, list[tuple[RecordLayout, FieldLayout]]]:
        """For each record layout the number of its first field layout, and the field layouts of all."""
        fresh = self.layouts[len(self._first_field_layouts) - 1 :]
        if fresh:
            counts = np.cumsum([len(layout.template_match.field_layouts) for layout in fresh]) + len(
                self._field_layouts
            )
            self._first_field_layouts = np.concatenate((self._first_field_layouts, counts))
            self._field_layouts += (
                (layout, field_layout) for layout in fresh for field_layout in layout.template_match.field_layouts
            )
        return self._first_field_layouts, self._field_layouts

    def __reduce__(self) -> tuple[Callable[..., RecordLayouts], tuple[object, ...]]:
        return layouts_from, (self.layouts,)


def layouts_from(layouts: list[RecordLayout]) -> RecordLayouts:
    """Record layouts, numbered in the order of a list."""
    found = RecordLayouts()
    for layout in layouts:
        found.add(layout)
    return found


class MergedLayouts:
    """The record layouts of many texts in one numbering: equal ones have one number, whichever text they come from.

    Logs that grow are read piece by piece, each with layouts of its own. With one numbering a property of a layout is
    evaluated once instead of once for each piece.
    """

    def __init__(self) -> None:
        self.layouts = RecordLayouts()
        self._known: dict[Hashable, int] = {}

    def numbers(self, layouts: RecordLayouts) -> Numbers:
        """The common number of each of some record layouts."""
        return np.array([self._number(layout) for layout in layouts.layouts], np.int32)

    def _number(self, layout: RecordLayout) -> int:
        # The digits of a template are arbitrary. What a pattern distinguishes by them shows in the key of the statement.
        key = (
            layout.level,
            layout.logger,
            layout.thread,
            layout.resolution,
            mask_digits(layout.template),
            _statement_key(layout.template_match),
        )
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self.layouts.add(layout)
        return known


def _statement_key(template_match: TemplateMatch) -> Hashable:
    """What messages of a template state, apart from the values of their digits; equal for equal templates of different
    texts.
    """
    field_layouts = tuple(
        (
            field_layout.pattern.name,
            tuple((name, part[1:]) for name, part in field_layout.spans.items()),
            _constants(field_layout),
        )
        for field_layout in template_match.field_layouts
    )
    return field_layouts, template_match.whole, template_match.repeats, template_match.writers, template_match.roles


def _constants(field_layout: FieldLayout) -> str:
    """The fields that are the same in all messages of a field layout."""
    # By their text: `1`, `1.0` and `True` are equal as keys, and are different statements.
    return repr([(name, value) for name, value in field_layout.fields.items() if name not in field_layout.spans])
