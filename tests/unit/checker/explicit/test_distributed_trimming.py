"""Trimming by tasks that each hold some states leaves what leads to a fair cycle.

Compared with what networkx finds in the whole product, of random graphs and automata.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np

from assay.checker.explicit.liveness.distributed_trimming import (
    IncomingSteps,
    Region,
    Rules,
    Trimming,
    TrimmingMessage,
    rules,
)
from assay.checker.liveness.buchi import Automaton, Transition
from assay.checker.liveness.event_values import Fair, FairnessEvent
from assay.checker.liveness.nnf import Literal, StateCondition
from assay.checker.liveness.plan import Plan
from assay.checker.liveness.product import BuchiProduct, ProductTables
from assay.checker.liveness.state_graph import Flags, Kind, LabelledGraph
from assay.grammar import kernel as k
from assay.grammar.kernel.types import INT

STAYING = (916, 1284, 2201, 2619)
"""Seeds of products in which the step that changes nothing hands on what a message brought to one of several nodes."""
EVENTS = (FairnessEvent("a"), FairnessEvent("b"))
LETTERS = tuple(StateCondition(k.Const(INT, number)) for number in range(2))


def random_graph(random: Random, states: int) -> LabelledGraph:
    kinds = tuple(
        Kind(some(random, range(2)), frozenset(), some(random, range(2)), frozenset())
        for _ in range(random.randint(1, 3))
    )
    events = (frozenset[int](), frozenset({0}), frozenset({1}), frozenset({0, 1}))
    degrees = [random.randint(0, 2) for _ in range(states)]
    targets = [random.randrange(states) for _ in range(sum(degrees))]
    labels = [random.randrange(len(events)) for _ in targets]
    kinds_of = [random.randrange(len(kinds)) for _ in range(states)]
    starts = np.cumsum([0, *degrees])
    steps = np.array(targets, np.int64), np.array(labels, np.int64)
    return LabelledGraph(1, starts, *steps, np.array(kinds_of, np.int64), events, kinds)


def some(random: Random, of: Sequence[int]) -> frozenset[int]:
    return frozenset(each for each in of if random.random() < 0.5)


def random_automaton(random: Random) -> Automaton:
    states, sets = random.randint(1, 4), random.randint(0, 2)

    def way() -> Transition:
        literals = frozenset(Literal(at, random.random() < 0.5) for at in some(random, range(2)))
        return Transition(literals, random.randrange(states), some(random, range(sets)))

    return Automaton(tuple(tuple(way() for _ in range(random.randint(1, 2))) for _ in range(states)), sets)


class Tasks:
    """Tasks in this process; state s is the state number s // count of task s % count."""

    def __init__(self, graph: LabelledGraph, of: Rules, count: int) -> None:
        self.count = count
        self.work = [
            Trimming(of, graph.kinds_of[part::count], self.steps_to(graph, part), stopping=False)
            for part in range(count)
        ]

    def steps_to(self, graph: LabelledGraph, part: int) -> IncomingSteps:
        sources = np.repeat(np.arange(len(graph)), np.diff(graph.starts))
        own = np.flatnonzero(graph.targets % self.count == part)
        own = own[np.argsort(graph.targets[own], kind="stable")]
        sizes = np.bincount(graph.targets[own] // self.count, minlength=len(graph.kinds_of[part :: self.count]))
        starts = np.cumsum([0, *sizes])
        return IncomingSteps(starts, sources[own] % self.count, sources[own] // self.count, graph.labels[own])

    def trimmed(self) -> list[Flags]:
        """The nodes that remain, task by task: rounds of messages, and trimming, until neither changes anything."""
        alive = [each.everything() for each in self.work]
        while True:
            regions = [each.begin(own) for each, own in zip(self.work, alive, strict=True)]
            while any(region.fresh.any() for region in regions):
                self.round(regions)
            left = [each.left(region) for each, region in zip(self.work, regions, strict=True)]
            if all(np.array_equal(one, other) for one, other in zip(left, alive, strict=True)):
                return left
            alive = [each.copy() for each in left]

    def round(self, regions: Sequence[Region]) -> None:
        inbox: list[list[TrimmingMessage]] = [[] for _ in self.work]
        for each, region in zip(self.work, regions, strict=True):
            for message in each.messages(region):
                inbox[message.part].append(message)
        for each, region, messages in zip(self.work, regions, inbox, strict=True):
            region.fresh[:] = False
            for message in messages:
                each.receive(region, message)
            each.settle(region)


def test_what_tasks_leave_leads_to_a_fair_cycle_and_nothing_else_does() -> None:
    found = 0
    for seed in (*range(60), *STAYING):
        random = Random(seed)
        graph, of = random_graph(random, random.randint(2, 9)), random_automaton(random)
        fair = tuple(Fair(event, random.random() < 0.5) for event in EVENTS[: random.randint(0, 2)])
        tables = ProductTables(graph, of, Plan((), LETTERS, fair, EVENTS, ()))
        product, tasks = BuchiProduct(graph, tables), Tasks(graph, rules(tables), random.randint(1, 3))
        left = tasks.trimmed()
        cycles = product.fair()
        remain = {
            node
            for node in product.reached
            if left[node // tables.states % tasks.count][node // tables.states // tasks.count, node % tables.states]
        }
        assert {node for node in product.reached if cycles.component[node] < 0} <= remain, seed
        assert bool(remain) is cycles.found, seed
        found += cycles.found
    assert 15 < found < 45
