"""Temporal properties decided by the tasks of a cluster, where the graph is too large for the memory of one machine.

Whether a property holds is found by trimming (docs/design/distributed-liveness.md), in rounds of Spark's jobs. Where it does not, the run to be shown is looked for by the
driver among the first states of the search, and if there is none, in what tasks hold.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise

import numpy as np

from assay.checker.explicit.expansion.compiled_interface import Behaviours
from assay.checker.explicit.liveness.distributed_trimming import rules
from assay.checker.explicit.liveness.state_graph import decider
from assay.checker.explicit.store.hash_kernels import OWNERS
from assay.checker.explicit.store.memory_limit import taken
from assay.checker.liveness.buchi import Automaton, automaton
from assay.checker.liveness.check import decisions, is_whole
from assay.checker.liveness.confirm import WithoutValue, confirmed
from assay.checker.liveness.decide import Decision, Decisions, NotViolated, without_value
from assay.checker.liveness.lasso import Lasso
from assay.checker.liveness.nnf import TRUE
from assay.checker.liveness.plan import Claim
from assay.checker.liveness.product import ProductTables
from assay.checker.liveness.state_graph import LabelledGraph, Numbering
from assay.checker.liveness.vacuity import premises_never_true
from assay.checker.print_kernel import Sources
from assay.spark.liveness import product_tasks as tasks
from assay.spark.liveness.counterexample import SpreadProduct
from assay.spark.liveness.product_tasks import Rounds
from assay.spark.liveness.shortest_path_tasks import ToKinds, ToLeft
from assay.spark.search.cluster_bfs import ClusterSearch
from assay.spark.storage.filesystem import Storage
from assay.spark.tasks.task import Job

STATE_BYTES, STEP_BYTES = 40, 12
"""What the driver's way of deciding takes of memory, for each state and each step."""
TASK_STATE_BYTES, TASK_STEP_BYTES = 120, 60
"""What a task takes of its part, when it joins the steps that lead to its states, and for a product with a few automaton states."""
FIRST = 1 << 16
"""States among which a run that violates a property is looked for at first."""


def fits_here(search: ClusterSearch) -> bool:
    """Whether the driver has memory for the graph of a search."""
    return STATE_BYTES * len(search.rows) + STEP_BYTES * search.generated <= search.seen.budget - taken()


