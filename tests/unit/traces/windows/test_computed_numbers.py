"""Logs that begin anywhere, of specs that compute with the numbers of the log or compare them with their own."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.grammar.load import Loaded, load_text
from assay.traces.log_reader import ReadOptions, read_logs
from assay.traces.observe.binding import EventBinder
from assay.traces.observe.model_size import sized_kernel, trace_plan
from assay.traces.options import Options
from assay.traces.result import TraceVerdict
from assay.traces.search.stuttering import compared_order
from assay.traces.search.transition_system import TraceModel
from assay.traces.validate import validate
from assay.traces.windows.numbers import probe_of
from assay.traces.windows.slice_window import lasting
from assay.traces.windows.window_model import LogPart, window_model

SPEC = """\
module amounts

param Node: set = {a, b}
size param Max: int = 30
type Amount = LOW .. Max

state:
    held: map[Node, Amount] = [n -> 0]

action write(n: Node, x: Amount, y: Amount):
    when fits: GUARD
    held[n] := y

action reset(n: Node):
    held[n] := LOW

MORE
trace log:
    from events
    begins anywhere
    order: file
    on Wrote(node: Node, x: Amount, y: Amount): write(node, x, y)
    on Reset(node: Node): reset(node)
    on Held(node: Node, y: Amount): observe held[node] == y
"""

Said = tuple[str, dict[str, Any]]


def spec(guard: str, low: int = 0, more: str = "", order: str = "file") -> Loaded:
    text = SPEC.replace("GUARD", guard).replace("LOW", str(low)).replace("MORE", more)
    return load_text(text.replace("order: file", f"order: {order}"))


def verdict(folder: Path, loaded: Loaded, said: Sequence[Said]) -> TraceVerdict:
    lines: list[dict[str, Any]] = [
        {"event": kind, "node": "a", "time": 1_000 * at, **fields} for at, (kind, fields) in enumerate(said)
    ]
    (folder / "events.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines))
    source = trace_plan(loaded.kernel, "log").source
    return validate(loaded, read_logs([str(folder)], ReadOptions(source=source)).events).verdict


def held(y: int) -> Said:
    return "Held", {"y": y}


def wrote(x: int, y: int) -> Said:
    return "Wrote", {"x": x, "y": y}


@pytest.mark.parametrize(
    ("guard", "said", "breach"),
    [
        ("y >= 16", [held(1), wrote(0, 17), held(17)], [held(1), wrote(0, 15)]),
        ("y >= 1000", [held(1), wrote(0, 1117), held(1117)], [held(1), wrote(0, 999)]),
        ("y >= held[n] + 10", [held(50), wrote(0, 90)], [held(50), wrote(0, 55)]),
        ("y - held[n] > 10", [held(50), wrote(0, 90)], [held(50), wrote(0, 55)]),
        ("y == held[n] + x", [held(50), wrote(70, 120)], [held(50), wrote(70, 121)]),
        ("y == 3 * held[n]", [held(50), wrote(0, 150)], [held(50), wrote(0, 149)]),
    ],
)
def test_numbers_of_a_window_mean_what_those_of_the_log_mean(
    guard: str, said: list[Said], breach: list[Said], tmp_path: Path
) -> None:
    assert verdict(tmp_path, spec(guard), said) is TraceVerdict.CONSISTENT
    assert verdict(tmp_path, spec(guard), breach) is TraceVerdict.INCONSISTENT


def test_numbers_may_be_below_zero(tmp_path: Path) -> None:
    said = [wrote(0, 100), wrote(0, 101), ("Reset", {}), held(-1), wrote(0, 0)]
    assert verdict(tmp_path, spec("y == held[n] + 1", low=-1), said) is TraceVerdict.CONSISTENT


@pytest.mark.parametrize("order", ["file", "lines"])
def test_what_a_line_names_does_nothing_unseen_in_a_log_of_all_nodes_either(order: str, tmp_path: Path) -> None:
    loaded = spec("y == held[n] + 1", order=order)
    assert verdict(tmp_path, loaded, [wrote(0, 100), wrote(0, 101)]) is TraceVerdict.CONSISTENT
    assert verdict(tmp_path, loaded, [wrote(0, 100), wrote(0, 102)]) is TraceVerdict.INCONSISTENT


def test_what_rises_by_a_little_with_each_step_does_not_last() -> None:
    near = "transition near: forall n in Node: held[n] <= old(held[n]) + 5\n"
    up = "transition up: forall n in Node: held[n] >= old(held[n])\n"
    far = "transition far: forall n in Node: held[n] <= old(held[n]) + 500\n"
    loaded = spec("true", more=near + up + far)
    assert lasting(LogPart(loaded, trace_plan(loaded.kernel, "log"), Options())) == {"up"}


@pytest.mark.parametrize(
    ("guard", "constants", "distance", "exact"),
    [
        ("y > x", set(), 0, False),
        ("y >= 1008\n    bound small: y <= Max - 1", {1, 1008}, 1, False),
        ("2 * count(Node) > 3", {2, 3}, 3, False),
        ("(if y > 3 then x else y) + held[n] > 5", {3, 5}, 5, True),
        ("y // 2 == x", {2}, 2, True),
    ],
)
def test_which_numbers_are_the_specs_own(guard: str, constants: set[int], distance: int, *, exact: bool) -> None:
    probe = probe_of(spec(guard), "log")
    assert (set(probe.constants - {0}), probe.distance, probe.exact) == (constants, distance, exact)


GROWING = """\
module lists

