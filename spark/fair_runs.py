"""Temporal properties decided by the tasks of a cluster, where the graph is too large for the memory of one machine.

That a property holds is found by trimming (NOTE(trimming)), in rounds of Spark's jobs. Where it does not, the run to be shown is looked for by the
driver among the first states of the search, and among more and more of them, up to all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import count, pairwise

import numpy as np

from assay.checker.explicit.behaviour import decider
from assay.checker.explicit.machine import Behaviours
from assay.checker.explicit.memory import taken
from assay.checker.explicit.trimming import rules, without_marks
from assay.checker.liveness.confirm import WithoutValue
from assay.checker.liveness.decide import Decision, Decisions, NotViolated
from assay.checker.liveness.formula import TRUE
from assay.checker.liveness.graph import Flags, Graph, Names
from assay.checker.liveness.plan import Claim
from assay.checker.liveness.product import Tables
from assay.checker.liveness.tableau import Automaton, automaton
from assay.checker.liveness.temporal import decisions, is_whole
from assay.checker.liveness.vacuity import premises_never_true
from assay.checker.print_kernel import Sources
from assay.checker.verdict import EnginesDisagreeError
from assay.spark import product as tasks
from assay.spark.search import ClusterSearch
from assay.spark.storage import Storage

STATE_BYTES, STEP_BYTES = 40, 12
"""What the driver's way of deciding takes of memory, for each state and each step."""
FIRST = 1 << 16
"""States among which a run that violates a property is looked for at first."""

Send = Callable[[int], Iterable[tuple[int, bytes]]]
Receive = Callable[[int, Iterable[bytes]], str]
Rounds = Callable[[Send, Receive], list[str]]
"""Runs a job of as many tasks as there are parts: what each sends to the others, and what it says of what it receives, in the order of the tasks."""


def fits_here(search: ClusterSearch) -> bool:
    """Whether the driver has memory for the graph of a search."""
    return STATE_BYTES * len(search.rows) + STEP_BYTES * search.generated <= search.seen.budget - taken()


def decided_by_tasks(
    search: ClusterSearch, behaviours: Behaviours, sources: Sources, graph: tasks.Graph, rounds: Rounds
) -> Decisions:
    """The decisions about temporal properties on the states of a search, by jobs. Raises what ``rounds`` raises, but ``Stopped``."""
    return decisions(search, behaviours.plan, lambda: _Deciding(search, behaviours, sources, graph, rounds).decide)


@dataclass(frozen=True, slots=True)
class _Round:
    """How a job left the product: how many nodes are left in it, how many have something to tell, and whether an initial one is marked."""

    product: tasks.Product
    left: int
    fresh: int
    initial: bool


class _Deciding:
    """Decides on one graph."""

    def __init__(
        self, search: ClusterSearch, behaviours: Behaviours, sources: Sources, graph: tasks.Graph, rounds: Rounds
    ) -> None:
        self._search = search
        self._behaviours = behaviours
        self._sources = sources
        self._graph = graph
        self._rounds = rounds

    def decide(self, claim: Claim) -> Decision:
        """The decision about a property of the plan."""
        for negated in claim.negated():
            troubled = self._asks_without_value(negated)
            if troubled or self._is_fair(negated):
                return self._shown(claim, negated, troubled=troubled)
        empty = not is_whole(self._search) and not self._is_fair(automaton(TRUE, claim.node.span))
        shape, _ = self._drawn
        return NotViolated(premises_never_true(claim, shape, self._behaviours.plan, self._sources), empty)

    def _shown(self, claim: Claim, negated: Automaton, *, troubled: bool) -> Decision:
        """The run that tasks know to be there, or what has no value."""
        for limit in (FIRST << 3 * at for at in count()):
            found = decider(self._search, self._behaviours, self._sources, limit).refute(claim, negated)
            if found is not None and (isinstance(found, WithoutValue) or not troubled):
                return found
            if limit >= len(self._search.rows):
                break
        raise EnginesDisagreeError(f"tasks find that `{claim.node.name}` is violated, and the driver does not")

    # -------------------------------------------------------------------------------------------------- graph

    @cached_property
    def _drawn(self) -> tuple[Graph, tuple[tasks.Part, ...]]:
        """The kinds and labels of the whole graph, as one without states, and the parts that tasks hold."""
        texts = self._rounds(partial(tasks.drawn, self._graph), partial(tasks.joined, self._graph))
        kinds, labels = Names(), Names()
        labels.number(frozenset())
        parts = []
        for told in map(tasks.from_json, texts):
            own_kinds = np.array([kinds.number(each) for each in told.kinds], np.uint32)
            own_labels = np.array([labels.number(each) for each in told.labels], np.uint32)
            parts.append(tasks.Part(told, own_kinds, own_labels))
        none = np.zeros(0, np.uint32)
        shape = Graph(0, np.zeros(1, np.int64), none, none, none, tuple(labels.numbers), tuple(kinds.numbers))
        return shape, tuple(parts)

    def _tables(self, of: Automaton) -> Tables:
        return Tables(self._drawn[0], of, self._behaviours.plan)

    # ------------------------------------------------------------------------------------------------- rounds

    def _is_fair(self, of: Automaton) -> bool:
        """Whether a fair run that the automaton accepts begins in an initial state."""
        _, parts = self._drawn
        now = self._begun(tasks.Product(self._graph, rules(self._tables(of)), parts), "all")
        left = None
        while now.left not in {0, left}:
            left = now.left
            now = self._begun(self._to_the_end(now).product, "left")
        if not now.left:
            return False
        return self._is_led_to(now.product, "way to what is left")

    def _asks_without_value(self, of: Automaton) -> bool:
        """Whether a run asks for a condition in a state where it has no value."""
        tables = self._tables(of)
        if not tables.troubled.any():
            return False
        _, parts = self._drawn
        asking = np.stack([tables.troubled[:, a:b].any(axis=1) for a, b in pairwise(tables.first)], axis=1)
        return self._is_led_to(tasks.Product(self._graph, rules(tables), parts), "way to what has no value", asking)

    def _is_led_to(self, product: tasks.Product, aim: tasks.Aim, asking: Flags | None = None) -> bool:
        plain = replace(product, rules=without_marks(product.rules))
        now = self._begun(plain, aim, asking)
        return (now if now.initial else self._to_the_end(now)).initial

    def _to_the_end(self, now: _Round) -> _Round:
        """Rounds until nobody has anything to tell."""
        while now.fresh:
            send, receive = partial(tasks.told, now.product), partial(tasks.heard, now.product)
            now = self._after(now.product, self._rounds(send, receive))
        return now

    def _begun(self, product: tasks.Product, aim: tasks.Aim, asking: Flags | None = None) -> _Round:
        flags = np.zeros((0, 0), bool) if asking is None else asking
        return self._after(product, self._rounds(tasks.nothing, partial(tasks.begun, product, aim, flags)))

    def _after(self, product: tasks.Product, texts: list[str]) -> _Round:
        storage = Storage(self._graph.workdir)
        for name in product.files:
            storage.remove(name)
        answers = [tasks.answer(text) for text in texts]
        files = tuple(each.file for each in answers)
        left, fresh = sum(each.left for each in answers), sum(each.fresh for each in answers)
        made = replace(product, files=files, words=product.rules.words)
        return _Round(made, left, fresh, any(each.initial for each in answers))
