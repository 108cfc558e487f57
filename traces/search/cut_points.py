"""Where a log can be cut in two: every item before the cut certainly happened before every item after it.

All executions pass a cut with the same items read, and the states they may be in there do not depend on what follows.
So a log with a few changed lines is searched from the last cut before the change. The argument, and what the
hidden-step budget has to do with it, are in docs/design/cut-points.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf

from assay.grammar.identity_memo import IdentityMemo
from assay.grammar.lazy_dataclass import dataclass
from assay.traces.observe.partial_order import OrderedObservation, PartialOrder
from assay.traces.search.dependence import DependenceRelation
from assay.traces.search.dfs import Limits, SearchResult, TraceSearch, wider
from assay.traces.search.next_items import Cursors, TraceHeads
from assay.traces.search.path import SearchPath

# In the recorded runs A0, A1, A2 and B3 all executions are in one state at each cut.
NODES = 20_000
"""How many nodes may be visited between two cuts to find all nodes at the second."""


@dataclass(frozen=True, slots=True)
class CutPoint:
    """A cut at which a search may begin, with one path to each of its nodes."""

    cursors: Cursors
    paths: tuple[SearchPath, ...]

    def at(self, cursors: Cursors) -> CutPoint:
        """The same cut, with the cursors of another partial order."""
        paths = (replace(path, node=replace(path.node, cursors=cursors)) for path in self.paths)
        return CutPoint(cursors, tuple(paths))


def cuts(order: PartialOrder) -> list[Cursors]:
    """The cursors at which all items read certainly precede all others, without the beginning and the end."""
    found: list[Cursors] = []
    read = [0] * len(order.streams)
    latest = -inf
    for item in sorted(order.items, key=lambda item: (item.earliest, item.index)):
        # With the skew even within one node: a cut too few costs time, a wrong one an execution.
        if order.timed and latest > -inf and latest + order.skew < item.earliest:
            found.append(tuple(read))
        read[item.stream] += 1
        latest = max(latest, item.latest)
    return found


class CutPoints:
    """The cuts of a log that has an execution. Each is explored when a change after it is first checked."""

    def __init__(self, search: TraceSearch) -> None:
        self._search = search
        self._open = cuts(search.frontier.order)[::-1]
        start = search.frontier.start
        self._known = [CutPoint(start, tuple(search.begin(start)))]

    def before_change(self, order: PartialOrder) -> CutPoint:
        """The last cut before which another partial order has the same items.

        The other order may lack streams of this one, or have more.
        """
        mine = self._search.frontier.order.streams
        begins = IdentityMemo((stream.items[0].observation.event, at) for at, stream in enumerate(mine) if stream.items)
        places = [begins.get(stream.items[0].observation.event) if stream.items else None for stream in order.streams]
        pairs = list(zip(places, order.streams, strict=True))
        same = [0 if at is None else _common(mine[at].items, stream.items) for at, stream in pairs]
        for cursors in [each for each in cuts(order) if all(map(int.__le__, each, same))][::-1]:
            own = [0] * len(mine)
            for at, cursor in zip(places, cursors, strict=True):
                if at is not None:
                    own[at] = cursor
            if (found := self._at(tuple(own))) is not None:
                return found.at(cursors)
        start = (0,) * len(order.streams)
        return CutPoint(start, tuple(self._search.begin(start)))

    def _at(self, cursors: Cursors) -> CutPoint | None:
        """The cut at these cursors; None if there is none, or if its nodes are not all known."""
        # Cuts lie in a row, so the number of items read orders them. Each is explored from the one before it.
        while self._open and sum(self._open[-1]) <= sum(cursors):
            self._explore(self._open.pop())
        return next((cut for cut in self._known if cut.cursors == cursors), None)

    def _explore(self, end: Cursors) -> None:
        hidden = self._search.model.plan.hidden_limit
        nodes, finding = self._nodes(end, hidden)
        if finding.budget_reached:
            more, wide = self._nodes(end, wider(hidden))
            finding.why_stopped = finding.why_stopped or wide.why_stopped
            # A wider budget leads to other nodes here: a search from this cut could miss an execution, so it is no cut.
            if _hidden(more) != _hidden(nodes):
                return
        if finding.why_stopped is None:
            self._known.append(CutPoint(end, tuple(nodes.values())))

    def _nodes(self, end: Cursors, hidden: int) -> tuple[dict[int, SearchPath], SearchResult]:
        """A path to each state at ``end`` from the last known cut, with the fewest hidden steps since the last action
        observation.
        """
        order, begin = self._search.frontier.order, self._known[-1]
        streams = list(zip(order.streams, begin.cursors, end, strict=True))
        until = replace(order, streams=tuple(replace(s, items=s.items[:last]) for s, _, last in streams))
        items = [item for stream, first, last in streams for item in stream.items[first:last]]
        effects = self._search.effects
        stage = TraceSearch(self._search.model, TraceHeads(until), effects, DependenceRelation(effects, until, items))
        finding = SearchResult()
        # Of several paths to a node the last has the fewest hidden steps, and a dict keeps the last.
        found = {path.node.state: path for path in stage.paths(begin.paths, Limits(hidden, NODES), finding)}
        return found, finding


def _common(old: Sequence[OrderedObservation], new: Sequence[OrderedObservation]) -> int:
    """The length of the common prefix."""
    pairs = zip(old, new, strict=False)
    return next((at for at, (one, other) in enumerate(pairs) if not _alike(one, other)), min(len(old), len(new)))


def _alike(one: OrderedObservation, other: OrderedObservation) -> bool:
    mine, its = one.observation, other.observation
    if (one.earliest, one.latest) != (other.earliest, other.latest):
        return False
    return mine is its or (mine.event is its.event and mine.rule is its.rule and mine.values == its.values)


def _hidden(nodes: Mapping[int, SearchPath]) -> dict[int, int]:
    return {state: path.node.hidden for state, path in nodes.items()}
