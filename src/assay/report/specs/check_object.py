"""The answer of a check as JSON: one object, described in docs/cli.md."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from assay.checker.report import (
    AbstractSide,
    BlockedAction,
    Effort,
    Explanation,
    PropertyResult,
    Report,
    State,
    Statistics,
    Step,
    Trace,
    Violation,
)
from assay.checker.results.shown import shown_values
from assay.checker.saved_traces.json_values import to_json
from assay.checker.saved_traces.saved_trace import state_to_json, step_to_json, step_types
from assay.grammar.kernel import BoundParameter, Kernel
from assay.grammar.kernel.types import Sort, Type
from assay.report.diagnostics import place_object
from assay.report.specs.changes import change_lines, step_name
from assay.report.specs.coverage import coverage_object
from assay.report.specs.text import verdict_word

VERSION = "1"


def report_object(report: Report) -> dict[str, Any]:
    """The whole answer."""
    s = report.statistics
    return {
        "assay": VERSION,
        "verdict": verdict_word(report),
        **model_object(report.kernel),
        "properties": [property_object(report.kernel, result) for result in report.properties],
        **_symmetry(report),
        **({"view": {"hidden": list(report.hidden)}} if report.hidden else {}),
        **({} if report.reduced is None else {"partial_order": {"expanded_in_part": report.reduced}}),
        "states": {"distinct": s.distinct, "generated": s.generated, "depth": s.depth, "collision": s.collision},
        "bounds": dict(report.bounds),
        "coverage": coverage_object(report),
        "search": report.order,
        "stopped": report.stopped,
        **({"checkpoint": str(report.checkpoint)} if report.checkpoint else {}),
        "up_to_depth": report.up_to_depth,
        "engine": report.engine,
        "seconds": round(s.seconds, 3),
        **({"effort": effort_object(s, s.effort)} if s.effort else {}),
    }


def effort_object(sizes: Statistics, effort: Effort) -> dict[str, Any]:
    """The cost of the search; sizes in bytes."""
    return {
        "search_seconds": round(effort.seconds, 3),
        "cpu_seconds": round(effort.cpu, 3),
        # A clock may not have moved in a small search.
        "states_per_second": round(sizes.distinct / effort.seconds) if effort.seconds else None,
        "duplicates": round(1 - sizes.distinct / sizes.generated, 4) if sizes.generated else None,
        "memory": effort.memory,
        "table": effort.table,
        "table_load": round(effort.load, 4),
        "disk": effort.disk,
        **({"visited_on_disk": asdict(effort.visited)} if effort.visited else {}),
    }


def _symmetry(report: Report) -> dict[str, Any]:
    """The symmetry reduction, where a state stands for its orbit."""
    if report.group is None:
        return {}
    names = [sort.name for sort in report.group.sorts]
    return {"symmetry": {"parameters": names, "permutations": report.group.order}}


def model_object(kernel: Kernel) -> dict[str, Any]:
    """What was checked: the module, the model, and its parameters."""
    parameters = {p.name: _parameter(p) for p in kernel.parameters}
    return {"module": kernel.name, "model": kernel.model, "parameters": parameters}


def property_object(kernel: Kernel, result: PropertyResult) -> dict[str, Any]:
    """The answer about one property. Keys that do not apply are left out."""
    answer: dict[str, Any] = {"name": result.name, "kind": result.kind, "verdict": result.outcome.value}
    # What is built in, such as `deadlock`, stands in no file.
    if result.span.file:
        answer["place"] = place_object(result.span)
    if result.reason is not None:
        answer["reason"] = result.reason
    if result.trace is not None:
        answer["trace"] = trace_object(kernel, result.trace)
        if result.trace.loop is not None:
            answer["loop"] = result.trace.loop
    if result.remarks:
        answer["remarks"] = list(result.remarks)
    if result.explanation is not None:
        answer["explanation"] = explanation_object(result.explanation)
    if result.blocked:
        answer["blocked"] = [blocked_object(kernel, action) for action in result.blocked]
    if result.abstract is not None:
        answer["abstract"] = abstract_object(result.abstract)
    if result.others:
        answer["others"] = [violation_object(kernel, each) for each in result.others]
    return answer


def violation_object(kernel: Kernel, violation: Violation) -> dict[str, Any]:
    """Another violation of a property. Keys that do not apply are left out."""
    parts = {
        "reason": violation.reason,
        "trace": None if violation.trace is None else trace_object(kernel, violation.trace),
        "explanation": None if violation.explanation is None else explanation_object(violation.explanation),
        "blocked": [blocked_object(kernel, action) for action in violation.blocked] or None,
        "abstract": None if violation.abstract is None else abstract_object(violation.abstract),
    }
    return {name: part for name, part in parts.items() if part is not None}


def trace_object(kernel: Kernel, trace: Trace) -> list[dict[str, Any]]:
    """The steps: the action with arguments and picks, the state after it, and its changes as text."""
    # Changes are told beside the state, so that a reader need not compare two large objects.
    befores = [None, *trace.steps[:-1]]
    return [_step(kernel, before, step) for before, step in zip(befores, trace.steps, strict=True)]


def _step(kernel: Kernel, before: Step | None, step: Step) -> dict[str, Any]:
    return {
        **step_to_json(step, kernel),
        # A step without an action, behind the first one, is a stuttering step.
        "text": step_name(kernel, step) if before is None or step.action is not None else "nothing happens",
        "changes": change_lines(kernel, before.state, step.state) if before is not None else [],
        **_shown(kernel, step.state),
    }


def _shown(kernel: Kernel, state: State) -> dict[str, Any]:
    """What ``show`` asks for; what has no value in the state is null."""
    values = {
        each.text: None if each.undefined is not None else to_json(each.value, each.type)
        for each in shown_values(kernel, state)
    }
    return {"show": values} if values else {}


def explanation_object(explanation: Explanation) -> dict[str, Any]:
    """Why a condition is false, as JSON."""
    parts = [
        {"text": p.text, "place": place_object(p.span), "holds": p.holds, "values": dict(p.values)}
        for p in explanation.parts
    ]
    answer = {
        "label": explanation.label,
        "place": place_object(explanation.span),
        "with": dict(explanation.witnesses),
        "parts": parts,
    }
    return answer | ({"undefined": explanation.undefined} if explanation.undefined else {})


def blocked_object(kernel: Kernel, blocked: BlockedAction) -> dict[str, Any]:
    """A blocked action and the guards that block it, as JSON."""
    types, _ = step_types(kernel, blocked.action)
    arguments = {name: to_json(value, types[name]) for name, value in blocked.arguments}
    guards = [{"label": label, "text": text, "place": place_object(span)} for label, text, span in blocked.guards]
    return {"action": blocked.action, "arguments": arguments, "guards": guards}


def abstract_object(side: AbstractSide) -> dict[str, Any]:
    """A step as the abstract module sees it, as JSON; a missing state is null."""

    def state(values: State | None) -> dict[str, Any] | None:
        return None if values is None else state_to_json(values, side.abstract)

    return {
        "module": side.abstract.name,
        "before": state(side.before),
        "after": state(side.after),
        "expected": side.expected,
        "place": place_object(side.place),
        "outside": side.outside,
        "attempts": [
            {
                "instance": each.instance,
                "guards": [{"label": a, "text": b, "place": place_object(c)} for a, b, c in each.guards],
                "differs": dict(each.differs),
                "why": each.why,
            }
            for each in side.attempts
        ],
    }


def _parameter(parameter: BoundParameter) -> Any:
    match parameter.value, parameter.type:
        case Sort(_, elements, _), _:
            return list(elements)
        case value, Type() as type_:
            return to_json(value, type_)
        case value, _:
            return getattr(value, "name", value)
