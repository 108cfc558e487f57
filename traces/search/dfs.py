"""The search for an execution that explains a whole trace: depth first, in the order of time, with memo.

NOTE(eager observations): An observation that may come next and holds now is read at once, and no other order is tried. That loses
nothing: take an execution that reads it later, and move it to here. It changes no state, it was allowed here, to read it can only allow
other items sooner, and the budget of hidden steps counts between items that are actions. So what was an execution still is one.

NOTE(late hidden steps): With ``reduced``, a hidden step directly before an item is left out of account if the item can also come first,
the step can follow, and both orders lead to the same state: the other order is searched anyway, and by induction some execution with every
hidden step as late as possible is found if any execution exists. Only the count of hidden steps between two pinned items may grow
by this, so that a reduced search proves by failing that there is none only for a budget that was never exhausted.

With ``reduced``, idle items are read at once and doomed ones end a branch, as the notes in ``interference`` say.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from heapq import heappop, heappush
from math import inf

from assay.traces.observe.partial_order import OrderedObservation, PartialOrder
from assay.traces.search.dead_ends import Outlook
from assay.traces.search.dependence import Footprints, Interference
from assay.traces.search.heads import Cursors, TraceHeads, advanced
from assay.traces.search.hidden_closure import Closure, ways
from assay.traces.search.path import Move, SearchNode, SearchPath
from assay.traces.search.transition_system import TraceModel

HIDDEN_COST = 100.0
"""A hidden step is tried before an item that is out of the order of time by more than this many milliseconds."""

HIDDEN_PER_NODE = 10
"""A search ends, too, when hidden steps have led to so many times as many states as it may visit nodes: around each node may be thousands of them."""

DEEPEST_KEPT = 12
"""How many of the deepest nodes a failed search remembers."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The budget of hidden steps between two pinned items, and the most nodes to visit; ``reduced`` as in the module's notes.

    No item is read while another is unread that is older by more than ``window`` milliseconds.
    """

    hidden: int
    nodes: int
    reduced: bool = True
    window: float = inf
    closure: int = 20_000

    @property
    def supposed(self) -> int:
        """How many states hidden steps may lead to in all, around whatever nodes."""
        return max(self.closure, HIDDEN_PER_NODE * self.nodes)


@dataclass(slots=True)
class SearchResult:
    """What a search found: a whole path, or the deepest ones; ``why_stopped`` names the cap that ended it. ``supposed`` counts the states that hidden steps led to.

    ``budget_reached`` says that more hidden steps than the budget allows would have been possible somewhere.
    """

    path: SearchPath | None = None
    deepest: list[SearchPath] = field(default_factory=list)
    visited: int = 0
    supposed: int = 0
    why_stopped: str | None = None
    budget_reached: bool = False


class TraceSearch:
    """One trace and one model; what is learnt about them is shared by all searches."""

    def __init__(
        self,
        model: TraceModel,
        frontier: TraceHeads,
        prints: Footprints | None = None,
        interference: Interference | None = None,
    ) -> None:
        self.model = model
        self.frontier = frontier
        self.prints = Footprints(model) if prints is None else prints
        self._interference = interference
        self._outlooks: dict[float, Outlook] = {}

    def outlook(self, window: float = inf) -> Outlook:
        """What is known of what is ahead where no item is read while another is unread that is older by more than so many milliseconds."""
        found = self._outlooks.get(window)
        if found is None:
            found = self._outlooks[window] = Outlook(self.frontier, self.interference.within(window))
        return found

    @property
    def interference(self) -> Interference:
        """What the items can do to one another."""
        if self._interference is None:
            self._interference = Interference(self.prints, self.frontier.order, self.frontier.order.items)
        return self._interference

    def with_order(self, order: PartialOrder) -> TraceSearch:
        """A search of the same model over other streams."""
        return TraceSearch(self.model, TraceHeads(order), self.prints)

    def with_change(self, order: PartialOrder, item: OrderedObservation | None) -> TraceSearch:
        """A search over streams in which only this item took another's place, or one was left out."""
        return TraceSearch(self.model, TraceHeads(order), self.prints, self.interference.with_item(order, item))

    def settle(self, path: SearchPath, limits: Limits) -> SearchPath:
        """The path with every item read at once that may be: observations that hold now, and idle items."""
        ends = self.outlook(limits.window).interference
        while True:
            node = path.node
            for item in self.frontier.heads(node.cursors).items:
                pinned = item.observation.pinned
                if not pinned and self.model.stays(item, node.state):
                    path = path.then(
                        Move((), item, ()), SearchNode(advanced(node.cursors, item), node.state, node.hidden)
                    )
                    break
                if pinned and limits.reduced and ends.idle(item, node.state, node.cursors):
                    taken = next(steps for after, steps in self.model.consume(item, node.state) if after == node.state)
                    path = path.then(Move((), item, taken), SearchNode(advanced(node.cursors, item), node.state, 0))
                    break
            else:
                return path

    def begin(self, cursors: Cursors) -> list[SearchPath]:
        """The paths that begin in the initial states."""
        return [SearchPath(SearchNode(cursors, state, 0), sum(cursors)) for state in self.model.initial]

    def run(self, beginnings: list[SearchPath], limits: Limits, enough: int | None = None) -> SearchResult:
        """Search for a path that reads everything, or ``enough`` items."""
        finding = SearchResult()
        finding.path = next(self.paths(beginnings, limits, finding, enough), None)
        return finding

    def paths(
        self, beginnings: Iterable[SearchPath], limits: Limits, finding: SearchResult, enough: int | None = None
    ) -> Iterator[SearchPath]:
        """The paths that read everything, or ``enough`` items: of each node at which they end one with the fewest hidden steps is the last.

        What else is found is noted in ``finding``; a cap ends the paths.
        """
        goal = sum(self.frontier.end) if enough is None else min(enough, sum(self.frontier.end))
        seen: dict[tuple[Cursors, int], int] = {}
        stack = [iter([self.settle(path, limits) for path in beginnings])]
        while stack:
            path = next(stack[-1], None)
            if path is None:
                stack.pop()
                continue
            node = path.node
            key = (node.cursors, node.state)
            if seen.get(key, limits.hidden + 1) <= node.hidden:
                continue
            seen[key] = node.hidden
            finding.visited += 1
            self.model.visited += 1
            _remember(finding, path)
            if path.read >= goal:
                yield path
                continue
            if finding.visited >= limits.nodes:
                finding.why_stopped = f"gave up after {limits.nodes:,} states of the search"
                return
            if finding.supposed > limits.supposed:
                finding.why_stopped = f"gave up after {limits.supposed:,} states that hidden steps lead to"
                return
            if limits.reduced and self.outlook(limits.window).hopeless(node.cursors, node.state):
                continue
            stack.append(self.moves(path, limits, finding))

    def moves(self, path: SearchPath, limits: Limits, finding: SearchResult) -> Iterator[SearchPath]:
        """The ways on, the most natural first: by time, and by the number of hidden steps. Few are taken, and only those are worked out and settled."""
        node = path.node
        heads = self.frontier.heads(node.cursors)
        closure = self.outlook(limits.window).closure(node, reduced=limits.reduced)
        ahead = _Ahead()
        level = 0
        while heads.items:
            if ahead.any_below(level * HIDDEN_COST):
                yield self.settle(ahead.take(), limits)
                continue
            known = len(closure.seen)
            reachable = bool(closure.level(level))
            finding.supposed += len(closure.seen) - known
            if reachable and level <= limits.hidden - node.hidden:
                self._look_ahead(ahead, path, closure, level, limits)
                level += 1
            elif ahead.any_below(inf):
                yield self.settle(ahead.take(), limits)
            else:
                finding.budget_reached |= reachable
                return
            if len(closure.seen) > limits.closure:
                finding.why_stopped = f"more than {limits.closure:,} states are within reach of hidden steps"
                return
            if finding.supposed > limits.supposed:
                return

    def _look_ahead(self, ahead: _Ahead, path: SearchPath, closure: Closure, level: int, limits: Limits) -> None:
        """Note the items that may come next after so many hidden steps."""
        heads = self.frontier.heads(path.node.cursors)
        for item in heads.items:
            if item.time > heads.time + limits.window:
                break
            cost = level * HIDDEN_COST + item.time - heads.time
            ahead.add(cost, partial(self._with, path, closure, level, item, limits))

    def _with(
        self, path: SearchPath, closure: Closure, level: int, item: OrderedObservation, limits: Limits
    ) -> Iterator[SearchPath]:
        """The ways on with an item after so many hidden steps."""
        node = path.node
        for way in ways(closure, item, level, reduced=limits.reduced):
            hidden = 0 if item.observation.pinned else node.hidden + level
            target = SearchNode(advanced(node.cursors, item), way.after, hidden)
            move = Move(closure.route(way.origin) if level else (), item, way.taken)
            yield path.then(move, target)


