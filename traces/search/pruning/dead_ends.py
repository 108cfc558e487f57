"""Dead ends: nodes from which no execution can go on, and the hidden steps that lead to other nodes only."""

from __future__ import annotations

from collections.abc import Callable

from assay.traces.observe.partial_order import OrderedObservation
from assay.traces.search.dependence import DeadEndCondition, DependenceRelation, Lasts, any_unread
from assay.traces.search.hidden_closure import Closure
from assay.traces.search.next_items import Cursors, TraceHeads
from assay.traces.search.path import SearchNode

ExcludedItem = Callable[[int, int], int | None]
"""The position of the first item that no execution explains, from a cursor on and in a state."""


class DeadEnds:
    """The known dead ends of all searches with one window (see ``Limits``), cached by cursors."""

    def __init__(
        self, frontier: TraceHeads, dependence: DependenceRelation, excluded: ExcludedItem | None = None
    ) -> None:
        self.dependence = dependence
        # Which states are dead ends depends on what is still to come, so closures that prune are kept by cursors too.
        self.closures: dict[tuple[Cursors, int], Closure] = {}
        self._frontier = frontier
        self._conditions: dict[Cursors, tuple[DeadEndCondition, ...]] = {}
        self._permanent: dict[DeadEndCondition, Lasts] | None = None
        self._excluded: dict[Cursors, tuple[DeadEndCondition, ...]] = {}
        self._first_excluded = excluded

    def closure(self, node: SearchNode, *, reduced: bool = True) -> Closure:
        """The states that hidden steps reach from a node; with ``reduced``, without those that are dead ends."""
        key = (node.cursors, node.state)
        if not reduced:  # an unreduced search must not prune, so its closures are shared by all cursors
            return self.dependence.effects.closure(node.state)
        found = self.closures.get(key)
        if found is None:
            found = self.closures[key] = Closure(
                self.dependence.model,
                node.state,
                lambda state: self.is_dead_end(node.cursors, state) or self.excludes_later_item(node, state),
            )
        return found

    def is_dead_end(self, cursors: Cursors, state: int) -> bool:
        """Whether an item that is next in some stream can no longer be explained."""
        conditions = self._conditions.get(cursors)
        if conditions is None:
            conditions = self._conditions[cursors] = self.dependence.dead_end_conditions(
                self._frontier.next_in_streams(cursors), cursors
            )
        return any(self.dependence.is_dead_end(dead_end, state) for dead_end in conditions)

    def excludes_later_item(self, node: SearchNode, state: int) -> bool:
        """Whether hidden steps from a node made an item further on in some stream impossible.

        An item that was impossible before the hidden steps excludes none of them. So a search without an execution
        still goes on to where that item should be read, and blames that item.
        """
        # Without this a log that names a dozen cluster ids had 27,000 states around some lines, for ids in any order.
        if self._first_excluded is not None and self._freezes(self._first_excluded, node, state):
            return True
        conditions = self._excluded.get(node.cursors)
        if conditions is None:
            if self._permanent is None:
                self._permanent = self.dependence.permanent_dead_ends(self._frontier.order.items)
            ahead = (dead_end for dead_end, lasts in self._permanent.items() if any_unread(lasts, node.cursors))
            conditions = self._excluded[node.cursors] = tuple(ahead)
        relation = self.dependence
        return any(
            relation.is_dead_end(dead_end, state) and not relation.is_dead_end(dead_end, node.state)
            for dead_end in conditions
        )

    def _freezes(self, excluded: ExcludedItem, node: SearchNode, state: int) -> bool:
        """Whether hidden steps have made an item impossible that was not so before."""
        cursor = node.cursors[0]
        later = excluded(cursor, state)
        before = None if later is None else excluded(cursor, node.state)
        return later is not None and (before is None or later < before)

    def blocked_items(self, node: SearchNode) -> list[OrderedObservation]:
        """The items, next in their streams, that can no longer be explained."""
        relation = self.dependence
        return [
            item
            for item in self._frontier.next_in_streams(node.cursors)
            if any(
                relation.is_dead_end(dead_end, node.state)
                # Item by item: `is_dead_end` merges the conditions of all heads, and does not know whose they are.
                for dead_end in relation.dead_end_conditions([item], node.cursors)
            )
        ]
