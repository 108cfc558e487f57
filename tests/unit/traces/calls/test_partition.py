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


@pytest.mark.parametrize(
    ("text", "sort"),
    [(KV, "Key"), (SHARED, None), (OTHER_KEY, None)],
    ids=["apart", "a shared variable", "another key"],
)
def test_calls_are_divided_where_keys_share_nothing(text: str, sort: str | None) -> None:
    kernel = load_text(text).kernel
    found = key_of_calls(kernel, trace_plan(kernel, "jepsen"))
    assert (None if found is None else found.sort) == sort
