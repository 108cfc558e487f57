"""Temporal properties decided by the tasks of a cluster, where the graph is too large for the memory of one machine.

Whether a property holds is decided by trimming the product of graph and automaton
(docs/design/distributed-liveness.md), in rounds of Spark jobs. Where it is violated, the driver looks for a
counterexample among the first states of the search. If there is none, it follows one through the files of the tasks.
"""

from __future__ import annotations

from dataclasses import replace
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
from assay.checker.liveness.confirm import Decision, Decisions, NotViolated, WithoutValue, confirmed
from assay.checker.liveness.decide import premises_never_true, without_value
from assay.checker.liveness.lasso import Lasso
from assay.checker.liveness.nnf import TRUE
from assay.checker.liveness.plan import Claim
from assay.checker.liveness.product import ProductTables
from assay.checker.liveness.state_graph import LabelledGraph, Numbering
from assay.checker.print_kernel import Sources
from assay.grammar.lazy_dataclass import dataclass
from assay.spark.liveness import product_tasks as tasks
from assay.spark.liveness.counterexample import SpreadProduct
from assay.spark.liveness.product_tasks import Rounds
from assay.spark.liveness.shortest_path_tasks import ToKinds, ToLeft
from assay.spark.search.cluster_bfs import ClusterSearch
from assay.spark.storage.filesystem import Storage
from assay.spark.tasks.task import Job

STATE_BYTES, STEP_BYTES = 40, 12
"""Bytes of the driver's memory for each state and each step, when the driver decides by itself."""
TASK_STATE_BYTES, TASK_STEP_BYTES = 120, 60
"""Bytes of a task's memory for each of its states and each step that leads to them, for automata of a few states."""
FIRST = 1 << 16
"""How many of the first states of the search the driver looks through for a counterexample."""


def fits_here(search: ClusterSearch) -> bool:
    """Whether the driver has memory for the graph of a search."""
    return STATE_BYTES * len(search.rows) + STEP_BYTES * search.generated <= search.seen.budget - taken()


