"""The graph of all states, where they are few enough to be drawn."""

from __future__ import annotations

from typing import Any

from assay.checker.report import Trace
from assay.checker.stategraph.build import explore
from assay.grammar.kernel import Kernel
from assay.report.lines import clean
from assay.report.specs.changes import initial_lines

MOST_DRAWN = 80


def graph_drawing(kernel: Kernel, trace: Trace | None) -> dict[str, Any] | None:
    """The states with their levels, the edges, and the run as numbers of states; None if the states are too many."""
    graph = explore(kernel, MOST_DRAWN)
    # A part of a graph would look like all of it.
    if graph.stopped is not None or graph.undefined is not None or not graph.states:
        return None
    numbers = {state: number for number, state in enumerate(graph.states)}
    path = [numbers[step.state] for step in trace.steps if step.state in numbers] if trace is not None else []
    states = [
        {"level": level, "text": "\n".join(map(clean, initial_lines(kernel, state)))}
        for state, level in zip(graph.states, graph.levels, strict=True)
    ]
    edges = [[source, target, "\n".join(map(clean, texts))] for (source, target), texts in graph.edges.items()]
    return {"states": states, "edges": edges, "path": path}
