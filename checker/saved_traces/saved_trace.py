"""Traces as JSON, so that a counterexample can be kept and replayed after an edit.

::

    {"assay": "1", "spec": "kafka/controller.assay", "model": "small", "set": {"Fence": "false"},
     "property": "one_controller",
     "steps": [{"action": null, "arguments": {}, "picks": {}, "state": {"sessions": ["b1"], …}},
               {"action": "elect", "arguments": {"b": "b1"}, "picks": {}, "state": {…}}, …]}

An infinite run has ``"loop"``: the place, from 0, of the step whose state the last one repeats. If that is the last
step itself, the run stops there. Its later steps may have no action: nothing happens.

The first step is the initial state; its picks are those of ``init``. Values are written as in ``json_values``.
``model`` is null if no model was chosen; ``set`` holds the parameters given on the command line, as they were written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from assay.checker.interpreter.actions.outcome import Picks
from assay.checker.report import State, Step, Trace
from assay.checker.results.show_instance import pick_types
from assay.checker.saved_traces.json_values import NotOfType, from_json, to_json
from assay.grammar import kernel as k
from assay.grammar.diagnostics.diagnostic import Diagnostic, Span, SpecError
from assay.grammar.kernel.types import Type
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Value

VERSION = "1"
NOT_A_TRACE = "E805"


@dataclass(frozen=True, slots=True)
class SavedStep:
    """A saved step. Its values are JSON, to be read by the types of the kernel in which it is replayed."""

    action: str | None
    arguments: dict[str, Any]
    picks: dict[str, Any]
    state: dict[str, Any]


@dataclass(frozen=True, slots=True)
class SavedTrace:
    """A trace with what is needed to load its model again: ``spec`` as given to the command, ``model`` and ``set``
    likewise."""

    spec: str
    property: str
    steps: tuple[SavedStep, ...]
    model: str | None = None
    settings: dict[str, str] = field(default_factory=dict)
    loop: int | None = None


def trace_to_json(
    trace: Trace, kernel: k.Kernel, spec: str, property_: str, settings: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """The trace as an object for ``json.dumps``."""
    steps = [step_to_json(step, kernel) for step in trace.steps]
    # The model by its name, parameters as they were written: an edit of the spec may change what they mean.
    head = {"assay": VERSION, "spec": spec, "model": kernel.model, "set": dict(settings or {}), "property": property_}
    return {**head, "steps": steps, **({} if trace.loop is None else {"loop": trace.loop})}


def step_to_json(step: Step, kernel: k.Kernel) -> dict[str, Any]:
    """A step with its arguments, picks and the state after it, as an object."""
    parameters, picks = step_types(kernel, step.action)
    return {
        "action": step.action,
        "arguments": _named_to_json(step.arguments, parameters),
        "picks": _named_to_json(step.picks, picks),
        "state": state_to_json(step.state, kernel),
    }


def state_to_json(state: State, kernel: k.Kernel) -> dict[str, Any]:
    """A state as an object from the names of the variables to their values."""
    return {v.name: to_json(value, v.type) for v, value in zip(kernel.variables, state, strict=True)}


def _named_to_json(values: Picks, types: Mapping[str, Type]) -> dict[str, Any]:
    return {name: to_json(value, types[name]) for name, value in values}


def step_types(kernel: k.Kernel, action: str | None) -> tuple[dict[str, Type], dict[str, Type]]:
    """The types of an action's parameters and picks by name; of the initial state for None. Raises KeyError."""
    if action is None:
        return {}, pick_types(kernel.init.body)
    node = kernel.action(action)
    return {p.binder.name: p.binder.type for p in node.parameters}, pick_types(node.body)


def trace_from_json(data: Any, file: str = "") -> SavedTrace:
    """The saved trace; raises ``SpecError`` (E805) if the object is not one."""
    try:
        return _trace(data)
    except NotOfType as reason:
        raise SpecError([Diagnostic(NOT_A_TRACE, Span(file, 1, 1, 1, 1), f"not a saved trace: {reason}")]) from None


def _trace(data: Any) -> SavedTrace:
    if _part(data, "assay", str) != VERSION:
        raise NotOfType(f'its version `"assay"` is {data["assay"]!r}, not "{VERSION}"')
    settings = _part(data, "set", dict)
    if not all(isinstance(value, str) for value in settings.values()):
        raise NotOfType("`set` holds something that is not text")
    model = data.get("model")
    if not isinstance(model, str | None):
        raise NotOfType("`model` is neither a name nor null")
    goes_on = data.get("loop") is not None
    steps = tuple(_step(number, each, goes_on) for number, each in enumerate(_part(data, "steps", list)))
    if not steps:
        raise NotOfType("it has no steps")
    return SavedTrace(
        _part(data, "spec", str), _part(data, "property", str), steps, model, settings, _loop(data, len(steps))
    )


def _loop(data: Any, length: int) -> int | None:
    loop = data.get("loop")
    # In Python `true` is the number 1.
    if loop is not None and not (isinstance(loop, int) and not isinstance(loop, bool) and 0 <= loop < length):
        raise NotOfType("`loop` is not the place of a step")
    return loop


def _step(number: int, data: Any, goes_on: bool) -> SavedStep:
    action = None if isinstance(data, dict) and data.get("action", 0) is None else _part(data, "action", str)
    # Only a run that goes on for ever may stutter: elsewhere a step without action is a damaged file.
    if (action is None) is not (number == 0) and not (goes_on and number):
        raise NotOfType("the first step, and no other, is the initial state")
    return SavedStep(action, _part(data, "arguments", dict), _part(data, "picks", dict), _part(data, "state", dict))


def _part(data: Any, name: str, wanted: type) -> Any:
    if not isinstance(data, dict) or name not in data:
        raise NotOfType(f"`{name}` is missing")
    if not isinstance(data[name], wanted):
        raise NotOfType(
            f"`{name}` is not {'an object' if wanted is dict else 'an array' if wanted is list else 'text'}"
        )
    return data[name]


def read_values(data: Mapping[str, Any], types: Mapping[str, Type]) -> dict[str, Value]:
    """The values named in the object that are also named in the types; raises ``NotOfType``."""
    # A pick that the edited spec no longer has is left out, not refused: the state may still decide between steps.
    return {name: from_json(value, types[name]) for name, value in data.items() if name in types}
