"""Depth-first search, with a memo, for an execution that explains a whole trace; branches are tried in the order of
time.

Three reductions are on by default (``Limits.reduced``). An observation without an action that holds now is read at once
(docs/design/eager-observations.md, always on). Hidden steps are taken as late as possible
(docs/design/late-hidden-steps.md). Invisible items are read at once and dead ends are cut
(``traces.search.dependence``).

A reduced search that finds nothing proves that there is no execution only if no hidden-step budget was reached.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field
from functools import partial
from heapq import heappop, heappush
from math import inf

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.observe.partial_order import OrderedObservation, PartialOrder
from assay.traces.search.dependence import DependenceRelation, ReadWriteTable
from assay.traces.search.hidden_closure import Closure, hidden_paths
from assay.traces.search.next_items import Cursors, TraceHeads, advanced
from assay.traces.search.path import Move, SearchNode, SearchPath
from assay.traces.search.pruning.dead_ends import DeadEnds
from assay.traces.search.pruning.frozen_places import frozen_places
from assay.traces.search.transition_system import TraceModel

HIDDEN_COST = 100.0
"""Trying a hidden step costs as much as reading an item this many milliseconds out of the order of time."""

HIDDEN_PER_NODE = 3
"""A search also ends when hidden steps reached this many times its node limit of states: around each node there may be
thousands.
"""

DEEPEST_KEPT = 12
"""How many of the deepest nodes a failed search keeps, for the blame."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one search: hidden steps between two action observations, and nodes to visit.

    An item is not read while an unread item is older by more than ``window`` milliseconds. ``closure`` limits the
    states that hidden steps reach from one node, ``hidden_per_node`` those around all nodes together, as so many times
    the nodes. ``reduced`` turns the reductions on (see the module's docstring).
    """

    hidden: int
    nodes: int
    reduced: bool = True
    window: float = inf
    closure: int = 20_000
    hidden_per_node: int = HIDDEN_PER_NODE

    @property
    def hidden_states(self) -> int:
        """How many states hidden steps may reach in all, around all nodes together."""
        return max(self.closure, self.hidden_per_node * self.nodes)


@dataclass(slots=True)
class SearchResult:
    """The outcome of a search: a whole path, or else the deepest paths; ``why_stopped`` names the limit that ended it.

    ``hidden_states`` counts the states that hidden steps reached. ``budget_reached`` is true if somewhere more hidden
    steps were possible than the budget allows: then a failed search proves nothing. ``latest`` is the path whose first
    unread item is latest, and which has read the fewest items beyond that.
    """

    path: SearchPath | None = None
    deepest: list[SearchPath] = field(default_factory=list)
    latest: SearchPath | None = None
    visited: int = 0
    hidden_states: int = 0
    why_stopped: str | None = None
    budget_reached: bool = False


class TraceSearch:
    """The searches of one trace in one model; the dependence relation and the dead ends are computed once for all of
    them.
    """

    def __init__(
        self,
        model: TraceModel,
        frontier: TraceHeads,
        effects: ReadWriteTable | None = None,
        dependence: DependenceRelation | None = None,
        initial: Sequence[int] | None = None,
    ) -> None:
        """``initial`` are the states in which it begins, if not those of the model."""
        self.model = model
        self.initial = model.initial if initial is None else initial
        self.frontier = frontier
        self.effects = ReadWriteTable(model) if effects is None else effects
        self._dependence = dependence
        self._dead_ends: dict[float, DeadEnds] = {}

    def dead_ends(self, window: float = inf) -> DeadEnds:
        """The known dead ends for a window (see ``Limits``)."""
        found = self._dead_ends.get(window)
        if found is None:
            relation = self.dependence.within(window)
            frozen = frozen_places(relation, [each.items for each in self.frontier.order.streams])
            excluded = None if frozen is None else frozen.excluded
            found = self._dead_ends[window] = DeadEnds(self.frontier, relation, excluded)
        return found

    @property
    def dependence(self) -> DependenceRelation:
        """The dependence relation of the items."""
        if self._dependence is None:
            self._dependence = DependenceRelation(self.effects, self.frontier.order, self.frontier.order.items)
        return self._dependence

    def with_order(self, order: PartialOrder) -> TraceSearch:
        """A search in the same model over another partial order."""
        return TraceSearch(self.model, TraceHeads(order), self.effects, initial=self.initial)

    def with_change(self, order: PartialOrder, item: OrderedObservation | None) -> TraceSearch:
        """A search over a partial order in which ``item`` replaced another item; if it is None, one was left out."""
        related = self.dependence.with_item(order, item)
        return TraceSearch(self.model, TraceHeads(order), self.effects, related, self.initial)

    def take_ample_steps(self, path: SearchPath, limits: Limits) -> SearchPath:
        """The path extended by all items that may be read at once: observations that hold now, and invisible action
        items.
        """
        dependence = self.dead_ends(limits.window).dependence
        # Each item that is read may make others readable, so the heads are asked for again after each.
        while True:
            node = path.node
            for item in self.frontier.heads(node.cursors).items:
                is_action = item.observation.names_action
                # An observation that holds now changes nothing when it is read. So no other order need be tried.
                if not is_action and self.model.observation_holds(item, node.state):
                    path = path.then(
                        Move((), item, ()), SearchNode(advanced(node.cursors, item), node.state, node.hidden)
                    )
                    break
                if is_action and limits.reduced and dependence.is_invisible(item, node.state, node.cursors):
                    taken = next(steps for after, steps in self.model.consume(item, node.state) if after == node.state)
                    path = path.then(Move((), item, taken), SearchNode(advanced(node.cursors, item), node.state, 0))
                    break
            else:
                return path

    def begin(self, cursors: Cursors) -> list[SearchPath]:
        """The paths of no move, one for each initial state."""
        return [SearchPath(SearchNode(cursors, state, 0), sum(cursors)) for state in self.initial]

    def run(self, beginnings: list[SearchPath], limits: Limits, enough: int | None = None) -> SearchResult:
        """Search for a path that reads all items, or at least ``enough`` items."""
        finding = SearchResult()
        finding.path = next(self.paths(beginnings, limits, finding, enough), None)
        return finding

    def progress(self, path: SearchPath) -> tuple[float, int]:
        """Up to which time a path has read all items, and how few it has read beyond: the greater, the further."""
        return self.frontier.heads(path.node.cursors).time, -path.read

    def paths(
        self, beginnings: Iterable[SearchPath], limits: Limits, finding: SearchResult, enough: int | None = None
    ) -> Iterator[SearchPath]:
        """The paths that read all items, or at least ``enough`` items; the result is also recorded in ``finding``.

        A node at which paths end may be yielded several times: the last path to it has the fewest hidden steps. A limit
        ends the iteration and is named in ``finding.why_stopped``.
        """
        goal = sum(self.frontier.end) if enough is None else min(enough, sum(self.frontier.end))
        seen: dict[tuple[Cursors, int], int] = {}
        stack = [iter([self.take_ample_steps(path, limits) for path in beginnings])]
        furthest: tuple[float, float] = (-inf, -inf) if finding.latest is None else self.progress(finding.latest)
        # No recursion: a path has as many moves as the log has lines.
        while stack:
            path = next(stack[-1], None)
            if path is None:
                stack.pop()
                continue
            node = path.node
            key = (node.cursors, node.state)
            # A node is visited again only with fewer hidden steps: more budget is left, so more may follow.
            if seen.get(key, limits.hidden + 1) <= node.hidden:
                continue
            seen[key] = node.hidden
            finding.visited += 1
            self.model.visited += 1
            _remember(finding, path)
            if (progress := self.progress(path)) > furthest:
                furthest, finding.latest = progress, path
            # Yielded, not returned: `CutPoints` wants every node at the goal.
            if path.read >= goal:
                yield path
                continue
            if finding.visited >= limits.nodes:
                finding.why_stopped = f"gave up after {limits.nodes:,} states of the search"
                return
            if finding.hidden_states > limits.hidden_states:
                finding.why_stopped = f"gave up after {limits.hidden_states:,} states that hidden steps lead to"
                return
            if limits.reduced and self.dead_ends(limits.window).is_dead_end(node.cursors, node.state):
                continue
            stack.append(self.successors(path, limits, finding))

    def successors(self, path: SearchPath, limits: Limits, finding: SearchResult) -> Iterator[SearchPath]:
        """The successors of a path, cheapest first: cost grows with the distance from the order of time and with the
        hidden steps.

        They are made lazily, since a depth-first search takes only the first few of each node.
        """
        node = path.node
        heads = self.frontier.heads(node.cursors)
        closure = self.dead_ends(limits.window).closure(node, reduced=limits.reduced)
        # Items wait here without being tried. A level of the closure is computed only when nothing cheaper is left.
        pending = _Successors()
        level = 0
        while heads.items:
            if pending.any_below(level * HIDDEN_COST):
                yield self.take_ample_steps(pending.take(), limits)
                continue
            # The closure is shared by all nodes of one state. Only what this call adds is work.
            known = len(closure.seen)
            reachable = bool(closure.level(level))
            finding.hidden_states += len(closure.seen) - known
            if reachable and level <= limits.hidden - node.hidden:
                self._add_successors(pending, path, closure, level, limits)
                level += 1
            elif pending.any_below(inf):
                yield self.take_ample_steps(pending.take(), limits)
            else:
                # More hidden steps were possible than the budget allows: a failure is then no proof.
                finding.budget_reached |= reachable
                return
            if len(closure.seen) > limits.closure:
                finding.why_stopped = f"more than {limits.closure:,} states are within reach of hidden steps"
                return
            if finding.hidden_states > limits.hidden_states:
                return

    def _add_successors(
        self, pending: _Successors, path: SearchPath, closure: Closure, level: int, limits: Limits
    ) -> None:
        """Add the items that may be read after ``level`` hidden steps to the frontier, each with its cost."""
        heads = self.frontier.heads(path.node.cursors)
        for item in heads.items:
            # Items are sorted by time, so all later ones are outside the window, too.
            if item.time > heads.time + limits.window:
                break
            cost = level * HIDDEN_COST + item.time - heads.time
            pending.add(cost, partial(self._successors_reading, path, closure, level, item, limits))

    def _successors_reading(
        self, path: SearchPath, closure: Closure, level: int, item: OrderedObservation, limits: Limits
    ) -> Iterator[SearchPath]:
        """The successors of a path that read this item after exactly ``level`` hidden steps."""
        node = path.node
        for route in hidden_paths(closure, item, level, reduced=limits.reduced):
            # The budget is of hidden steps between two lines that name actions. An observation does not renew it: else
            # a log of many observations would allow any number of steps.
            hidden = 0 if item.observation.names_action else node.hidden + level
            target = SearchNode(advanced(node.cursors, item), route.after, hidden)
            move = Move(closure.route(route.origin) if level else (), item, route.taken)
            yield path.then(move, target)


class _Successors:
    """The frontier of one node: its successors by cost, and by order of insertion where costs are equal.

    Successors are made when they are taken. With a hundred brokers a hundred items may come next, and the first is
    nearly always right. To make all of them at every node cost ten times the states of the path.
    """

    def __init__(self) -> None:
        self._noted: list[tuple[float, int, Callable[[], Iterable[SearchPath]]]] = []
        self._next: deque[SearchPath] = deque()
        self._cost, self._count = 0.0, 0

    def add(self, cost: float, paths: Callable[[], Iterable[SearchPath]]) -> None:
        """Add a function that makes successors, all of the same cost."""
        heappush(self._noted, (cost, self._count, paths))
        self._count += 1  # breaks ties in the heap: functions cannot be compared

    def any_below(self, cost: float) -> bool:
        """Whether there is a successor of a lower cost."""
        while not self._next and self._noted and self._noted[0][0] < cost:
            self._cost, _, paths = heappop(self._noted)
            self._next.extend(paths())
        return bool(self._next) and self._cost < cost

    def take(self) -> SearchPath:
        """Remove and return the cheapest successor; ``any_below`` must have returned true."""
        return self._next.popleft()


def wider(hidden: int) -> int:
    """A larger hidden-step budget, to see whether the budget is the reason why there is no execution."""
    return 4 * hidden + 8


def _remember(finding: SearchResult, path: SearchPath) -> None:
    best = finding.deepest[0].read if finding.deepest else -1
    if path.read > best:
        finding.deepest = [path]
    elif path.read == best and len(finding.deepest) < DEEPEST_KEPT:
        finding.deepest.append(path)