def parts_of(states: int, steps: int, job: Job) -> int:
    """Into how many parts the graph is divided. It is one for each task of the job, or more, so that each part fits
    into a task's memory.
    """
    whole = TASK_STATE_BYTES * states + TASK_STEP_BYTES * steps
    return min(OWNERS, max(job.parts, -(-whole // max(1, job.budget))))


def decided_by_tasks(
    search: ClusterSearch, behaviours: Behaviours, sources: Sources, graph: tasks.GraphInfo, rounds: Rounds
) -> Decisions:
    """The decisions about all temporal properties on the states of a search, made by jobs. Raises what ``rounds``
    raises, except ``Stopped``.
    """
    return decisions(search, behaviours.plan, lambda: _TaskDecider(search, behaviours, sources, graph, rounds).decide)


@dataclass(frozen=True, slots=True)
class _RoundResult:
    """The product after a round: how many nodes are left, and how many of them have messages to send."""

    product: tasks.ProductInfo
    left: int
    fresh: int


class _TaskDecider:
    """Decides the properties of one plan on one graph."""

    def __init__(
        self, search: ClusterSearch, behaviours: Behaviours, sources: Sources, graph: tasks.GraphInfo, rounds: Rounds
    ) -> None:
        self._search = search
        self._behaviours = behaviours
        self._sources = sources
        self._graph = graph
        self._rounds = rounds

    def decide(self, claim: Claim) -> Decision:
        """Decide one property of the plan."""
        for negated in claim.negated():
            found = self._reads_undefined(claim, negated) or self._refuted(claim, negated)
            if found is not None:
                return found
        shape, _ = self._graph_parts
        # Where a limit of the search has cut off every fair execution, that none violates the property says nothing.
        empty = not is_whole(self._search) and self._fair(automaton(TRUE, claim.node.span)) is None
        return NotViolated(premises_never_true(claim, shape, self._behaviours.plan, self._sources), empty)

    def _reads_undefined(self, claim: Claim, of: Automaton) -> Decision | None:
        """The decision where some execution evaluates a condition that has no value in a state.

        The state is one of the first states of the search, if there is one among them, else one that tasks find.
        """
        tables = self._tables(of)
        if not tables.troubled.any():
            return None
        asking = np.stack([tables.troubled[:, a:b].any(axis=1) for a, b in pairwise(tables.first)], axis=1)
        product = self._spread(tasks.ProductInfo(self._graph, rules(tables), self._graph_parts[1]), tables)
        path = product.find_path(ToKinds(asking))
        if path is None:
            return None
        found = self._among_first(claim, of)
        # What is found first may be another violation; only a condition without a value is asked about here.
        return found if isinstance(found, WithoutValue) else self._without_value(product, path[-1])

    def _without_value(self, product: SpreadProduct, node: int) -> Decision:
        tables, plan, search = product.tables, self._behaviours.plan, self._search
        number, q = product.split(node)
        own = range(int(tables.first[q]), int(tables.first[q + 1]))
        way = next(way for way in own if tables.troubled[product.kind(node), way])
        kind, found = product.graph.kinds[product.kind(node)], product.in_search([number], search)[number]
        return without_value(search.model, plan, tables.ways[way], kind, found, search.rows[found])

    def _refuted(self, claim: Claim, of: Automaton) -> Decision | None:
        """A counterexample: an execution that the automaton of the negated property accepts.

        It is looked for among the first states of the search, then followed by the driver through the files of the
        tasks.
        """
        product = self._fair(of)
        if product is None:
            return None
        # The driver looks through the first states by itself: a counterexample among them needs no further job.
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
    def _graph_parts(self) -> tuple[LabelledGraph, tuple[tasks.GraphPart, ...]]:
        """The kinds and labels of the whole graph, as a graph without states, and the part of each task."""
        texts = self._rounds(partial(tasks.explore_part, self._graph), partial(tasks.index_incoming_steps, self._graph))
        kinds, labels = Numbering(), Numbering()
        # Number 0 is the label without events, which the step that changes nothing has.
        labels.number(frozenset())
        parts = []
        for summary in map(tasks.from_json, texts):
            own_kinds = np.array([kinds.number(each) for each in summary.kinds], np.uint32)
            own_labels = np.array([labels.number(each) for each in summary.labels], np.uint32)
            parts.append(tasks.GraphPart(summary, own_kinds, own_labels))
        none = np.zeros(0, np.uint32)
        shape = LabelledGraph(0, np.zeros(1, np.int64), none, none, none, tuple(labels.numbers), tuple(kinds.numbers))
        return shape, tuple(parts)

    def _tables(self, of: Automaton) -> ProductTables:
        return ProductTables(self._graph_parts[0], of, self._behaviours.plan)

    # ------------------------------------------------------------------------------------------------- rounds

    def _fair(self, of: Automaton, *, stopping: bool = False) -> SpreadProduct | None:
        """The product trimmed to nodes that lead to accepting fair cycles; None if none of them is reachable.

        With ``stopping`` the executions meant are those that stay in one state forever.
        """
        tables = self._tables(of)
        now = self._begin(tasks.ProductInfo(self._graph, rules(tables), self._graph_parts[1], stopping=stopping))
        left = None
        # Trimming and re-computing which marks are reachable alternate until neither takes a node out.
        while now.left not in {0, left}:
            left = now.left
            now = self._begin(self._to_fixpoint(now).product)
        product = self._spread(now.product, tables)
        return product if now.left and product.find_path(ToLeft()) is not None else None

    def _spread(self, product: tasks.ProductInfo, tables: ProductTables) -> SpreadProduct:
        return SpreadProduct(self._graph_parts[0], tables, product, self._rounds)

    def _to_fixpoint(self, now: _RoundResult) -> _RoundResult:
        """Run rounds until no task has messages to send."""
        # An execution that stays in one state needs no messages: each task follows it alone.
        while now.fresh and not now.product.stopping:
            send, receive = partial(tasks.send_messages, now.product), partial(tasks.receive_messages, now.product)
            now = self._after(now.product, self._rounds(send, receive))
        return now

    def _begin(self, product: tasks.ProductInfo) -> _RoundResult:
        return self._after(product, self._rounds(tasks.send_nothing, partial(tasks.begin_trimming, product)))

    def _after(self, product: tasks.ProductInfo, texts: list[str]) -> _RoundResult:
        storage = Storage(self._graph.workdir)
        # Only now: a job that failed and ran again has read the files of the round before.
        for name in product.files:
            storage.remove(name)
        answers = [tasks.reply_from_json(text) for text in texts]
        made = replace(product, files=tuple(each.file for each in answers))
        return _RoundResult(made, sum(each.left for each in answers), sum(each.fresh for each in answers))
