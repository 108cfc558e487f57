"""Traces in Apalache's Informal Trace Format, which Quint reads too.

The format: https://apalache-mc.org/docs/adr/015adr-trace.html

=====================  ====================================================================
type                   ITF
=====================  ====================================================================
``bool``               ``true``, ``false``
integers               ``{"#bigint": "3"}``
element of a set       its name as a string
``T?``                 a variant: ``{"tag": "Some", "value": …}``, ``{"tag": "None", "value": {"#tup": []}}``
enum                   a variant; its value is the record of the payload, or the empty tuple
record                 an object
``set``, ``map``       ``{"#set": […]}``, ``{"#map": [[key, value], …]}``
``bag``                a map from element to multiplicity
``seq``                an array
=====================  ====================================================================

The action of a step, with its arguments and picks, is in ``#meta`` of the state that it leads to. What ``show`` asks for
is there as ``show``. Of an infinite run ``loop`` is the number of the state that follows the last one. The step to it
is in ``#meta`` of the whole as ``loop``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, assert_never

from assay.checker.interpreter.values.value_order import sorter
from assay.checker.report import Step, Trace
from assay.checker.results.show_instance import show_instance
from assay.checker.results.shown import shown_values
from assay.checker.saved_traces.saved_trace import step_types
from assay.grammar import kernel as k
from assay.grammar.kernel import types as t
from assay.grammar.kernel.node_unions import kind
from assay.grammar.values import Value

FORMAT = "https://apalache-mc.org/docs/adr/015adr-trace.html"
UNIT: dict[str, Any] = {"#tup": []}


def trace_to_itf(trace: Trace, kernel: k.Kernel, spec: str, property_: str) -> dict[str, Any]:
    """The trace as an object for ``json.dumps``; ``property_`` is what it violates or, of a reachable, reaches."""
    meta = {"format": "ITF", "format-description": FORMAT, "source": spec, "description": f"{kernel.name}: {property_}"}
    states = [_state(number, step, kernel) for number, step in enumerate(trace.steps)]
    named = {"vars": [variable.name for variable in kernel.variables]}
    if trace.loop is None:
        return {"#meta": meta, **named, "states": states}
    if trace.loop == len(states) - 1:
        return {"#meta": meta, **named, "states": states, "loop": trace.loop}
    back = {"loop": _meta(trace.steps[-1], kernel)}
    return {"#meta": {**meta, **back}, **named, "states": states[:-1], "loop": trace.loop}


def _state(number: int, step: Step, kernel: k.Kernel) -> dict[str, Any]:
    variables = zip(kernel.variables, step.state, strict=True)
    shown = {each.text: itf(each.value, each.type) for each in shown_values(kernel, step.state) if not each.undefined}
    meta = {"index": number, **_meta(step, kernel), **({"show": shown} if shown else {})}
    return {"#meta": meta} | {v.name: itf(value, v.type) for v, value in variables}


def _meta(step: Step, kernel: k.Kernel) -> dict[str, Any]:
    parameters, picks = step_types(kernel, step.action)
    named = {"arguments": _named(step.arguments, parameters), "picks": _named(step.picks, picks)}
    if step.action is None:
        return named
    text = show_instance(kernel.action(step.action), [value for _, value in step.arguments], step.picks)
    return {"action": step.action, **named, "text": text}


def _named(values: Iterable[tuple[str, Value]], types: Mapping[str, t.Type]) -> dict[str, Any]:
    return {name: itf(value, types[name]) for name, value in values}


def itf(value: Value, type_: t.Type) -> Any:
    """A value as ITF."""
    known: Any = value
    match kind(type_):
        case t.BoolType():
            return known
        case t.IntType() | t.RangeType():
            return {"#bigint": str(known)}
        case t.AtomType():
            return known.name
        case t.OptionType(item):
            return {"tag": "None", "value": UNIT} if known is None else {"tag": "Some", "value": itf(known.value, item)}
        case t.EnumType(_, variants):
            fields = next(variant.fields for variant in variants if variant.name == known.variant)
            return {"tag": known.variant, "value": _fields(known.payload, fields) if fields else UNIT}
        case t.RecordType("", parts):
            return {"#tup": [itf(x, part.type) for x, part in zip(known.fields, parts, strict=True)]}
        case t.RecordType(_, record_fields):
            return _fields(known.fields, record_fields)
        case t.SetType(item):
            return {"#set": [itf(x, item) for x in sorter(item)(known)]}
        case t.SeqType(item):
            return [itf(x, item) for x in known]
        case t.BagType(item):
            return {"#map": [[itf(x, item), itf(known[x], t.INT)] for x in sorter(item)(known)]}
        case t.MapType(key, image):
            return {"#map": [[itf(x, key), itf(known[x], image)] for x in sorter(key)(known)]}
        case other:
            assert_never(other)


def _fields(values: Iterable[Value], fields: Iterable[t.FieldType]) -> dict[str, Any]:
    return {field.name: itf(value, field.type) for value, field in zip(values, fields, strict=True)}
