"""A counterexample of a temporal property, found by the driver in a product whose nodes are in files of the tasks.

The driver never holds more of the product than the nodes of that counterexample.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate

import numpy as np

from assay.checker.explicit.liveness.distributed_trimming import as_words
from assay.checker.liveness.find_lasso import around
from assay.checker.liveness.lasso import Lasso
from assay.checker.liveness.product import BuchiProduct, Fairs, ProductTables
from assay.checker.liveness.state_graph import LabelledGraph
from assay.spark.liveness import product_tasks as tasks
from assay.spark.liveness import shortest_path_tasks
from assay.spark.liveness.product_tasks import Rounds
from assay.spark.liveness.shortest_path_tasks import Aim, PathReply, PathSearch, ProductNode, ToLeft, ToMarks, ToPlaces
from assay.spark.search.cluster_bfs import ClusterSearch
from assay.spark.storage.filesystem import Storage


class _NoPathError(Exception):
    """There is no path from ``node`` to the goal, though there was one from a node before it. The path has left a
    strongly connected component.
    """

    def __init__(self, node: int) -> None:
        super().__init__(node)
        self.node = node


class SpreadProduct(BuchiProduct):
    """The product that tasks have trimmed; its nodes are numbered task by task. ``run`` runs a job of all tasks."""

    def __init__(self, shape: LabelledGraph, tables: ProductTables, trimmed: tasks.ProductInfo, run: Rounds) -> None:
        super().__init__(shape, tables)
        self._trimmed = trimmed
        self._run = run
        self._offsets = [0, *accumulate(part.summary.states for part in trimmed.parts)]
        self._storage = Storage(trimmed.graph.workdir)
        self._met: dict[tuple[int, int], frozenset[int]] = {}
        self._fairs = Fairs(np.zeros(0, np.int64), trimmed.stopping)

    # -------------------------------------------------------------------------------------------------- nodes

    def place(self, node: int) -> ProductNode:
        """Which task holds a node, and where."""
        number, q = self.split(node)
        part = int(np.searchsorted(self._offsets, number, "right")) - 1
        return ProductNode(part, number - self._offsets[part], q)

    def _node(self, place: ProductNode) -> int:
        return (self._offsets[place.part] + place.state) * self.tables.states + place.q

    def kind(self, node: int) -> int:
        """The number of the kind of a node's state, read from the file of its task."""
        place = self.place(node)
        part = self._trimmed.parts[place.part]
        section = self._storage.section(part.summary.file_of_kinds, 4 * place.state, 4)
        return int(part.kinds[int(np.frombuffer(section, np.uint32)[0])])

    def marks_between(self, node: int, to: int, *, stopping: bool) -> frozenset[int]:
        """The marks that the step between two nodes collects. Only for steps of paths that were found before."""
        assert stopping is self._trimmed.stopping
        return self._met[node, to]

    # --------------------------------------------------------------------------------------------------- runs

    def lasso(self) -> Lasso:
        """A fair execution: a path to a fair cycle among the nodes that trimming left, and the cycle."""
        cycle = self._cycle(self.path(ToLeft())[-1])
        prefix = self.path(ToPlaces(tuple(map(self.place, cycle[1:])), inside=False))
        at = cycle.index(prefix[-1])
        # The cycle is turned, so that it begins where the path enters it.
        rest = [*cycle[at + 1 :], *cycle[1 : at + 1]]
        return Lasso(tuple(self.split(node)[0] for node in (*prefix, *rest)), len(prefix) - 1)

    def _cycle(self, start: int) -> list[int]:
        """A fair cycle that is reachable from a node. If there is none through that node, there is one in a later
        component.

        Why there is one: docs/design/distributed-liveness.md. From the last node of the path found there is no path
        back, so that the next attempt begins in a later component. A node on no cycle at all is left by one step. Both
        end, as there are finitely many components.
        """
        while True:
            try:
                return around(self, start, self._fairs)
            except _NoPathError as lost:
                start = self.path(ToLeft(), start)[1] if lost.node == start else lost.node

    def to_mark(self, start: int, wanted: frozenset[int], fairs: Fairs) -> list[int]:  # noqa: ARG002 - those of this product
        """A shortest path, through nodes that are left, that collects one of the wanted marks."""
        return self.path(ToMarks(as_words([wanted], self._trimmed.rules.words)[0]), start)

    def to_node(self, start: int, goal: int, fairs: Fairs) -> list[int]:  # noqa: ARG002 - those of this product
        """A shortest path of at least one step, through nodes that are left, to a node."""
        return self.path(ToPlaces((self.place(goal),), inside=True), start)

    def path(self, aim: Aim, start: int | None = None) -> list[int]:
        """The nodes of a shortest path from a node, or from an initial node. Raises ``_NoPathError`` if there is
        none from that node.
        """
        found = self.find_path(aim, start)
        if found is None:
            assert start is not None, "tasks had found that there is a path"
            raise _NoPathError(start)
        return found

    def find_path(self, aim: Aim, start: int | None = None) -> list[int] | None:
        """As ``path``, but None if there is none."""
        search = PathSearch(self._trimmed, aim, None if start is None else self.place(start))
        search, answers = self._after(
            search, self._run(tasks.send_nothing, partial(shortest_path_tasks.begin_search, search))
        )
        while any(each.fresh for each in answers) and all(each.at < 0 for each in answers):
            texts = self._run(
                partial(shortest_path_tasks.send_messages, search),
                partial(shortest_path_tasks.receive_messages, search),
            )
            search, answers = self._after(search, texts)
        places = [ProductNode(part, each.at, 0) for part, each in enumerate(answers) if each.at >= 0]
        path = self._followed(search, search.start or places[0]) if places else None
        self._forget(search)
        return path

    def _after(self, search: PathSearch, texts: Sequence[str]) -> tuple[PathSearch, list[PathReply]]:
        self._forget(search)
        answers = [shortest_path_tasks.reply_from_json(text) for text in texts]
        return replace(search, files=tuple(each.file for each in answers)), answers

    def _forget(self, search: PathSearch) -> None:
        for name in search.files:
            self._storage.remove(name)

    def _followed(self, search: PathSearch, place: ProductNode) -> list[int]:
        """The nodes of a path, read from the files of the last round; notes the marks of each step for
        ``marks_between``.
        """
        marks, nodes = self.tables.marks, [self._node(place)]
        for way, label, to in search.follow(place):
            nodes.append(self._node(to))
            # Kept for `marks_between`: the files of this search are removed after it.
            self._met[nodes[-2], nodes[-1]] = (
                marks.of_way[way] | marks.of_label[label] | marks.of_kind[self.kind(nodes[-1])]
            )
        return nodes

    # ------------------------------------------------------------------------------------------------- states

    def in_search(self, numbers: Sequence[int], search: ClusterSearch) -> dict[int, int]:
        """The numbers that the search gives to some states of the graph, which are numbered task by task here."""
        places = {number: self.place(number * self.tables.states) for number in numbers}
        wanted = tuple((place.part, place.state) for place in places.values())
        texts = self._run(tasks.send_nothing, partial(shortest_path_tasks.look_up_states, self._trimmed, wanted))
        rows = {
            (part, state): (level, row) for part, text in enumerate(texts) for state, level, row in json.loads(text)
        }
        return {number: search.number(*rows[place.part, place.state]) for number, place in places.items()}