def parts_of(states: int, steps: int, job: Job) -> int:
    """In how many parts tasks have memory for one each: as many as there are tasks, unless that is too few."""
    whole = TASK_STATE_BYTES * states + TASK_STEP_BYTES * steps
    return min(OWNERS, max(job.parts, -(-whole // max(1, job.budget))))


def decided_by_tasks(
    search: ClusterSearch, behaviours: Behaviours, sources: Sources, graph: tasks.GraphInfo, rounds: Rounds
) -> Decisions:
    """The decisions about temporal properties on the states of a search, by jobs. Raises what ``rounds`` raises, but ``Stopped``."""
    return decisions(search, behaviours.plan, lambda: _Deciding(search, behaviours, sources, graph, rounds).decide)


@dataclass(frozen=True, slots=True)
class _Round:
    """How a job left the product: how many nodes are left in it, and how many have something to tell."""

    product: tasks.ProductInfo
    left: int
    fresh: int


class _Deciding:
    """Decides on one graph."""

    def __init__(
        self, search: ClusterSearch, behaviours: Behaviours, sources: Sources, graph: tasks.GraphInfo, rounds: Rounds
    ) -> None:
        self._search = search
        self._behaviours = behaviours
        self._sources = sources
        self._graph = graph
        self._rounds = rounds

    def decide(self, claim: Claim) -> Decision:
        """The decision about a property of the plan."""
        for negated in claim.negated():
            found = self._asking_without_value(claim, negated) or self._refuted(claim, negated)
            if found is not None:
                return found
        shape, _ = self._drawn
        empty = not is_whole(self._search) and self._fair(automaton(TRUE, claim.node.span)) is None
        return NotViolated(premises_never_true(claim, shape, self._behaviours.plan, self._sources), empty)

    def _asking_without_value(self, claim: Claim, of: Automaton) -> Decision | None:
        """Where a run asks for a condition that has no value there: among the first states of the search, or wherever tasks find it."""
        tables = self._tables(of)
        if not tables.troubled.any():
            return None
        asking = np.stack([tables.troubled[:, a:b].any(axis=1) for a, b in pairwise(tables.first)], axis=1)
        product = self._spread(tasks.ProductInfo(self._graph, rules(tables), self._drawn[1]), tables)
        path = product.look(ToKinds(asking))
        if path is None:
            return None
        found = self._among_first(claim, of)
        return found if isinstance(found, WithoutValue) else self._without_value(product, path[-1])

    def _without_value(self, product: SpreadProduct, node: int) -> Decision:
        tables, plan, search = product.tables, self._behaviours.plan, self._search
        number, q = product.split(node)
        own = range(int(tables.first[q]), int(tables.first[q + 1]))
        way = next(way for way in own if tables.troubled[product.kind(node), way])
        kind, found = product.graph.kinds[product.kind(node)], product.in_search([number], search)[number]
        return without_value(search.model, plan, tables.ways[way], kind, found, search.rows[found])

    def _refuted(self, claim: Claim, of: Automaton) -> Decision | None:
        """A run that the automaton accepts: among the first states of the search, or as the driver follows it through what tasks hold."""
        product = self._fair(of)
        if product is None:
            return None
        return self._among_first(claim, of) or self._walked(claim, self._fair(of, stopping=True) or product)

    def _among_first(self, claim: Claim, of: Automaton) -> Decision | None:
        return decider(self._search, self._behaviours, self._sources, FIRST).refute(claim, of)

    def _walked(self, claim: Claim, product: SpreadProduct) -> Decision:
        lasso = product.lasso()
        numbers = product.in_search(lasso.states, self._search)
        named = Lasso(tuple(numbers[each] for each in lasso.states), lasso.loop)
        return confirmed(self._search.model, claim.node, named, self._search.rows.__getitem__)

    # -------------------------------------------------------------------------------------------------- graph

    @cached_property
    def _drawn(self) -> tuple[LabelledGraph, tuple[tasks.GraphPart, ...]]:
        """The kinds and labels of the whole graph, as one without states, and the parts that tasks hold."""
        texts = self._rounds(partial(tasks.drawn, self._graph), partial(tasks.joined, self._graph))
        kinds, labels = Numbering(), Numbering()
        labels.number(frozenset())
        parts = []
        for told in map(tasks.from_json, texts):
            own_kinds = np.array([kinds.number(each) for each in told.kinds], np.uint32)
            own_labels = np.array([labels.number(each) for each in told.labels], np.uint32)
            parts.append(tasks.GraphPart(told, own_kinds, own_labels))
        none = np.zeros(0, np.uint32)
        shape = LabelledGraph(0, np.zeros(1, np.int64), none, none, none, tuple(labels.numbers), tuple(kinds.numbers))
        return shape, tuple(parts)

    def _tables(self, of: Automaton) -> ProductTables:
        return ProductTables(self._drawn[0], of, self._behaviours.plan)

    # ------------------------------------------------------------------------------------------------- rounds

    def _fair(self, of: Automaton, *, stopping: bool = False) -> SpreadProduct | None:
        """The product, trimmed to what leads to fair cycles, if one is reached that the automaton accepts; ``stopping``: one that stays in one state."""
        tables = self._tables(of)
        now = self._begun(tasks.ProductInfo(self._graph, rules(tables), self._drawn[1], stopping=stopping))
        left = None
        while now.left not in {0, left}:
            left = now.left
            now = self._begun(self._to_the_end(now).product)
        product = self._spread(now.product, tables)
        return product if now.left and product.look(ToLeft()) is not None else None

    def _spread(self, product: tasks.ProductInfo, tables: ProductTables) -> SpreadProduct:
        return SpreadProduct(self._drawn[0], tables, product, self._rounds)

    def _to_the_end(self, now: _Round) -> _Round:
        """Rounds until nobody has anything to tell."""
        while now.fresh and not now.product.stopping:
            send, receive = partial(tasks.told, now.product), partial(tasks.heard, now.product)
            now = self._after(now.product, self._rounds(send, receive))
        return now

    def _begun(self, product: tasks.ProductInfo) -> _Round:
        return self._after(product, self._rounds(tasks.nothing, partial(tasks.begun, product)))

    def _after(self, product: tasks.ProductInfo, texts: list[str]) -> _Round:
        storage = Storage(self._graph.workdir)
        for name in product.files:
            storage.remove(name)
        answers = [tasks.answer(text) for text in texts]
        made = replace(product, files=tuple(each.file for each in answers))
        return _Round(made, sum(each.left for each in answers), sum(each.fresh for each in answers))
