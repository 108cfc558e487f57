"""Slices say what a search of all lines together says: of random shops and stores, whose clocks differ, with shared states, numbers and mistakes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random
from types import MappingProxyType

import pytest
from tests.stages import slow

from assay.grammar.load import load_text
from assay.traces.event import Event, Field, LogPosition, LogRecord, ProcessRun
from assay.traces.options import Options
from assay.traces.result import TraceVerdict
from assay.traces.validate import validate

from .test_pinned_slices import READS_SHARED, SLICED, SPEC, written

STORE = """\
module store

param Key: set = {k1, k2}
param Node: set = {n1, n2}
size param Most: int = 3

type Count = 0 .. Most

state:
    open: bool = false
    version: map[Key, Count] = [k -> 0]
    owner: map[Key, Node?] = [k -> none]

action turn:
    open := not open

action write(k: Key, n: Node):
    when open
    version[k] := version[k] + 1
    owner[k] := some(n)

trace log:
    from events
    slice Key by key
    on Turned: turn
    on Written(key: Key, v: Count, node: Node) at v - 1: write(key, node) then version[key] == v
    on Read(key: Key, v: Count): observe version[key] == v
    on Owner(key: Key, by: Node): observe owner[key] == some(by)
    order: file; commit before line within 4 ms; skew 2 ms
"""
UNBOUNDED = STORE.replace("commit before line within 4 ms; ", "")
NODES = "n1", "n2", "n3"


def of_store(random: Random) -> list[Event]:
    """What nodes write into a store that opens and closes, and what they read there. Some lines are wrong: they report
    what is not so, or write while it is closed.
    """
    time, is_open, versions = 1_000, False, Counter[str]()
    owners: dict[str, str] = {}
    lines: list[tuple[int, str, str, dict[str, Field]]] = []
    wrong = random.random() < 0.3
    for _ in range(random.randint(5, 14)):
        time += random.choice((0, 1, 2, 9, 30))
        node, key, what = random.choice(NODES), random.choice("ab"), random.random()
        if what < 0.2 or not lines:
            is_open = not is_open
            lines.append((time, node, "Turned", {}))
        elif what < 0.6:
            if is_open or (wrong and random.random() < 0.3):
                versions[key] += 1
                owners[key] = node
                lines.append((time, node, "Written", {"key": key, "v": versions[key]}))
        elif what < 0.8:
            lines.append((time, node, "Read", {"key": key, "v": versions[key] + (wrong and random.random() < 0.2)}))
        elif key in owners:
            lines.append((time, node, "Owner", {"key": key, "by": owners[key]}))
    ahead, last, events = {node: random.choice((0, 1)) for node in NODES}, dict.fromkeys(NODES, 0), list[Event]()
    for time, node, kind, fields in lines:
        last[node] = max(last[node], time + ahead[node] + random.choice((0, 0, 1, 2)))
        record = LogRecord(LogPosition(f"{node}.log", len(events), 0), last[node], "INFO", "store", None, kind)
        events.append(Event(kind, kind, MappingProxyType(fields), record, ProcessRun(node, 1)))
    return events


def of_shop(random: Random) -> list[Event]:
    """What is said of three orders at most."""
    return written(random, 3)


CASES = [
    (SPEC, of_shop, 40),
    slow((READS_SHARED, of_shop, 40)),
    slow((STORE, of_store, 100)),
    slow((UNBOUNDED, of_store, 100)),
]


@pytest.mark.slow
@pytest.mark.parametrize(("text", "write", "logs"), CASES, ids=["apart", "shared", "numbered", "unbounded"])
def test_slices_say_what_a_search_of_all_lines_says(
    text: str, write: Callable[[Random], list[Event]], logs: int
) -> None:
    sliced = load_text(text)
    whole = load_text(text.replace(SLICED, "").replace("    slice Key by key\n", "").replace(" at v - 1:", ":"))
    seen: Counter[tuple[TraceVerdict, TraceVerdict]] = Counter()
    for seed in range(logs):
        events = write(Random(seed))
        found = validate(sliced, events).verdict
        expected = validate(whole, events, options=Options(mismatches=1)).verdict
        seen[expected, found] += 1
        assert found in (expected, TraceVerdict.INCONCLUSIVE), seed
    assert seen[TraceVerdict.CONSISTENT, TraceVerdict.CONSISTENT] > logs // 2, seen
    assert seen[TraceVerdict.INCONSISTENT, TraceVerdict.INCONSISTENT] > logs // 20, seen
    assert sum(count for (_, found), count in seen.items() if found is TraceVerdict.INCONCLUSIVE) < logs // 20, seen
