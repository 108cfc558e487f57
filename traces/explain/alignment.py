"""The cheapest way through the lines around a mismatch, with several repairs (docs/design/ranking-of-repairs.md).

An alignment in the sense of process mining (van der Aalst, Adriansyah, van Dongen 2012). A line that the model takes
costs nothing, nor does a hidden step. A line that is left out costs 1, and so does a step without its line. Two lines
that are exchanged cost 2. Nodes are expanded by cost, then the furthest first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.observe.partial_order import OrderedObservation
from assay.traces.search.next_items import Cursors, advanced
from assay.traces.search.path import Move, SearchNode, SearchPath
from assay.traces.search.transition_system import Taken

if TYPE_CHECKING:
    from assay.traces.explain.repair_candidates import Candidate, SingleRepairs

BACK = 40
"""How many lines before the mismatch a repair is looked for."""

MOST_COST = 4
"""No alignment that costs more is looked for: with so many repairs anything is explained."""

EXPANDED = 1_500
"""How many nodes are expanded at most."""

OCCURRENCES = 12_000
"""How many steps without a line are tried at most."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """The cost of an alignment, with its first repair; None if nothing has to be repaired."""

    cost: int
    first: Candidate | None


@dataclass(frozen=True, slots=True, eq=False)
class _Node:
    """A point of an alignment: the path to its first repair, the hidden steps behind that path, and where it is now."""

    path: SearchPath
    unseen: tuple[Taken, ...]
    first: Candidate | None
    cursors: Cursors
    state: int
    hidden: int


class _Aligner:
    def __init__(self, repairs: SingleRepairs, enough: int, budget: int) -> None:
        self._repairs, self._search, self._model = repairs, repairs.search, repairs.search.model
        self._enough, self._budget = enough, budget
        self._heap: list[tuple[int, int, int, bool, _Node]] = []
        self._numbers = count()
        self._best: dict[tuple[Cursors, int], tuple[int, int]] = {}
        self._tried = 0

    def run(self, starts: Sequence[SearchPath]) -> Alignment | None:
        """The cheapest alignment from one of some paths on; None if none was found within the limits."""
        for path in starts:
            at = path.node
            self._add(0, _Node(path, (), None, at.cursors, at.state, at.hidden))
        for _ in range(EXPANDED):
            if not self._heap or self._tried > OCCURRENCES:
                return None
            cost, _, _, repairs, node = heappop(self._heap)
            # The heap is ordered by cost, so the first node that reads enough lines is the cheapest.
            if sum(node.cursors) >= self._enough:
                return Alignment(cost, node.first)
            # The entry was pushed at the least that a repair costs; each repair adds its own cost to that of the node.
            if repairs:
                self._add_repaired(cost - 1, node)
                continue
            # A cheaper way to the same point and state was found after this node was pushed.
            if self._best[node.cursors, node.state] < (cost, node.hidden):
                continue
            self._add_taken(cost, node)
            if cost < MOST_COST:
                # Repairs are made only when nothing cheaper is left, and so for few nodes: they are what takes long.
                self._push(cost + 1, node, repairs=True)
        return None

    def _push(self, cost: int, node: _Node, *, repairs: bool) -> None:
        # The numbers are unique, so a comparison never comes to the node.
        heappush(self._heap, (cost, -sum(node.cursors), next(self._numbers), repairs, node))

    def _add(self, cost: int, node: _Node) -> None:
        # One alignment for each point and state: cheaper, or as cheap with fewer hidden steps, so that more may follow.
        key = node.cursors, node.state
        if cost <= MOST_COST and (cost, node.hidden) < self._best.get(key, (MOST_COST + 1, 0)):
            self._best[key] = cost, node.hidden
            self._push(cost, node, repairs=False)

    def _heads(self, node: _Node) -> tuple[OrderedObservation, ...]:
        return self._search.frontier.heads(node.cursors).items

    def _add_taken(self, cost: int, node: _Node) -> None:
        """The lines that the model takes now, and the hidden steps."""
        for item in self._heads(node):
            for after, taken in self._model.consume(item, node.state):
                # As in the search itself: only a line that names an action ends a row of hidden steps.
                hidden = 0 if item.observation.names_action else node.hidden
                cursors, path = advanced(node.cursors, item), node.path
                if node.first is None:
                    path = path.then(Move(node.unseen, item, taken), SearchNode(cursors, after, hidden))
                self._add(cost, _Node(path, (), node.first, cursors, after, hidden))
        if node.hidden < self._budget:
            for step in self._model.hidden(node.state):
                # Behind the first repair only the cost counts: the search goes on from that repair, by itself.
                unseen = (*node.unseen, step) if node.first is None else ()
                self._add(cost, _Node(node.path, unseen, node.first, node.cursors, step.state, node.hidden + 1))

    def _add_repaired(self, cost: int, node: _Node) -> None:
        """What one repair leads to."""
        for item in self._heads(node):
            # Only the first repair is returned, so later ones are counted and not made: making one copies a stream.
            first = node.first or self._repairs.dropped(node.path, item)
            cursors = advanced(node.cursors, item)
            self._add(cost + 1, _Node(node.path, (), first, cursors, node.state, node.hidden))
            for after in self._exchanged(node, item):
                swap = node.first or self._repairs.exchanged(node.path, item)
                if swap is not None:
                    following = self._search.frontier.order.streams[item.stream].items[item.position + 1]
                    self._add(cost + 2, _Node(node.path, (), swap, advanced(cursors, following), after, 0))
        for taken in self._steps(node.state):
            step = node.first or self._repairs.added(node.path, node.unseen, taken)
            self._add(cost + 1, _Node(node.path, (), step, node.cursors, taken.state, 0))

    def _exchanged(self, node: _Node, item: OrderedObservation) -> Iterator[int]:
        """The states after the line behind a line, and then the line itself."""
        for following in self._search.frontier.order.streams[item.stream].items[item.position + 1 : item.position + 2]:
            for between, _ in self._model.consume(following, node.state):
                yield from (after for after, _ in self._model.consume(item, between))

    def _steps(self, state: int) -> Iterator[Taken]:
        for taken in self._repairs.steps(state):
            # Steps that change nothing count too, because the evaluation is what takes long.
            self._tried += 1
            if taken.state != state:
                yield taken


def cheapest_alignment(
    repairs: SingleRepairs, starts: Sequence[SearchPath], enough: int, budget: int
) -> Alignment | None:
    """The cheapest alignment until ``enough`` lines are read, with at most ``budget`` hidden steps in a row."""
    return _Aligner(repairs, min(enough, sum(repairs.search.frontier.end)), budget).run(starts)


def before(deepest: Sequence[SearchPath]) -> list[SearchPath]:
    """The points of some paths from which an alignment may go on. They lie as far back as it looks, and behind the last
    step that an earlier repair added.
    """
    found: list[SearchPath] = []
    for path in deepest:
        for step in path.backwards():
            found.append(step)
            if path.read - step.read >= BACK or (step.move is not None and step.move.item is None):
                break
    return found
