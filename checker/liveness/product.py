"""The product of a state graph and an automaton, and its fair cycles: the slow and obvious version, with networkx.

A node is a state s and an automaton state q, numbered s * Q + q. An edge from (s, q) combines a transition of q whose
literals hold in s with a step of s whose events the transition allows. The step may be the stuttering step. Edges
collect marks of acceptance sets, of weak fairness and of strong fairness. Weak fairness marks a state in which the
event is not enabled, and an occurrence of it; strong fairness an occurrence.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from assay.checker.liveness.buchi import Automaton, Transition
from assay.checker.liveness.nnf import Enabled, Occurs, StateCondition
from assay.checker.liveness.plan import Plan
from assay.checker.liveness.state_graph import Flags, Kind, LabelledGraph, Numbers
from assay.grammar.lazy_dataclass import dataclass

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True, slots=True)
class Marks:
    """What a fair cycle must collect: every mark of ``needed``, and a ``strong`` one if its event is enabled on the
    cycle.

    ``of_way``, ``of_label`` and ``of_kind`` are the marks of each transition, label and kind of states, as sets of
    numbers. ``asked`` are for each kind the marks of strong fairness that become necessary.
    """

    needed: frozenset[int]
    of_way: tuple[frozenset[int], ...]
    of_label: tuple[frozenset[int], ...]
    of_kind: tuple[frozenset[int], ...]
    asked: tuple[frozenset[int], ...]


class ProductTables:
    """What the product needs to know about kinds, labels and transitions, computed once.

    ``ways`` are the transitions of all automaton states, those of q from ``first[q]`` up to ``first[q + 1]``.
    ``admits[kind, way]``: its literals hold in such states. ``troubled[kind, way]``: none is false, but one is
    undefined. ``passes[label, way]``: it allows such steps.
    """

    def __init__(self, graph: LabelledGraph, automaton: Automaton, plan: Plan) -> None:
        self.states = len(automaton.ways)
        self.ways = tuple(way for own in automaton.ways for way in own)
        self.first = np.cumsum([0, *map(len, automaton.ways)])
        self.targets = np.array([way.target for way in self.ways], np.int64)
        self._plan = plan
        verdicts = [[self._verdict(kind, way) for way in self.ways] for kind in graph.kinds]
        shape = (len(graph.kinds), len(self.ways))
        self.admits: Flags = np.array([[v is True for v in row] for row in verdicts], bool).reshape(shape)
        self.troubled: Flags = np.array([[v is None for v in row] for row in verdicts], bool).reshape(shape)
        passes = [[self._passes(events, way) for way in self.ways] for events in graph.events]
        self.passes: Flags = np.array(passes, bool).reshape(len(graph.events), len(self.ways))
        self.marks = self._marks(graph, automaton.sets)

    def _verdict(self, kind: Kind, way: Transition) -> bool | None:
        """Whether the literals about states hold; None if none is false and one is undefined."""
        troubled = False
        for literal in way.literals:
            letter = self._plan.letters[literal.letter]
            if isinstance(letter, Occurs):
                continue
            if isinstance(letter, Enabled) and self._plan.events.index(letter.event) in kind.cut:
                return False  # neither true nor false: no run may rest on what a bound cut off
            # A condition without value excludes nothing yet: another literal may be false, and then it does not matter.
            if isinstance(letter, StateCondition) and literal.letter in kind.undefined:
                troubled = True
            elif (literal.letter in kind.true) is not literal.positive:
                return False
        return None if troubled else True

    def _passes(self, events: frozenset[int], way: Transition) -> bool:
        for literal in way.literals:
            letter = self._plan.letters[literal.letter]
            if isinstance(letter, Occurs) and (self._plan.events.index(letter.event) in events) is not literal.positive:
                return False
        return True

    def _marks(self, graph: LabelledGraph, sets: int) -> Marks:
        numbered = [(sets + at, self._plan.events.index(fair.event)) for at, fair in enumerate(self._plan.fair)]
        weak = [pair for pair, fair in zip(numbered, self._plan.fair, strict=True) if not fair.strong]
        strong = [pair for pair, fair in zip(numbered, self._plan.fair, strict=True) if fair.strong]
        # What a bound cuts off counts as enabled for fairness (docs/design/fairness-bounds.md).
        able = [kind.enabled | kind.cut for kind in graph.kinds]
        return Marks(
            frozenset([*range(sets), *(mark for mark, _ in weak)]),
            tuple(way.accepting for way in self.ways),
            tuple(frozenset(mark for mark, event in numbered if event in events) for events in graph.events),
            tuple(frozenset(mark for mark, event in weak if event not in here) for here in able),
            tuple(frozenset(mark for mark, event in strong if event in here) for here in able),
        )


@dataclass(frozen=True, slots=True)
class Fairs:
    """The nodes on fair cycles: they have the negative number of their component, other nodes a number that is not
    negative.

    ``stopping``: only cycles that stay in one state.
    """

    component: Numbers
    stopping: bool

    @property
    def found(self) -> bool:
        """Whether there is any."""
        return bool((self.component < 0).any())


class BuchiProduct:
    """The part of the product that is reachable from the initial nodes."""

    def __init__(self, graph: LabelledGraph, tables: ProductTables) -> None:
        self.graph = graph
        self.tables = tables

    # -------------------------------------------------------------------------------------------------- nodes

    def split(self, node: int) -> tuple[int, int]:
        """The state and the automaton state of a node."""
        return divmod(node, self.tables.states)

    @property
    def roots(self) -> list[int]:
        """The initial nodes."""
        return [state * self.tables.states for state in range(self.graph.initial)]

    def kind(self, node: int) -> int:
        """The number of the kind of a node's state."""
        return int(self.graph.kinds_of[node // self.tables.states])

    def steps(self, node: int, *, stopping: bool = False) -> Iterator[tuple[int, frozenset[int]]]:
        """The successors of a node, with the marks of each edge; with ``stopping`` only those with the same state."""
        state, q = self.split(node)
        t, graph = self.tables, self.graph
        # Label 0 is no step: every run may stay in its state for ever, if fairness lets it.
        edges = [(state, 0)]
        if not stopping:
            begin, end = int(graph.starts[state]), int(graph.starts[state + 1])
            edges += zip(graph.targets[begin:end].tolist(), graph.labels[begin:end].tolist(), strict=True)
        for way in range(int(t.first[q]), int(t.first[q + 1])):
            if t.admits[self.kind(node), way]:
                for target, label in edges:
                    if t.passes[label, way]:
                        marks = t.marks.of_way[way] | t.marks.of_label[label]
                        yield target * t.states + int(t.targets[way]), marks

    @cached_property
    def reached(self) -> list[int]:
        """The reachable nodes, in breadth-first order."""
        seen = dict.fromkeys(self.roots)
        queue = deque(seen)
        while queue:
            for node, _ in self.steps(queue.popleft()):
                if node not in seen:
                    seen[node] = None
                    queue.append(node)
        return list(seen)

    def trouble(self) -> tuple[int, int] | None:
        """The first node where a literal is undefined, and the transition with that literal; None if there is none."""
        for node in self.reached:
            _, q = self.split(node)
            begin, end = int(self.tables.first[q]), int(self.tables.first[q + 1])
            for way in range(begin, end):
                if self.tables.troubled[self.kind(node), way]:
                    return node, way
        return None

    # ------------------------------------------------------------------------------------------------- cycles

    def fair(self, *, stopping: bool = False) -> Fairs:
        """The nodes on fair cycles.

        A strongly connected component that lacks a needed mark has no fair cycle. If it lacks a mark of strong
        fairness, no fair cycle passes the nodes that ask for it: they are removed, and the rest is decomposed again (E.
        A. Emerson and C.-L. Lei, 1987).
        """
        import networkx as nx  # noqa: PLC0415 - a tenth of a second, and most specs ask for no cycle

        whole: nx.MultiDiGraph[int] = nx.MultiDiGraph()
        for node in self.reached:
            whole.add_edges_from((node, to, {"marks": marks}) for to, marks in self.steps(node, stopping=stopping))
        found = np.zeros(len(self.graph) * self.tables.states, np.int64)
        number = 0
        regions: list[Iterable[int]] = [whole.nodes]
        while regions:
            region = whole.subgraph(regions.pop())
            for component in nx.strongly_connected_components(region):
                rest = self._without_unfair(region.subgraph(component))
                # Nothing was left out: a way around all of the component collects every mark that it has.
                if rest == component:
                    number -= 1
                    found[list(component)] = number
                elif rest:
                    regions.append(rest)
        return Fairs(found, stopping)

    def _without_unfair(self, component: nx.MultiDiGraph[int]) -> set[int]:
        """The nodes of the component through which a fair cycle may go, judging by the marks of the whole component."""
        # A single node without an edge to itself is a component, and no cycle.
        if not component.number_of_edges():
            return set()
        of_kind, asked = self.tables.marks.of_kind, self.tables.marks.asked
        met = frozenset[int]().union(*(step["marks"] for _, _, step in component.edges(data=True)))
        met |= frozenset().union(*(of_kind[self.kind(node)] for node in component))
        if self.tables.marks.needed - met:
            return set()
        return {node for node in component if asked[self.kind(node)] <= met}

    # -------------------------------------------------------------------------------------------------- paths

    def to_fair(self, fairs: Fairs) -> list[int]:
        """A shortest path from an initial node to a node on a fair cycle."""
        here = next((node for node in self.roots if fairs.component[node] < 0), None)
        if here is not None:
            return [here]
        return self._search(self.roots, None, lambda node, _: bool(fairs.component[node] < 0), stopping=False)

    def marks_between(self, node: int, to: int, *, stopping: bool) -> frozenset[int]:
        """The marks that a step between two nodes may collect, and those of the node that it leads to."""
        ways = (marks for target, marks in self.steps(node, stopping=stopping) if target == to)
        return self.tables.marks.of_kind[self.kind(to)].union(*ways)

    def to_mark(self, start: int, wanted: frozenset[int], fairs: Fairs) -> list[int]:
        """A shortest path inside the component of ``start`` that collects one of the wanted marks; such a path must
        exist."""
        of_kind = self.tables.marks.of_kind

        def collects(node: int, marks: frozenset[int]) -> bool:
            return bool(wanted & (marks | of_kind[self.kind(node)]))

        return self._inside(start, collects, fairs)

    def to_node(self, start: int, goal: int, fairs: Fairs) -> list[int]:
        """A shortest path of at least one step inside the component of both nodes."""
        return self._inside(start, lambda node, _: node == goal, fairs)

    def _inside(self, start: int, wanted: Callable[[int, frozenset[int]], bool], fairs: Fairs) -> list[int]:
        # Within one component: on a way through others a cycle would not come back.
        inside = set(np.flatnonzero(fairs.component == fairs.component[start]).tolist())
        return self._search([start], inside, wanted, stopping=fairs.stopping)

    def _search(
        self,
        sources: Sequence[int],
        inside: Container[int] | None,
        wanted: Callable[[int, frozenset[int]], bool],
        *,
        stopping: bool,
    ) -> list[int]:
        """A shortest path of at least one step, through nodes ``inside``, whose last step is wanted."""
        before: dict[int, int | None] = dict.fromkeys(sources)
        queue = deque(before)
        while queue:
            node = queue.popleft()
            for to, marks in self.steps(node, stopping=stopping):
                if inside is not None and to not in inside:
                    continue
                if wanted(to, marks):
                    return [*_way_to(before, node), to]
                if to not in before:
                    before[to] = node
                    queue.append(to)
        raise AssertionError("a fair component is not connected")


def _way_to(before: dict[int, int | None], node: int | None) -> list[int]:
    path = []
    while node is not None:
        path.append(node)
        node = before[node]
    return path[::-1]
