"""An index of the items that may write a place, by time. So only items near another one are looked at in a long log.

Why a window of the index is enough is shown in docs/design/nearby-items.md.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from math import inf

from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Value
from assay.traces.observe.partial_order import OrderedObservation, PartialOrder
from assay.traces.search.read_write_sets import Call, Place
from assay.traces.search.transition_system import ANY, AnyValue


@dataclass(frozen=True, slots=True)
class PossibleCall:
    """An item, and one call that it may be."""

    item: OrderedObservation
    call: Call


@dataclass(frozen=True, slots=True)
class ReadingWindow:
    """A partial order, and by how many milliseconds an item may be read before an unread older one."""

    order: PartialOrder
    window: float = inf

    def may_precede(self, other: OrderedObservation, item: OrderedObservation) -> bool:
        """Whether ``other``, of another stream, may be read before ``item``."""
        return (
            other.stream != item.stream
            and other.time <= item.latest + self.window
            and not self.order.precedes(item, other)
        )


class _Sorted:
    """WritersByPlace by latest time; those with an unbounded interval are kept separately."""

    def __init__(self) -> None:
        self.always: list[PossibleCall] = []
        self._within: list[PossibleCall] = []
        self._ends: list[float] = []
        self._spread = self._lag = 0.0

    def add(self, occurrence: PossibleCall) -> None:
        """Add one occurrence."""
        (self.always if occurrence.item.latest == inf else self._within).append(occurrence)

    def between(self, least: float, item: OrderedObservation, window: ReadingWindow) -> Iterator[PossibleCall]:
        """The occurrences that end no earlier than ``least`` and may come before an item. A superset: the caller
        filters exactly.
        """
        # Sorted on first use, not on insertion: all items are added before the first question.
        if len(self._ends) != len(self._within):
            self._sort()
        # What may come before the item begins before its end, but for the skew, and lasts `_spread` at most.
        begun = item.latest + window.order.skew + self._spread if window.order.timed else inf
        # The window bounds the time of what may be read before, and no end is later than its time by more than `_lag`.
        last = min(begun, item.latest + window.window + self._lag)
        for at in range(bisect_left(self._ends, least), len(self._within)):
            if self._ends[at] > last:
                return
            yield self._within[at]

    def _sort(self) -> None:
        self._within.sort(key=lambda each: (each.item.latest, each.item.index))
        self._ends = [each.item.latest for each in self._within]
        self._spread = max(each.item.latest - each.item.earliest for each in self._within)
        self._lag = max(each.item.latest - each.item.time for each in self._within)


# Where each line was asked about every other one, 20,002 lines of a service took more than ten minutes.
class WritersByPlace:
    """The occurrences of some items, and those of an older index, by the places that they write."""

    def __init__(self, others: WritersByPlace | None = None) -> None:
        # A changed log puts its one new item on top of the index of the old log, which many changes share.
        self._others = others
        self._by_key: dict[str, dict[Value | AnyValue, _Sorted]] = {}
        self._by_name: dict[str, _Sorted] = {}

    def add(self, occurrence: PossibleCall, places: Iterable[Place]) -> None:
        """Add an occurrence that writes these places."""
        known = set(places)
        for name, key in known:
            self._by_key.setdefault(name, {}).setdefault(key, _Sorted()).add(occurrence)
        for name in {name for name, _ in known}:
            self._by_name.setdefault(name, _Sorted()).add(occurrence)

    def before(
        self, item: OrderedObservation, window: ReadingWindow, places: Sequence[Place], least: float
    ) -> Iterator[PossibleCall]:
        """The occurrences that may write one of the places, may be read before the item, and end no earlier than
        ``least``.

        One occurrence may come twice.
        """
        if self._others is not None:
            yield from self._others.before(item, window, places, least)
        for found in chain.from_iterable(map(self._at, places)):
            for each in chain(found.always, found.between(least, item, window)):
                if window.may_precede(each.item, item):
                    yield each

    def _at(self, place: Place) -> Iterator[_Sorted]:
        name, key = place
        # An unknown key overlaps each known one. `_by_name` has all of them in one order of time.
        if key is ANY:
            if name in self._by_name:
                yield self._by_name[name]
            return
        by_key = self._by_key.get(name, {})
        yield from (by_key[each] for each in (key, ANY) if each in by_key)
