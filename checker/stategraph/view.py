"""A picture of a state graph: its states, or the values of a view with the steps between them."""

from __future__ import annotations

from itertools import count
from typing import Any

import networkx as nx

from assay.checker.interpreter.compiled_model import Model
from assay.checker.interpreter.expressions.frame import Frame
from assay.checker.interpreter.values.show import show_value
from assay.checker.stategraph.build import Edges, StateGraph
from assay.grammar.kernel import Expr
from assay.grammar.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A node: its label and title, how many states it stands for, the least of their levels, and whether one is
    initial."""

    label: str
    title: str
    states: int
    level: int
    initial: bool


@dataclass(frozen=True, slots=True)
class Picture:
    """Nodes with the steps between them. ``nodes_of`` gives the node of each state."""

    name: str
    nodes: tuple[GraphNode, ...]
    edges: Edges
    nodes_of: tuple[int, ...]

    def networkx(self) -> Any:
        """The picture as a networkx graph: attributes ``label``, ``title``, ``states``, ``level`` and ``initial``;
        ``actions`` on edges."""
        graph: Any = nx.DiGraph(name=self.name)
        for number, node in enumerate(self.nodes):
            graph.add_node(
                number, label=node.label, title=node.title, states=node.states, level=node.level, initial=node.initial
            )
        for (source, target), actions in self.edges.items():
            graph.add_edge(source, target, actions=", ".join(actions))
        return graph


def whole(graph: StateGraph) -> Picture:
    """The picture in which every state is a node."""
    nodes = tuple(
        GraphNode(str(number + 1), state_text(graph, number), 1, level, number < graph.initial)
        for number, level in enumerate(graph.levels)
    )
    return Picture(graph.kernel.name, nodes, graph.edges, tuple(range(len(nodes))))


def collapsed(graph: StateGraph, view: Expr) -> Picture:
    """A node for each value of the view; steps that do not change it are left out. Raises ``Undefined`` where it is
    undefined."""
    value = Model(graph.kernel).meaning(view)
    numbers: dict[str, int] = {}
    nodes_of: list[int] = []
    fresh = count()
    for state in graph.states:
        text = show_value(value(Frame(state)), view.type)
        if text not in numbers:
            numbers[text] = next(fresh)
        nodes_of.append(numbers[text])
    sizes = [0] * len(numbers)
    levels: list[int] = [0] * len(numbers)
    begins = [False] * len(numbers)
    for number, node in enumerate(nodes_of):
        sizes[node] += 1
        # States come level by level, and levels count from 1: the first one is the least.
        levels[node] = levels[node] or graph.levels[number]
        begins[node] |= number < graph.initial
    nodes = tuple(
        GraphNode(text, f"{sizes[at]:,} states", sizes[at], levels[at], begins[at]) for at, text in enumerate(numbers)
    )
    edges: dict[tuple[int, int], dict[str, None]] = {}
    for (source, target), actions in graph.edges.items():
        ends = (nodes_of[source], nodes_of[target])
        if ends[0] != ends[1]:
            edges.setdefault(ends, {}).update(dict.fromkeys(actions))
    return Picture(graph.kernel.name, nodes, {ends: tuple(found) for ends, found in edges.items()}, tuple(nodes_of))


def state_text(graph: StateGraph, number: int) -> str:
    """A state on one line."""
    pairs = zip(graph.kernel.variables, graph.states[number], strict=True)
    return ", ".join(f"{variable.name} = {show_value(value, variable.type)}" for variable, value in pairs)
