"""A history is divided by the elements of a set only if no call of one element depends on another."""

from __future__ import annotations

import pytest

from assay.api.bundled import locate_spec
from assay.grammar.load import load_text
from assay.traces.calls.partition import key_of_calls
from assay.traces.observe.model_size import trace_plan

KV = locate_spec("objects/kv").read_text(encoding="utf-8")
PUT = "action put(k: Key, new: Value):\n"
USED = "    value: map[Key, Value?] = [k -> none]\n    used: map[Value, bool] = [v -> true]\n"
SHARED = KV.replace("    value: map[Key, Value?] = [k -> none]\n", USED).replace(
    PUT, f"{PUT}    when open: used[new]\n"
)
OTHER_KEY = KV.replace(PUT, f"{PUT}    when alone: forall other in Key: other == k or value[other] == none\n")

RETURNED = KV.replace("call read(key: Key) returns (value: Value?)", "call read returns (key: Key, value: Value?)")
"""Which key was read is known only when the call returns."""
LATER = KV.replace("[k -> none]", "[k -> none]\n    first: map[Key, bool] in {[k in Key -> true], [k in Key -> false]}")
TOLD_APART = KV.replace("[k -> none]", "[k -> if k == k1 then none else some(v1)]")
COUNTED = KV + "invariant few: count({k in Key if value[k] != none}) <= 2\n"
NAMED = KV.replace(PUT, f"{PUT}    when not_the_first: k != k1\n")
ONE_KEY = KV + "invariant each: forall k in Key: value[k] == value[k]\n"


@pytest.mark.parametrize(
    ("text", "sort"),
    [
        pytest.param(KV, "Key", id="apart"),
        pytest.param(ONE_KEY, "Key", id="an invariant of each key"),
        pytest.param(SHARED, None, id="a shared variable"),
        pytest.param(OTHER_KEY, None, id="another key"),
        pytest.param(RETURNED, None, id="a key that is returned"),
        pytest.param(LATER, None, id="two beginnings"),
        pytest.param(TOLD_APART, None, id="keys that begin differently"),
        pytest.param(COUNTED, None, id="keys that are counted"),
        pytest.param(NAMED, None, id="a key that is named"),
    ],
)
def test_calls_are_divided_where_keys_share_nothing(text: str, sort: str | None) -> None:
    kernel = load_text(text).kernel
    found = key_of_calls(kernel, trace_plan(kernel, "jepsen"))
    assert (None if found is None else found.sort) == sort
