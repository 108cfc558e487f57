"""Fair cycles of a large state graph: the answers of ``checker.liveness.product``, by compiled loops over arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from assay.checker.explicit.liveness.scc_kernels import TO_FAIR, TO_KIND, TO_MARK, TO_NODE, shortest, sweep
from assay.checker.explicit.store.large_arrays import Room
from assay.checker.liveness.product import BuchiProduct, Fairs, ProductTables
from assay.checker.liveness.state_graph import Flags, LabelledGraph, Numbers

BITS = 64
SMALL = 1 << 31
BUNCH = 1 << 18
"""Nodes that are listed together."""

Aim = tuple[int, int, Numbers, Flags]
"""The target of a path search, as ``scc_kernels.shortest`` takes it."""


class CompiledProduct(BuchiProduct):
    """The product of a graph with an automaton. ``room`` allocates the arrays of its loops, one number per
    node each."""

    def __init__(self, graph: LabelledGraph, tables: ProductTables, room: Room) -> None:
        super().__init__(graph, tables)
        self._room = room
        self._nodes = len(graph) * tables.states
        # Half the memory where it suffices; component numbers count down from the number of nodes plus one.
        self._type = np.int32 if self._nodes < SMALL - 1 else np.int64
        marks = tables.marks
        count = 1 + max(
            (0, *marks.needed, *(x for own in marks.of_label for x in own), *(x for own in marks.asked for x in own))
        )
        self._words = -(-count // BITS)
        of = (marks.of_way, marks.of_label, marks.of_kind, marks.asked)
        self._marks = (*map(self._as_words, of), self._as_words([marks.needed])[0])
        self._product = (
            graph.starts, graph.targets, graph.labels, graph.kinds_of,
            tables.first.astype(np.int64), tables.targets, tables.admits, tables.passes,
        )  # fmt: skip
        self._numbers = np.array([0, 1], np.int64)
        self._met = np.zeros(self._words, np.uint64)
        self._seen: Numbers | None = None

    def _as_words(self, sets: Sequence[Iterable[int]]) -> Numbers:
        words = np.zeros((len(sets), self._words), np.uint64)
        for at, own in enumerate(sets):
            for mark in own:
                words[at, mark // BITS] |= np.uint64(1 << mark % BITS)
        return words

    # ------------------------------------------------------------------------------------------------- cycles

    def fair(self, *, stopping: bool = False) -> Fairs:
        """The nodes on fair cycles. With ``stopping``, cycles of the stuttering step alone, among the nodes that the
        other call reached."""
        # Region 1 is all nodes. What remains of a component is examined again, as region 2, 3 and so on.
        part, index = (self._room.zeros(self._nodes, self._type) for _ in range(2))
        self._numbers[:] = 0, 1
        if stopping:
            assert self._seen is not None
            part[self._seen] = 1
            self._look_again(part, index, 0, stopping=True)
        else:
            part[:] = 1
            self._sweep([np.array(self.roots, self._type)], part, index, stopping=False)
            self._look_again(part, index, 1, stopping=False)
            if (part < 0).any():
                self._seen = index != 0
            else:
                part[:] = 0
        self._room.take_back(index)
        return Fairs(part, stopping)

    def _look_again(self, part: Numbers, index: Numbers, last: int, *, stopping: bool) -> None:
        """Find components of regions after ``last``, then of the regions that remain of those, until there are none."""
        while (newest := int(part.max(initial=0))) > last:
            self._sweep(_after(part, last), part, index, stopping=stopping)
            last = newest

    def _sweep(self, roots: Iterable[Numbers], part: Numbers, index: Numbers, *, stopping: bool) -> None:
        """Find the components reachable from the roots, which come in bunches."""
        place = np.int32 if len(self.graph.targets) * len(self.tables.ways) < SMALL else np.int64
        # A component of stuttering steps lies within one state, so its stacks need a place for each automaton state
        # only.
        size = (self.tables.states if stopping else self._nodes) + 1
        stack, places = self._room.empty(size, self._type), self._room.empty(size, place)
        for each in roots:
            sweep(each, part, index, stack, places, self._numbers, self._met, self._product, self._marks, stopping)
        for array in (stack, places):
            self._room.take_back(array)

    # -------------------------------------------------------------------------------------------------- paths

    def trouble(self) -> tuple[int, int] | None:
        """The first node where a literal has no value, and the transition with that literal."""
        troubled = self.tables.troubled
        if not troubled.any():
            return None
        asking = np.zeros((len(self.graph.kinds), self.tables.states), bool)
        for q in range(self.tables.states):
            asking[:, q] = troubled[:, self._ways(q)].any(axis=1)
        # A path that is searched has one step at least, so initial nodes are asked first.
        here = [node for node in self.roots if asking[self.kind(node), self.split(node)[1]]]
        path = here[:1] or self._shortest(self.roots, self._aim(TO_KIND, kinds=asking))
        if not path:
            return None
        asked = troubled[self.kind(path[-1])]
        return path[-1], next(way for way in self._ways(self.split(path[-1])[1]) if asked[way])

    def _ways(self, q: int) -> list[int]:
        return list(range(int(self.tables.first[q]), int(self.tables.first[q + 1])))

    def to_fair(self, fairs: Fairs) -> list[int]:
        """A shortest path from an initial node to a node on a fair cycle."""
        here = [node for node in self.roots if fairs.component[node] < 0]
        return here[:1] or self._shortest(self.roots, self._aim(TO_FAIR), fairs.component)

    def to_mark(self, start: int, wanted: frozenset[int], fairs: Fairs) -> list[int]:
        """A shortest path inside the component of ``start`` that collects one of the wanted marks; such a path must
        exist."""
        return self._inside_component(start, self._aim(TO_MARK, marks=wanted), fairs)

    def to_node(self, start: int, goal: int, fairs: Fairs) -> list[int]:
        """A shortest path of one step at least inside the component of both."""
        return self._inside_component(start, self._aim(TO_NODE, goal), fairs)

    def _inside_component(self, start: int, aim: Aim, fairs: Fairs) -> list[int]:
        inside = int(fairs.component[start])
        return self._shortest([start], aim, fairs.component, inside, stopping=fairs.stopping)

    def _aim(self, sort: int, goal: int = -1, marks: frozenset[int] = frozenset(), kinds: Flags | None = None) -> Aim:
        return sort, goal, self._as_words([marks])[0], np.zeros((1, 1), bool) if kinds is None else kinds

    def _shortest(
        self, sources: Sequence[int], aim: Aim, part: Numbers | None = None, inside: int = 0, *, stopping: bool = False
    ) -> list[int]:
        """A shortest path to what is looked for; empty if there is none."""
        parts = np.zeros(1, self._type) if part is None else part
        before, queue = (self._room.empty(self._nodes, self._type) for _ in range(2))
        before[:] = -1
        queue[: len(sources)] = sources
        before[sources] = sources
        node, last = shortest(before, queue, len(sources), parts, inside, aim, self._product, self._marks, stopping)
        # `shortest` returns the last step, from `node` to `last`; `before` leads back to a source, which is before
        # itself.
        path = [int(last), int(node)] if last >= 0 else []
        while path and before[path[-1]] != path[-1]:
            path.append(int(before[path[-1]]))
        for array in (before, queue):
            self._room.take_back(array)
        return path[::-1]


def _after(part: Numbers, last: int) -> Iterator[Numbers]:
    """The nodes of regions after ``last``, in bunches."""
    for begin in range(0, len(part), BUNCH):
        yield (np.flatnonzero(part[begin : begin + BUNCH] > last) + begin).astype(part.dtype)
