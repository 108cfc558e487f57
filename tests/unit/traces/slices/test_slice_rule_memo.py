"""What is computed for one rule of a clause is used for that rule alone, also where rules are made on the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from assay.grammar.load import load_text
from assay.traces.result import TraceVerdict
from assay.traces.validate import validate

STORE = """
module store
param Node: set = {n1, n2}
param Key: set = {k1, k2}
size param MaxVersion: int = 3
type Version = 0 .. MaxVersion
type Mode = 0 .. 2
state:
    mode: Mode = 0
    a_open: bool = false
    b_open: bool = false
    latest: map[Key, Version] = [k -> 0]
action shift:
    when more: mode < 2
    mode := mode + 1
action open_a:
    a_open := true
action open_b:
    b_open := true
action put(k: Key):
    when a: a_open
    latest[k] := latest[k] + 1
action remove(k: Key):
    when b: b_open
    latest[k] := latest[k] + 1
trace store_log:
    from events
    slice Key by key
    on OpenA: open_a
    on OpenB: open_b
    on Put(key: Key, version: Version, mode_seen: Mode) at version - 1: put(key) then mode == mode_seen
    on Removed(key: Key, version: Version, mode_seen: Mode) at version - 1: remove(key) then mode == mode_seen
    on Copied(key: Key, version: Version) at version - 1: observe latest[key] >= version
    numbered put, remove
    hidden shift; at most 2 between two pinned events
    order: file; commit before line within 20 ms; skew 5 ms
"""
"""A hidden ``shift`` may come at any time: where a slice has no execution, it is checked without conditions on ``mode``."""


def test_a_rule_without_its_condition_is_not_taken_for_that_of_another_slice(line: Callable[..., Any]) -> None:
    """Version 2 is observed, and its update is logged nowhere. Each slice has another action for it, by another rule."""
    events = [
        line("n1", 1, 1_000, "OpenA"),
        line("n1", 2, 2_000, "Put", key="a0", version=1, mode_seen=1),
        line("n1", 3, 3_000, "OpenB"),
        line("n1", 4, 4_000, "Removed", key="b0", version=1, mode_seen=1),
        line("n1", 5, 6_000, "Copied", key="a0", version=2),
        line("n1", 6, 6_000, "Copied", key="b0", version=2),
    ]
    found = validate(load_text(STORE), events)
    assert found.verdict is not TraceVerdict.INCONSISTENT
    assert found.violations == ()
