"""An execution under construction: the steps that explain the items read so far, as a linked list that searches share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assay.traces.observe.partial_order import OrderedObservation
from assay.traces.search.heads import Cursors
from assay.traces.search.transition_system import Taken


@dataclass(frozen=True, slots=True)
class SearchNode:
    """What a search is about: the items read, the model's state, and the hidden steps since the last item that was an action."""

    cursors: Cursors
    state: int
    hidden: int


@dataclass(frozen=True, slots=True)
class Move:
    """Hidden steps, and then an item with the steps that it is. An item of None is a step that a repair inserted."""

    hidden: tuple[Taken, ...]
    item: OrderedObservation | None
    taken: tuple[Taken, ...]


@dataclass(frozen=True, slots=True, eq=False)
class SearchPath:
    """A node, and how it was reached; a path without a move is a beginning."""

    node: SearchNode
    read: int
    before: SearchPath | None = None
    move: Move | None = None

    def then(self, move: Move, node: SearchNode) -> SearchPath:
        """The path one move longer."""
        return SearchPath(node, self.read + (move.item is not None), self, move)

    def backwards(self) -> Iterator[SearchPath]:
        """This path and its beginnings, the longest first."""
        path: SearchPath | None = self
        while path is not None:
            yield path
            path = path.before

    def moves(self) -> tuple[Move, ...]:
        """The moves from the beginning."""
        return tuple(path.move for path in self.backwards() if path.move is not None)[::-1]

    @property
    def root(self) -> SearchPath:
        """The beginning."""
        return list(self.backwards())[-1]
