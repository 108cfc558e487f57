"""The shape of random graphs, compared with what the definitions say."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest

from assay.checker.engines.reference_engine import check
from assay.checker.stategraph.build import StateGraph, explore
from assay.checker.stategraph.statistics import components, dominators, reach
from assay.grammar.load import load_text


def random_graph(seed: int) -> StateGraph:
    random = Random(seed)
    edges = {(a, b) for a in range(9) for b in range(9) if random.random() < 0.16}
    moves = "".join(f"action m{a}_{b}:\n    when at == {a}\n    at := {b}\n" for a, b in sorted(edges))
    return explore(load_text(f"state:\n    at: 0 .. 8 = 0\n{moves or 'action stay: at := at'}\n").kernel, 100)


def reachable(graph: StateGraph, begins: set[int], without: int | None = None) -> set[int]:
    found, waiting = set(begins) - {without}, list(set(begins) - {without})
    while waiting:
        at = waiting.pop()
        for source, target in graph.edges:
            if source == at and target not in found and target != without:
                found.add(target)
                waiting.append(target)
    return found


@pytest.mark.parametrize("seed", range(30))
def test_components_reachability_and_dominators_are_those_of_the_definitions(seed: int) -> None:
    graph = random_graph(seed)
    everything = range(len(graph.states))
    ways = {at: reachable(graph, {at}) for at in everything}
    mutual = {frozenset(b for b in everything if b in ways[a] and a in ways[b]) for a in everything}
    found = components(graph)
    assert found.number == len(mutual)
    assert {frozenset(each) for each in found.terminal} == {m for m in mutual if ways[min(m)] == set(m)}
    assert found.dead == tuple(at for at in everything if not any(source == at for source, _ in graph.edges))
    target = len(graph.states) - 1
    answer = reach(graph, None, [target])
    assert answer.reaching == sum(target in ways[at] for at in everything)
    assert all(ends in graph.edges for ends in pairwise(answer.path))
    assert (answer.path[0], answer.path[-1]) == (0, target)
    assert len(answer.path) == graph.levels[target]
    assert set(dominators(graph, [target]) or ()) == {
        at for at in everything if target not in reachable(graph, {0}, at) or at == target
    }


def test_the_states_are_those_of_a_check() -> None:
    kernel = load_text("state:\n    x: 0 .. 9 = 0\naction up: x := (x + 3) % 10\naction down: x := x // 2\n").kernel
    graph, sizes = explore(kernel, 100), check(kernel).statistics
    assert (len(graph.states), max(graph.levels)) == (sizes.distinct, sizes.depth)
    assert sum(map(len, graph.edges.values())) + graph.initial == sizes.generated
    assert dominators(graph, []) is None