class _Ahead:
    """Ways on by cost, and of one cost as they were noted: each item's are worked out when they are the next.

    Of a hundred brokers each has a line that may come next. To try all of them at every node, of which the first is taken nearly always, made ten times the
    states of the path.
    """

    def __init__(self) -> None:
        self._noted: list[tuple[float, int, Callable[[], Iterable[SearchPath]]]] = []
        self._next: deque[SearchPath] = deque()
        self._cost, self._count = 0.0, 0

    def add(self, cost: float, paths: Callable[[], Iterable[SearchPath]]) -> None:
        """Note what leads to paths, all of one cost."""
        heappush(self._noted, (cost, self._count, paths))
        self._count += 1

    def any_below(self, cost: float) -> bool:
        """Whether there is a path of a lower cost."""
        while not self._next and self._noted and self._noted[0][0] < cost:
            self._cost, _, paths = heappop(self._noted)
            self._next.extend(paths())
        return bool(self._next) and self._cost < cost

    def take(self) -> SearchPath:
        """The next path, if there is any."""
        return self._next.popleft()


def wider(hidden: int) -> int:
    """A budget of hidden steps that tells whether a budget is why there is no execution."""
    return 4 * hidden + 8


def _remember(finding: SearchResult, path: SearchPath) -> None:
    best = finding.deepest[0].read if finding.deepest else -1
    if path.read > best:
        finding.deepest = [path]
    elif path.read == best and len(finding.deepest) < DEEPEST_KEPT:
        finding.deepest.append(path)
