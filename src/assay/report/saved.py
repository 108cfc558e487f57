"""Counterexamples in files: what `assay check --trace-out` writes and `assay replay` reads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from assay.checker.reference.instance import pick_types
from assay.checker.replay import Call
from assay.checker.verdict import PropertyResult, State
from assay.grammar.kernel import Action, Kernel
from assay.report.check_object import VERSION, trace_object
from assay.report.values import value_from_json

KIND = "counterexample"


@dataclass(frozen=True, slots=True)
class Saved:
    """A saved run: the spec, model and settings it was found with, the property it violates, and its steps as JSON."""

    spec: str
    model: str | None
    settings: Mapping[str, str]
    property: str
    steps: tuple[Mapping[str, Any], ...]


def saved_text(
    kernel: Kernel, spec: str, model: str | None, settings: Mapping[str, str], result: PropertyResult
) -> str:
    """The file of a counterexample; the result must have a trace."""
    assert result.trace is not None
    data = {
        "assay": VERSION,
        "kind": KIND,
        "spec": spec,
        "model": model,
        "set": dict(settings),
        "property": result.name,
        "trace": trace_object(kernel, result.trace),
    }
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"


def parse_saved(text: str) -> Saved:
    """The saved run; raises ValueError that says what is wrong with the text."""
    try:
        data = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"this is no JSON: {error}") from error
    if not isinstance(data, dict) or data.get("kind") != KIND:
        raise ValueError("this JSON is no saved counterexample: it lacks `kind`")
    if data.get("assay") != VERSION:
        raise ValueError(f"the file has version {data.get('assay')!r}, and this assay reads version {VERSION!r}")
    try:
        return _saved(data)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"the file is damaged: {type(error).__name__} {error}") from error


def _saved(data: Mapping[str, Any]) -> Saved:
    steps = tuple(data["trace"])
    for step in steps:
        _ = step["action"], step["arguments"].items(), step["picks"].items(), step["state"].items()
    if not steps or steps[0]["action"] is not None:
        raise KeyError("initial state")
    model = None if data["model"] is None else str(data["model"])
    settings = {str(name): str(value) for name, value in data["set"].items()}
    return Saved(str(data["spec"]), model, settings, str(data["property"]), steps)


def initial_state(saved: Saved, kernel: Kernel) -> State | None:
    """The initial state of the run; None where the kernel's state is made of other things now."""
    values = saved.steps[0]["state"]
    try:
        return tuple(value_from_json(values[variable.name], variable.type) for variable in kernel.variables)
    except (KeyError, ValueError):
        return None


def calls(saved: Saved, kernel: Kernel) -> list[Call]:
    """The steps after the initial state; raises ValueError where the kernel has no such action or value."""
    return [_call(step, number, kernel) for number, step in enumerate(saved.steps[1:], start=2)]


def _call(step: Mapping[str, Any], number: int, kernel: Kernel) -> Call:
    name = step["action"]
    if name not in kernel.next:
        raise ValueError(f"step {number} is {name}, and the spec has no such step")
    try:
        return _decode(step, kernel.action(name))
    except (KeyError, ValueError) as error:
        raise ValueError(f"step {number}, {name}: {error}") from error


def _decode(step: Mapping[str, Any], action: Action) -> Call:
    given = step["arguments"]
    if list(given) != [parameter.binder.name for parameter in action.parameters]:
        raise ValueError(f"its parameters are no longer {', '.join(given) or 'none'}")
    arguments = tuple(value_from_json(given[p.binder.name], p.binder.type) for p in action.parameters)
    types = pick_types(action.body)
    picks = tuple((name, value_from_json(value, types[name])) for name, value in step["picks"].items() if name in types)
    return Call(action.name, arguments, picks)
