"""The answers about a state graph, as text and as JSON."""

from __future__ import annotations

from typing import Any

from assay.checker.report import ExitCode, worst
from assay.checker.saved_traces.saved_trace import state_to_json
from assay.checker.stategraph.build import StateGraph
from assay.checker.stategraph.statistics import Components, Reach
from assay.checker.stategraph.view import Picture, state_text
from assay.grammar.lazy_dataclass import dataclass
from assay.report.lines import Line, Tone, plural
from assay.report.specs.check_object import VERSION, model_object

MOST_SHOWN = 8
"""How many components or states are listed one by one."""


@dataclass(frozen=True, slots=True)
class GraphAnswers:
    """The answers to the questions about a graph; None for a question that was not asked. ``dominators`` is empty if
    nothing is reached.
    """

    graph: StateGraph
    components: Components
    view: Picture | None = None
    reach: Reach | None = None
    dominators: tuple[int, ...] | None = None
    dominated: int | None = None
    """How many states the dominators are of."""
    files: tuple[str, ...] = ()

    @property
    def exit_code(self) -> ExitCode:
        """1 if a goal is not reached or something is undefined, 3 and 5 if states are missing, 4 if there are no
        states.
        """
        graph, codes = self.graph, [ExitCode.OK]
        # A path of a single state is one: a state leads to itself in no steps.
        missed = (self.reach is not None and not self.reach.path) or self.dominated == 0
        hit = {label for label, hits in graph.bounds.items() if hits} - graph.kernel.accepted_bounds
        if graph.undefined is not None or (missed and graph.stopped is None and not graph.bounds):
            codes.append(ExitCode.VIOLATED)
        # Behind a limit or a bound, what was asked about may yet be reached.
        if graph.stopped is not None or (missed and graph.bounds):
            codes.append(ExitCode.INCONCLUSIVE)
        if not graph.states:
            codes.append(ExitCode.VACUOUS)
        return worst([*codes, *([ExitCode.UP_TO_BOUND] if hit else [])])


def graph_lines(asked: GraphAnswers) -> list[Line]:
    """The summary for a terminal."""
    graph, found = asked.graph, asked.components
    steps = sum(map(len, graph.edges.values()))
    lines = [
        Line(
            f"{plural(len(graph.states), 'state')}, {graph.initial:,} initial, depth {max(graph.levels, default=0)}",
            Tone.HEADING,
        ),
        Line(f"  {plural(len(graph.edges), 'edge')} of {plural(steps, 'step')}"),
        Line(
            f"  {plural(found.number, 'strongly connected component')}, {found.nontrivial:,} of more than one state, the largest of {found.largest:,}"
        ),
    ]
    lines += _terminal(graph, found)
    if asked.view is not None:
        lines.append(
            Line(f"  the view has {plural(len(asked.view.nodes), 'value')}, {plural(len(asked.view.edges), 'edge')}")
        )
    if asked.reach is not None:
        lines += _reach(graph, asked.reach)
    if asked.dominated is not None:
        lines += _dominators(graph, asked.dominators or (), asked.dominated)
    lines += [
        Line(f"  {label}: cut {plural(hits, 'instance')}", Tone.WARN) for label, hits in sorted(graph.bounds.items())
    ]
    if graph.undefined is not None:
        lines.append(Line(f"undefined: {graph.undefined}", Tone.BAD))
    if graph.stopped is not None:
        lines.append(
            Line(f"Not the whole graph: {graph.stopped}; of what is beyond nothing is said (`--max-states`)", Tone.WARN)
        )
    return [*lines, *(Line(f"{name}: written", Tone.GOOD) for name in asked.files)]


def _terminal(graph: StateGraph, found: Components) -> list[Line]:
    lines = [
        Line(
            f"  {plural(len(found.terminal), 'terminal component')}, {plural(len(found.dead), 'state')} without a way on"
        )
    ]
    lines += [
        Line(f"    {plural(len(members), 'state')}: {state_text(graph, members[0])}", Tone.FAINT)
        for members in found.terminal[:MOST_SHOWN]
    ]
    if len(found.terminal) > MOST_SHOWN:
        lines.append(Line(f"    and {len(found.terminal) - MOST_SHOWN:,} more", Tone.FAINT))
    return lines


def _reach(graph: StateGraph, reach: Reach) -> list[Line]:
    lines = [
        Line(f"  {reach.reaching:,} of {plural(reach.sources, 'state')} lead to one of {plural(reach.targets, 'state')}",
             Tone.PLAIN if reach.reaching else Tone.WARN)
    ]  # fmt: skip
    for source, target in zip(reach.path, reach.path[1:], strict=False):
        lines.append(Line(f"    {graph.edges[source, target][0]}", Tone.FAINT))
    return lines


def _dominators(graph: StateGraph, found: tuple[int, ...], of: int) -> list[Line]:
    if not of:
        return [Line("  no state is to be dominated: none was found", Tone.WARN)]
    lines = [Line(f"  every run to one of {plural(of, 'state')} goes through {plural(len(found), 'state')}")]
    return lines + [Line(f"    {state_text(graph, number)}", Tone.FAINT) for number in found]


def graph_object(asked: GraphAnswers) -> dict[str, Any]:
    """The summary as JSON. A state is the number, from 0, of its node in the files, or an object."""
    graph, found, reach = asked.graph, asked.components, asked.reach

    def state(number: int) -> dict[str, Any]:
        return {"node": number, "state": state_to_json(graph.states[number], graph.kernel)}

    return {
        "assay": VERSION,
        "verdict": "complete" if graph.stopped is None else "incomplete",
        **model_object(graph.kernel),
        "states": {"number": len(graph.states), "initial": graph.initial, "depth": max(graph.levels, default=0)},
        "edges": len(graph.edges),
        "steps": sum(map(len, graph.edges.values())),
        "components": {"number": found.number, "nontrivial": found.nontrivial, "largest": found.largest},
        "terminal": [{"states": len(each), "first": state(each[0])} for each in found.terminal[:MOST_SHOWN]],
        "terminal_components": len(found.terminal),
        "dead": len(found.dead),
        "view": None if asked.view is None else {"values": len(asked.view.nodes), "edges": len(asked.view.edges)},
        "reach": None
        if reach is None
        else {
            "sources": reach.sources,
            "targets": reach.targets,
            "reaching": reach.reaching,
            "path": [graph.edges[ends][0] for ends in zip(reach.path, reach.path[1:], strict=False)],
        },
        "dominators": None if asked.dominated is None else [state(number) for number in asked.dominators or ()],
        "bounds": dict(graph.bounds),
        "undefined": graph.undefined,
        "stopped": graph.stopped,
        "files": list(asked.files),
    }
