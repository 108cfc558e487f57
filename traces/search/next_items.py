"""Which items may be read next, given how far each stream was read."""

from __future__ import annotations

from dataclasses import field
from math import inf

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.observe.partial_order import OrderedObservation, PartialOrder

Cursors = tuple[int, ...]
"""How many items of each stream were read."""


@dataclass(frozen=True, slots=True)
class Heads:
    """The items that may be read next, ordered by time, and the earliest time of the next items of all streams
    (readable or not).
    """

    items: tuple[OrderedObservation, ...]
    time: float


@dataclass(slots=True)
class TraceHeads:
    """A partial order as the search reads it: which items may come next. Answers are cached by cursors."""

    order: PartialOrder
    # One dict for all searches of a log: heads depend on the cursors alone, never on the state or on a window.
    known: dict[Cursors, Heads] = field(default_factory=dict)
    _needs: dict[int, dict[int, int]] = field(init=False)

    def __post_init__(self) -> None:
        self._needs = self.order.needs()

    @property
    def start(self) -> Cursors:
        """The cursors at which nothing was read."""
        return (0,) * len(self.order.streams)

    @property
    def end(self) -> Cursors:
        """The cursors at which everything was read."""
        return tuple(len(stream.items) for stream in self.order.streams)

    def heads(self, cursors: Cursors) -> Heads:
        """The items that may be read next."""
        found = self.known.get(cursors)
        if found is None:
            found = self.known[cursors] = self._heads(cursors)
        return found

    def next_in_streams(self, cursors: Cursors) -> list[OrderedObservation]:
        """The next item of each stream, whether it may be read now or not."""
        return [s.items[n] for s, n in zip(self.order.streams, cursors, strict=True) if n < len(s.items)]

    def is_due(self, item: OrderedObservation, cursors: Cursors) -> bool:
        """Whether all items were read that must come before this one for reasons other than time."""
        streams = self.order.streams
        return all(cursors[other] == len(streams[other].items) for other in streams[item.stream].after) and all(
            cursors[other] >= count for other, count in self._needs.get(item.index, {}).items()
        )

    def comes_before(self, x: OrderedObservation, y: OrderedObservation) -> bool:
        """Whether x certainly comes before y: by their order, or because y requires it."""
        needed = self._needs.get(y.index, {}).get(x.stream, 0) > x.position
        return (needed and x.stream != y.stream) or self.order.comes_before(x, y)

    def _heads(self, cursors: Cursors) -> Heads:
        first = self.next_in_streams(cursors)
        ends = _Ends(self.order, first)
        free = [
            item
            for item in first
            if item.earliest <= ends.until
            and (item.earliest == -inf or not ends.precede(item))  # -inf: inferred, nothing precedes it by time
            and self.is_due(item, cursors)
        ]
        # The numbers of items break ties, so every run and every process tries the same order.
        free.sort(key=lambda item: (item.time, item.index))
        return Heads(tuple(free), min((item.time for item in first), default=inf))


class _Ends:
    """The latest times of some items: tells whether one of them certainly comes before a given item."""

    def __init__(self, order: PartialOrder, items: list[OrderedObservation]) -> None:
        self._order = order
        self._of_node: dict[str, OrderedObservation] = {}
        for item in items:
            node = order.streams[item.stream].node
            known = self._of_node.get(node)
            if known is None or item.latest < known.latest:
                self._of_node[node] = item
        # Two, for the first may be the item that is asked about, and nothing precedes itself.
        self._first = sorted(self._of_node.values(), key=lambda item: item.latest)[:2]
        self.until = self._first[0].latest + order.skew if order.timed and self._first else inf
        # An item that begins later than this is certainly preceded, whatever its node: most streams have not begun.

    def precede(self, item: OrderedObservation) -> bool:
        """Whether some item certainly comes before this one.

        It is enough to ask the earliest item of the same node (no skew) and the two earliest of all nodes (one may be
        the item itself).
        """
        own = self._of_node[self._order.streams[item.stream].node]
        return any(self._order.precedes(other, item) for other in (own, *self._first))


def advanced(cursors: Cursors, item: OrderedObservation) -> Cursors:
    """The cursors after reading the item, which must be next in its stream."""
    stream = item.stream
    return (*cursors[:stream], cursors[stream] + 1, *cursors[stream + 1 :])
