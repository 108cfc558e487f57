"""Traces in the Informal Trace Format: every type, and the form of the whole."""

from __future__ import annotations

import json
from typing import Any

import pytest

from assay.checker.engines.reference_engine import check
from assay.checker.options import SearchOptions
from assay.checker.saved_traces.itf import itf, trace_to_itf
from assay.grammar.kernel import types as t
from assay.grammar.load import load_text
from assay.grammar.values import Atom, FrozenMap, RecordValue, Some, Value, VariantValue

NODE = t.Sort("Node", ("a", "b"), symmetric=False)
ATOM = t.AtomType(NODE)
SMALL = t.RangeType(0, 3)
A, B = Atom("Node", 0, "a"), Atom("Node", 1, "b")
PAIR = t.RecordType("Pair", (t.FieldType("left", SMALL), t.FieldType("right", t.BOOL)))
MODE = t.EnumType("Mode", (t.VariantType("Idle", ()), t.VariantType("Busy", (t.FieldType("by", ATOM),))))
UNIT = {"#tup": list[object]()}


@pytest.mark.parametrize(
    ("value", "type_", "expected"),
    [
        (True, t.BOOL, True),
        (-3, t.INT, {"#bigint": "-3"}),
        (2, SMALL, {"#bigint": "2"}),
        (A, ATOM, "a"),
        (None, t.OptionType(SMALL), {"tag": "None", "value": UNIT}),
        (Some(1), t.OptionType(SMALL), {"tag": "Some", "value": {"#bigint": "1"}}),
        (VariantValue("Idle", ()), MODE, {"tag": "Idle", "value": UNIT}),
        (VariantValue("Busy", (B,)), MODE, {"tag": "Busy", "value": {"by": "b"}}),
        (RecordValue((1, False)), PAIR, {"left": {"#bigint": "1"}, "right": False}),
        (frozenset({B, A}), t.SetType(ATOM), {"#set": ["a", "b"]}),
        ((B, A, B), t.SeqType(ATOM, 3), ["b", "a", "b"]),
        (FrozenMap({B: 2}), t.BagType(ATOM, 3), {"#map": [["b", {"#bigint": "2"}]]}),
        (FrozenMap({B: True, A: False}), t.MapType(ATOM, t.BOOL), {"#map": [["a", False], ["b", True]]}),
    ],
)
def test_values_of_every_type(value: Value, type_: t.Type, expected: Any) -> None:
    assert itf(value, type_) == expected


def test_a_trace_has_its_variables_and_one_state_for_each_step() -> None:
    text = """
param Node: set = {a, b}
state:
    owner: Node? = none
action take(n: Node):
    owner := n
invariant free: owner == none
"""
    kernel = load_text(text).kernel
    found = next(p for p in check(kernel, SearchOptions()).properties if p.name == "free")
    assert found.trace is not None
    data = json.loads(json.dumps(trace_to_itf(found.trace, kernel, "lock.assay", "free")))
    assert data["#meta"]["format"] == "ITF"
    assert data["vars"] == ["owner"]
    assert [state["#meta"]["index"] for state in data["states"]] == [0, 1]
    assert data["states"][1]["#meta"] | {"action": "take", "arguments": {"n": "a"}} == data["states"][1]["#meta"]
    assert data["states"][1]["owner"] == {"tag": "Some", "value": "a"}
