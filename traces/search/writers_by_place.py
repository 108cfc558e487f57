"""Which items may write a place, in the order of their times: so that of a long log only those are asked that may come before an item.

NOTE(near items): In its stream an item happened at the latest no earlier than those before it. So of all that are still to come none ends before the first of
those that are next in their streams, and none comes before an item that certainly precedes it (``PartialOrder.precedes``). Nor is one read before an item that is
younger by more than the search's window: the oldest that is unread is no younger than the item. Between these bounds lie few, however long the log is.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from math import inf

from assay.grammar.values import Value
from assay.traces.observe.partial_order import OrderedObservation, PartialOrder
from assay.traces.search.read_write_sets import Call, Place
from assay.traces.search.transition_system import ANY, AnyValue


@dataclass(frozen=True, slots=True)
class Occurrence:
    """An item, and a call that it may be."""

    item: OrderedObservation
    call: Call


@dataclass(frozen=True, slots=True)
class Near:
    """An order, and by how many milliseconds an item that is read may be younger than one that is not."""

    order: PartialOrder
    window: float = inf

    def may_precede(self, other: OrderedObservation, item: OrderedObservation) -> bool:
        """Whether another item of another stream may be read before one."""
        return (
            other.stream != item.stream
            and other.time <= item.latest + self.window
            and not self.order.precedes(item, other)
        )


class _Sorted:
    """Occurrences by when they happened at the latest; those that may have been at any time are apart."""

    def __init__(self) -> None:
        self.always: list[Occurrence] = []
        self._within: list[Occurrence] = []
        self._ends: list[float] = []
        self._spread = self._lag = 0.0

    def add(self, occurrence: Occurrence) -> None:
        """Note one."""
        (self.always if occurrence.item.latest == inf else self._within).append(occurrence)

    def between(self, least: float, item: OrderedObservation, near: Near) -> Iterator[Occurrence]:
        """Those that end no earlier than ``least``, and all that may come before an item."""
        if len(self._ends) != len(self._within):
            self._sort()
        begun = item.latest + near.order.skew + self._spread if near.order.timed else inf
        last = min(begun, item.latest + near.window + self._lag)
        for at in range(bisect_left(self._ends, least), len(self._within)):
            if self._ends[at] > last:
                return
            yield self._within[at]

    def _sort(self) -> None:
        self._within.sort(key=lambda each: (each.item.latest, each.item.index))
        self._ends = [each.item.latest for each in self._within]
        self._spread = max(each.item.latest - each.item.earliest for each in self._within)
        self._lag = max(each.item.latest - each.item.time for each in self._within)


class Occurrences:
    """The occurrences of some items, and of others beside them, by the places that they write."""

    def __init__(self, others: Occurrences | None = None) -> None:
        self._others = others
        self._by_key: dict[str, dict[Value | AnyValue, _Sorted]] = {}
        self._by_name: dict[str, _Sorted] = {}

    def add(self, occurrence: Occurrence, places: Iterable[Place]) -> None:
        """Note an occurrence that writes these places."""
        known = set(places)
        for name, key in known:
            self._by_key.setdefault(name, {}).setdefault(key, _Sorted()).add(occurrence)
        for name in {name for name, _ in known}:
            self._by_name.setdefault(name, _Sorted()).add(occurrence)

    def before(
        self, item: OrderedObservation, near: Near, places: Sequence[Place], least: float
    ) -> Iterator[Occurrence]:
        """Those that may write one of the places and be read before an item, of those that end no earlier than ``least``; some may be named twice."""
        if self._others is not None:
            yield from self._others.before(item, near, places, least)
        for found in chain.from_iterable(map(self._at, places)):
            for each in chain(found.always, found.between(least, item, near)):
                if near.may_precede(each.item, item):
                    yield each

    def _at(self, place: Place) -> Iterator[_Sorted]:
        name, key = place
        if key is ANY:
            if name in self._by_name:
                yield self._by_name[name]
            return
        by_key = self._by_key.get(name, {})
        yield from (by_key[each] for each in (key, ANY) if each in by_key)