param Node: set = {a, b}
size param Max: int = 3
size param Most: int = 3
type N = 0 .. Max

state:
    held: map[Node, LIST[N, max Most]] = [n -> EMPTY]

action add(n: Node, x: N):
    held[n] := held[n] + ONE

trace log:
    from events
    begins anywhere
    order: file
    on Added(node: Node, x: N): add(node, x)
    on Held(node: Node, all: LIST[N, max Most]): observe held[node] == all
    on Counted(node: Node, most: 0 .. 40): observe count(held[node]) == most
    on Many(node: Node, x: N): observe count(held[node]) == x
"""


@pytest.mark.parametrize(("kind", "empty", "one"), [("seq", "[]", "[x]"), ("set", "{}", "{x}")])
def test_a_window_has_room_for_the_collections_that_lines_state_and_add_to(
    kind: str, empty: str, one: str, tmp_path: Path
) -> None:
    loaded = load_text(GROWING.replace("LIST", kind).replace("EMPTY", empty).replace("ONE", one))
    held = list(range(1, 13))
    added: list[Said] = [("Added", {"x": 13}), ("Held", {"all": [*held, 13]})]
    assert verdict(tmp_path, loaded, [("Held", {"all": held}), *added]) is TraceVerdict.CONSISTENT
    assert verdict(tmp_path, loaded, [("Held", {"all": held[:-1]}), *added]) is TraceVerdict.INCONSISTENT
    many: list[Said] = [("Added", {"x": each}) for each in held]
    counted: list[Said] = [("Counted", {"most": 5}), *many, ("Counted", {"most": 17})]
    assert verdict(tmp_path, loaded, counted) is not TraceVerdict.INCONSISTENT
    counted = [("Many", {"x": 5}), *[("Added", {"x": each}) for each in range(1, 9)], ("Many", {"x": 13})]
    assert verdict(tmp_path, loaded, counted) is not TraceVerdict.INCONSISTENT


def test_what_is_counted_has_all_its_elements_in_each_window(tmp_path: Path) -> None:
    enough = "count({m in Node if held[m] > 0}) < count(Node) - 2"
    loaded, nodes = spec(enough), ("a", "b", "c", "d")
    items = [{"event": "Held", "node": each, "y": 0, "time": 1_000 * at} for at, each in enumerate(nodes)]
    (tmp_path / "events.jsonl").write_text("".join(json.dumps(each) + "\n" for each in items))
    events = read_logs([str(tmp_path)], ReadOptions(source=trace_plan(loaded.kernel, "log").source)).events
    kernel, plan = sized_kernel(loaded, events, len(events), None)
    model = TraceModel(kernel, plan)
    lines = compared_order(model, EventBinder(plan, model.applies).bind(events).observations).items
    elements = {each.name: each.elements for each in kernel.sorts}
    log = LogPart(loaded, trace_plan(loaded.kernel, "log"), Options(), events, elements=elements)
    window = window_model(log, lines[:1])
    assert set(nodes) <= set(window.names["Node"])
    assert len(window.names["Node"]) == len(elements["Node"])
    assert len(window_model(replace(log, loaded=spec("true")), lines[:1]).names["Node"]) == 1
