"""Dead ends: nodes from which no execution can go on, and the hidden steps that lead to other nodes only."""

from __future__ import annotations

from assay.traces.observe.partial_order import OrderedObservation
from assay.traces.search.dependence import Doom, Interference, Lasts, to_come
from assay.traces.search.heads import Cursors, TraceHeads
from assay.traces.search.hidden_closure import Closure
from assay.traces.search.path import SearchNode


class Outlook:
    """The known dead ends of all searches with one window (see ``Limits``), cached by cursors."""

    def __init__(self, frontier: TraceHeads, interference: Interference) -> None:
        self.interference = interference
        self.closures: dict[tuple[Cursors, int], Closure] = {}
        self._frontier = frontier
        self._dooms: dict[Cursors, tuple[Doom, ...]] = {}
        self._lasting: dict[Doom, Lasts] | None = None
        self._lost: dict[Cursors, tuple[Doom, ...]] = {}

    def closure(self, node: SearchNode, *, reduced: bool = True) -> Closure:
        """The states that hidden steps reach from a node; with ``reduced``, without those that are dead ends."""
        key = (node.cursors, node.state)
        if not reduced:
            return self.interference.prints.closure(node.state)
        found = self.closures.get(key)
        if found is None:
            found = self.closures[key] = Closure(
                self.interference.model,
                node.state,
                lambda state: self.hopeless(node.cursors, state) or self.lost(node, state),
            )
        return found

    def hopeless(self, cursors: Cursors, state: int) -> bool:
        """Whether an item that is next in some stream can no longer be explained."""
        dooms = self._dooms.get(cursors)
        if dooms is None:
            dooms = self._dooms[cursors] = self.interference.dooms(self._frontier.next_in_streams(cursors), cursors)
        return any(self.interference.is_one(doom, state) for doom in dooms)

    def lost(self, node: SearchNode, state: int) -> bool:
        """Whether hidden steps from a node made an item further on in some stream impossible.

        An item that was impossible before the hidden steps excludes none of them. So a search without an execution
        still goes on to where that item should be read, and blames that item.
        """
        dooms = self._lost.get(node.cursors)
        if dooms is None:
            if self._lasting is None:
                self._lasting = self.interference.lasting(self._frontier.order.items)
            ahead = (doom for doom, lasts in self._lasting.items() if to_come(lasts, node.cursors))
            dooms = self._lost[node.cursors] = tuple(ahead)
        ends = self.interference
        return any(ends.is_one(doom, state) and not ends.is_one(doom, node.state) for doom in dooms)

    def doomed(self, node: SearchNode) -> list[OrderedObservation]:
        """The items, next in their streams, that can no longer be explained."""
        ends = self.interference
        return [
            item
            for item in self._frontier.next_in_streams(node.cursors)
            if any(ends.is_one(doom, node.state) for doom in ends.dooms([item], node.cursors))
        ]
