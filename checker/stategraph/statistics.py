"""The shape of a state graph: strongly connected components, terminal components, reachability, and dominators."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import networkx as nx

from assay.checker.stategraph.build import StateGraph
from assay.grammar.lazy_dataclass import dataclass

START, GOAL = "start", "goal"
"""Nodes before all initial states and behind all states of a set."""


@dataclass(frozen=True, slots=True)
class Components:
    """Strongly connected components: how many, how many with more than one state, and the size of the largest.

    ``terminal`` are those that no step leaves, as numbers of states; ``dead`` are the states without successor.
    """

    number: int
    nontrivial: int
    largest: int
    terminal: tuple[tuple[int, ...], ...]
    dead: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Reach:
    """Of ``sources`` states, ``reaching`` lead to one of ``targets`` states; ``path`` is a shortest path as numbers of
    states, if there is one."""

    sources: int
    targets: int
    reaching: int
    path: tuple[int, ...]


def components(graph: StateGraph) -> Components:
    """The strongly connected components."""
    drawn = digraph(graph)
    found = [tuple(sorted(each)) for each in nx.strongly_connected_components(drawn)]
    where = {number: at for at, members in enumerate(found) for number in members}
    left = {where[source] for source, target in drawn.edges if where[source] != where[target]}
    terminal = sorted(members for at, members in enumerate(found) if at not in left)
    dead = tuple(number for number in sorted(drawn) if not drawn.out_degree(number))
    sizes = [len(members) for members in found]
    return Components(len(found), sum(size > 1 for size in sizes), max(sizes, default=0), tuple(terminal), dead)


def reach(graph: StateGraph, sources: Sequence[int] | None, targets: Sequence[int]) -> Reach:
    """How many of some states (None: of all) lead to one of others in zero or more steps, and a shortest path.

    The path begins in one of the sources; if those are all states, in an initial one.
    """
    begins: Sequence[int] = range(graph.initial) if sources is None else sources
    sources = range(len(graph.states)) if sources is None else sources
    drawn = digraph(graph)
    backwards = drawn.reverse(copy=False)
    # One search backwards from all targets, instead of one from each source.
    able = set(targets).union(*nx.bfs_layers(backwards, list(targets))) if targets else set()
    reaching = sum(number in able for number in sources)
    path: tuple[int, ...] = ()
    if any(number in able for number in begins):
        _with_ends(drawn, begins, targets)
        # With one node before all sources and one behind all targets, a single search finds the nearest pair.
        path = tuple(nx.shortest_path(drawn, START, GOAL)[1:-1])
    return Reach(len(sources), len(targets), reaching, path)


def dominators(graph: StateGraph, targets: Sequence[int]) -> tuple[int, ...] | None:
    """The states that every run to one of the targets passes, in their order; None if no target is reached."""
    if not targets:
        return None
    drawn = digraph(graph)
    _with_ends(drawn, range(graph.initial), targets)
    # From the goal, each node's immediate dominator leads to the next one above it.
    above = nx.immediate_dominators(drawn, START)
    chain: list[int] = []
    at = above[GOAL]
    while at != START:
        chain.append(at)
        at = above[at]
    return tuple(reversed(chain))


def digraph(graph: StateGraph) -> Any:
    """The states by number and the steps between them, as a graph of networkx."""
    drawn: Any = nx.DiGraph()
    drawn.add_nodes_from(range(len(graph.states)))
    drawn.add_edges_from(graph.edges)
    return drawn


def _with_ends(drawn: Any, sources: Iterable[int], targets: Iterable[int]) -> None:
    drawn.add_edges_from((START, number) for number in sources)
    drawn.add_edges_from((number, GOAL) for number in targets)
