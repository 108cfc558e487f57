"""An execution under construction: a linked list of moves whose beginnings are shared by all branches of a search."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.observe.partial_order import OrderedObservation
from assay.traces.search.next_items import Cursors
from assay.traces.search.transition_system import Taken

UNLOGGED = "unlogged steps"
"""The action of a step that stands for any number of steps without lines (docs/design/reopening.md)."""


@dataclass(frozen=True, slots=True)
class SearchNode:
    """A node of the search: the cursors, the model's state, and the hidden steps since the last action observation."""

    cursors: Cursors
    state: int
    hidden: int


@dataclass(frozen=True, slots=True)
class Move:
    """Hidden steps, then an item with the steps that explain it.

    An ``item`` of None is a step that a repair inserted.
    """

    hidden: tuple[Taken, ...]
    item: OrderedObservation | None
    taken: tuple[Taken, ...]


# Compared by identity: comparison by fields would follow the chain of moves back to the root.
@dataclass(frozen=True, slots=True, eq=False)
class SearchPath:
    """A node with the path to it; a path without a move is a root. ``read`` counts the items read."""

    node: SearchNode
    read: int
    before: SearchPath | None = None
    move: Move | None = None

    def then(self, move: Move, node: SearchNode) -> SearchPath:
        """The path extended by one move."""
        return SearchPath(node, self.read + (move.item is not None), self, move)

    def backwards(self) -> Iterator[SearchPath]:
        """This path and all its prefixes, the longest first."""
        path: SearchPath | None = self
        while path is not None:
            yield path
            path = path.before

    def moves(self) -> tuple[Move, ...]:
        """The moves from the root on."""
        return tuple(path.move for path in self.backwards() if path.move is not None)[::-1]

    @property
    def root(self) -> SearchPath:
        """The empty prefix."""
        return list(self.backwards())[-1]


def unlogged_stretches(path: SearchPath) -> tuple[tuple[float, float], ...]:
    """Between which lines each step lies that stands for unlogged ones, by their times (milliseconds)."""
    found: list[tuple[float, float]] = []
    last, is_open = -inf, False
    for move in path.moves():
        # A move without an item has no time, so a stretch that it opens lasts until the next line.
        is_open = is_open or any(taken.action == UNLOGGED for taken in move.hidden)
        if move.item is not None:
            found += [(last, move.item.time)] if is_open else []
            last, is_open = max(last, move.item.time), False
    return tuple(found)
