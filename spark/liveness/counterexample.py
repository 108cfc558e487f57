"""A run that violates a property, followed by the driver through a product that tasks hold, of which it never has more than the nodes of that run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate

import numpy as np

from assay.checker.explicit.liveness.distributed_trimming import as_words
from assay.checker.liveness.lasso import Lasso, around
from assay.checker.liveness.product import BuchiProduct, Fairs, ProductTables
from assay.checker.liveness.state_graph import LabelledGraph
from assay.spark.liveness import product_tasks as tasks
from assay.spark.liveness import shortest_path_tasks
from assay.spark.liveness.product_tasks import Rounds
from assay.spark.liveness.shortest_path_tasks import Aim, Came, ProductNode, Route, ToLeft, ToMarks, ToPlaces
from assay.spark.search.cluster_bfs import ClusterSearch
from assay.spark.storage.filesystem import Storage


class _NoWayError(Exception):
    """There is no way from a node to what is looked for, though there was one from a node before it: the way led out of a component."""

    def __init__(self, node: int) -> None:
        super().__init__(node)
        self.node = node


class SpreadProduct(BuchiProduct):
    """The product that tasks have trimmed, as one whose nodes are numbered task by task. ``run`` runs a job of theirs."""

    def __init__(self, shape: LabelledGraph, tables: ProductTables, trimmed: tasks.ProductInfo, run: Rounds) -> None:
        super().__init__(shape, tables)
        self._trimmed = trimmed
        self._run = run
        self._offsets = [0, *accumulate(part.drawn.states for part in trimmed.parts)]
        self._storage = Storage(trimmed.graph.workdir)
        self._met: dict[tuple[int, int], frozenset[int]] = {}
        self._fairs = Fairs(np.zeros(0, np.int64), trimmed.stopping)

    # -------------------------------------------------------------------------------------------------- nodes

    def place(self, node: int) -> ProductNode:
        """Where a node is."""
        number, q = self.split(node)
        part = int(np.searchsorted(self._offsets, number, "right")) - 1
        return ProductNode(part, number - self._offsets[part], q)

    def _node(self, place: ProductNode) -> int:
        return (self._offsets[place.part] + place.state) * self.tables.states + place.q

    def kind(self, node: int) -> int:
        """The number of the kind of a node's state, from the file of its task."""
        place = self.place(node)
        part = self._trimmed.parts[place.part]
        section = self._storage.section(part.drawn.file_of_kinds, 4 * place.state, 4)
        return int(part.kinds[int(np.frombuffer(section, np.uint32)[0])])

    def marks_between(self, node: int, to: int, *, stopping: bool) -> frozenset[int]:
        """The marks that the step between two nodes collects by which a way led from one to the other."""
        assert stopping is self._trimmed.stopping
        return self._met[node, to]

    # --------------------------------------------------------------------------------------------------- runs

    def lasso(self) -> Lasso:
        """A fair run to what trimming left, and on in it."""
        cycle = self._cycle(self.way(ToLeft())[-1])
        prefix = self.way(ToPlaces(tuple(map(self.place, cycle[1:])), inside=False))
        at = cycle.index(prefix[-1])
        rest = [*cycle[at + 1 :], *cycle[1 : at + 1]]
        return Lasso(tuple(self.split(node)[0] for node in (*prefix, *rest)), len(prefix) - 1)

    def _cycle(self, start: int) -> list[int]:
        """A fair cycle that some way leads to; where there is none through a node, there is one farther on (docs/design/distributed-liveness.md).

        From the node at which a way ends there is none back, so that the next node is in a later component; a node that is on no cycle is left by a step.
        """
        while True:
            try:
                return around(self, start, self._fairs)
            except _NoWayError as lost:
                start = self.way(ToLeft(), start)[1] if lost.node == start else lost.node

    def to_mark(self, start: int, wanted: frozenset[int], fairs: Fairs) -> list[int]:  # noqa: ARG002 - those of this product
        """A shortest way, through what is left, that collects one of the wanted marks."""
        return self.way(ToMarks(as_words([wanted], self._trimmed.rules.words)[0]), start)

    def to_node(self, start: int, goal: int, fairs: Fairs) -> list[int]:  # noqa: ARG002 - those of this product
        """A shortest way of one step at least, through what is left, to a node."""
        return self.way(ToPlaces((self.place(goal),), inside=True), start)

    def way(self, aim: Aim, start: int | None = None) -> list[int]:
        """The nodes of a shortest way from a node, or from an initial one; raises ``_NoWayError`` if there is none from that node."""
        found = self.look(aim, start)
        if found is None:
            assert start is not None, "tasks had found that there is a way"
            raise _NoWayError(start)
        return found

    def look(self, aim: Aim, start: int | None = None) -> list[int] | None:
        """As ``way``, None if there is none."""
        route = Route(self._trimmed, aim, None if start is None else self.place(start))
        route, answers = self._after(route, self._run(tasks.nothing, partial(shortest_path_tasks.begun, route)))
        while any(each.fresh for each in answers) and all(each.at < 0 for each in answers):
            texts = self._run(partial(shortest_path_tasks.told, route), partial(shortest_path_tasks.heard, route))
            route, answers = self._after(route, texts)
        places = [ProductNode(part, each.at, 0) for part, each in enumerate(answers) if each.at >= 0]
        way = self._followed(route, route.start or places[0]) if places else None
        self._forget(route)
        return way

    def _after(self, route: Route, texts: Sequence[str]) -> tuple[Route, list[Came]]:
        self._forget(route)
        answers = [shortest_path_tasks.came(text) for text in texts]
        return replace(route, files=tuple(each.file for each in answers)), answers

    def _forget(self, route: Route) -> None:
        for name in route.files:
            self._storage.remove(name)

    def _followed(self, route: Route, place: ProductNode) -> list[int]:
        marks, nodes = self.tables.marks, [self._node(place)]
        for way, label, to in route.follow(place):
            nodes.append(self._node(to))
            self._met[nodes[-2], nodes[-1]] = (
                marks.of_way[way] | marks.of_label[label] | marks.of_kind[self.kind(nodes[-1])]
            )
        return nodes

    # ------------------------------------------------------------------------------------------------- states

    def in_search(self, numbers: Sequence[int], search: ClusterSearch) -> dict[int, int]:
        """By which number a search calls each of some states."""
        places = {number: self.place(number * self.tables.states) for number in numbers}
        wanted = tuple((place.part, place.state) for place in places.values())
        texts = self._run(tasks.nothing, partial(shortest_path_tasks.looked_up, self._trimmed, wanted))
        rows = {
            (part, state): (level, row) for part, text in enumerate(texts) for state, level, row in json.loads(text)
        }
        return {number: search.number(*rows[place.part, place.state]) for number, place in places.items()}
