"""Windows of a slice on the timeline that all slices share: what lines told of it holds around the slice's lines.

As in any window of a slice, everything may have happened between two lines. But each line lies at a position of the
timeline, no earlier than the lines before it. The places that lines told by then have the values that they told.
Places that no line told are open.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from assay.checker.lowering.llvm.unsupported import UnsupportedError
from assay.grammar.values import FrozenMap, Value
from assay.traces.windows.open_window import Order
from assay.traces.windows.replayed import places_of
from assay.traces.windows.slice_window import CONFLICTS, SliceWindow, Unit
from assay.traces.windows.template import Template
from assay.traces.windows.window_model import WindowModel

MOST_POSITIONS = 200
"""A window may span so many positions."""

Span = tuple[int, int]
"""The first and the last position at which something may have happened."""

Place = tuple[str, Value | None]
"""A variable, or its entry for an element."""

LoggedValues = Mapping[Place, Value]
"""The places of which lines told, each with its value."""

Pin = tuple[tuple[int, bool], ...]
"""The bits of a place with the value that was told."""


class TimelineWindow(SliceWindow):
    """The lines of a slice on a timeline. ``told`` is what lines told by each position, and ``spans`` are the positions
    that each unit may have."""

    def __init__(
        self,
        template: Template,
        window: WindowModel,
        units: Sequence[Unit],
        order: Order,
        kept: frozenset[str],
        told: Sequence[LoggedValues],
        spans: Sequence[Span],
    ) -> None:
        self._told, self._spans = told, spans
        self._known: dict[tuple[Place, Value], Pin] = {}
        self._last: dict[int, int] = {}
        super().__init__(template, window, units, order, kept, CONFLICTS)

    def _slot(self, here: dict[int, int]) -> None:
        super()._slot(here)
        frame = self.parts.frames[self.parts.slots[-1].begin]
        low, high = min(self._spans[unit][0] for unit in here), max(self._spans[unit][1] for unit in here)
        at = {position: self.formula.fresh() for position in range(low, high + 1)}
        same: dict[Pin, int] = {}
        for position, literal in at.items():
            for pin in self._pins(position):
                if pin not in same:
                    same[pin] = self.formula.all_of([frame[bit] if value else -frame[bit] for bit, value in pin])
                self.formula.add([-literal, same[pin]])
        for unit, place in here.items():
            first, last = self._spans[unit]
            self.formula.add([-place, *(literal for each, literal in at.items() if first <= each <= last)])
        # No line is at an earlier position than the one before it.
        for position, literal in self._last.items():
            self.formula.add([-literal, *(later for each, later in at.items() if each >= position)])
        self._last = at

    def _pins(self, position: int) -> Iterator[Pin]:
        """The places that were told by a position."""
        for place, value in self._told[position].items():
            if (place, value) not in self._known:
                self._known[place, value] = tuple(self._bits(place, value))
            yield self._known[place, value]

    def _bits(self, place: Place, value: Value) -> Iterator[tuple[int, bool]]:
        """The bits of a place with a value, in the window's terms; none where the window has no such place."""
        name, whole = whole_of(place, value)
        if name not in self.template.bits_of:
            return
        state = self.window.state_of({name: whole})
        key, bits = self.window.key_of(*place), self.template.bits(state)
        for each, own in places_of(self, state):
            if each.variable == name and each.key == key:
                yield from ((at, bits[at]) for at in own)


def told_between(told: Sequence[LoggedValues], spans: Sequence[Span]) -> Iterator[tuple[str, Value]]:
    """The values that lines told of variables at some positions. Raises ``UnsupportedError`` if these are too many."""
    first, last = min(low for low, _ in spans), max(high for _, high in spans)
    if last - first >= MOST_POSITIONS:
        raise UnsupportedError("the lines span too many positions of the timeline")
    for each in told[first : last + 1]:
        yield from (whole_of(place, value) for place, value in each.items())


def whole_of(place: Place, value: Value) -> tuple[str, Value]:
    """A variable that has a value at a place, and nothing else."""
    name, key = place
    return name, value if key is None else FrozenMap({key: value})
