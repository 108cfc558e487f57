"""A saved trace is followed in the model as it is now, as far as that goes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.checker.engines.reference_engine import check
from assay.checker.options import SearchOptions
from assay.checker.saved_traces.replay import replay
from assay.checker.saved_traces.saved_trace import SavedTrace, trace_from_json, trace_to_json
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.load import load_spec

Load = Callable[..., Any]

MODEL = """
param Node: set = {a, b}
state:
    owner: Node? = none
    round: 0 .. 3 = 0
action take(n: Node):
    when free: owner == none
    bound limit: round < 3
    owner := n
    round := round + 1
action drop:
    when held: owner != none
    pick hop in {0, 1}
    when even: hop == 0
    owner := none
invariant early: round < 2
transition slow: round <= old(round) + 1
"""


def saved(load: Load, text: str = MODEL, name: str = "early", **options: Any) -> SavedTrace:
    kernel = load(text).kernel
    result = next(each for each in check(kernel, SearchOptions(**options)).properties if each.name == name)
    assert result.trace is not None
    data = trace_to_json(result.trace, kernel, "m.assay", name, {"Node": "{a, b}"})
    return trace_from_json(json.loads(json.dumps(data)))


def test_a_trace_survives_json(load: Load) -> None:
    trace = saved(load)
    assert (trace.spec, trace.property, trace.model, trace.settings) == ("m.assay", "early", None, {"Node": "{a, b}"})
    assert [step.action for step in trace.steps] == [None, "take", "drop", "take"]
    assert trace.steps[2].picks == {"hop": 0}
    assert trace.steps[1].arguments == {"n": "a"}
    assert trace.steps[1].state == {"owner": "a", "round": 1}


def test_an_unchanged_model_follows_to_the_end_and_is_violated_again(load: Load) -> None:
    answer = replay(load(MODEL).kernel, saved(load))
    assert (answer.diverged, answer.differs, answer.violated) == (None, None, True)
    assert (len(answer.trace), answer.total) == (4, 4)
    assert answer.explanation is not None
    assert answer.explanation.label == "round < 2"


def test_a_property_that_was_repaired_is_not_violated_any_more(load: Load) -> None:
    answer = replay(load(MODEL.replace("round < 2", "round < 3")).kernel, saved(load))
    assert (answer.diverged, answer.violated) == (None, False)


EDITS = [
    ("when free: owner == none", "when free: owner == none and round == 0", 3, "false is free"),
    ("bound limit: round < 3", "bound limit: round < 1", 3, "is cut by the bound `limit`"),
    ("when even: hop == 0", "when even: hop == 2", 2, "`drop` is not enabled; false is even"),
    ("action drop:", "action release:", 2, "the model has no step `drop`"),
    ("take(n: Node)", "take(m: Node)", 1, "now has the parameters (m), the trace gives (n)"),
    ("take(n: Node)", "take(n: Node, k in {0})", 1, "now has the parameters (n, k), the trace gives (n)"),
    ("{a, b}", "{b, c}", 1, "'a' is no value of the type `Node`"),
    ("take(n: Node)", "take(n in {b})", 1, "`take(a)` is no instance any more"),
    ("round := round + 1", "round := round + 4", 1, "`take(a)` is undefined: 4 is not in 0 .. 3"),
]


@pytest.mark.parametrize(("old", "new", "step", "reason"), EDITS, ids=[row[1] for row in EDITS])
def test_the_first_step_that_cannot_be_taken_is_told(load: Load, old: str, new: str, step: int, reason: str) -> None:
    text = MODEL.replace(old, new).replace("owner := n\n", "owner := m\n" if "m: Node" in new else "owner := n\n")
    answer = replay(load(text).kernel, saved(load))
    assert answer.diverged is not None
    assert answer.diverged.startswith(f"step {step}: ")
    assert reason in answer.diverged
    assert len(answer.trace) == step
    assert answer.violated is None


def test_a_state_that_differs_is_told_and_followed_on(load: Load) -> None:
    answer = replay(load(MODEL.replace("round := round + 1", "round := 1")).kernel, saved(load))
    assert answer.diverged is None
    assert answer.differs == (3, ("round",))
    assert answer.violated is False


def test_the_saved_pick_is_taken_though_another_one_leads_to_the_saved_state(load: Load) -> None:
    """Two picks changed their effects: the run is that of the choices, and not that of the states."""
    text = """
    state:
        n: 0 .. 9 = 0
    action jump:
        when n == 0
        pick by in {1, 2}
        n := EFFECT
    invariant low: n < 2
    """
    trace = saved(load, text.replace("EFFECT", "by"), "low")
    assert (trace.steps[1].picks, trace.steps[1].state) == ({"by": 2}, {"n": 2})
    answer = replay(load(text.replace("EFFECT", "3 - by")).kernel, trace)
    assert answer.trace.steps[1].picks == (("by", 2),)
    assert (answer.differs, answer.violated) == ((1, ("n",)), False)


def test_a_deadlock_is_judged_where_the_trace_ends(load: Load) -> None:
    stuck = MODEL.replace("bound limit", "when limit").replace("when even: hop == 0", "when even: round < 1")
    trace = saved(load, stuck, "deadlock")
    assert replay(load(stuck).kernel, trace).violated is True
    assert replay(load(stuck + "terminal: true\n").kernel, trace).violated is False


def test_what_is_undefined_is_judged_where_the_trace_ends(load: Load) -> None:
    broken = MODEL.replace("bound limit: round < 3\n", "bound limit: true\n").replace("round < 2", "round < 9")
    trace = saved(load, broken, "defined")
    assert [step.action for step in trace.steps] == [None, "take", "drop", "take", "drop", "take", "drop"]
    assert replay(load(broken).kernel, trace).violated is True
    assert replay(load(MODEL).kernel, trace).violated is False


def test_a_terminal_condition_without_a_value_is_judged_where_the_trace_ends(load: Load) -> None:
    stuck = MODEL.replace("bound limit", "when limit").replace("when even: hop == 0", "when even: round < 1")
    broken = f"{stuck}terminal: 1 // (round - 1) == 5\n"
    undefined = replay(load(broken).kernel, saved(load, broken, "defined"))
    assert undefined.violated is True
    assert undefined.reason == "`//` by zero, in terminal"
    assert replay(load(broken).kernel, saved(load, broken, "deadlock")).violated is True
    assert replay(load(stuck).kernel, saved(load, broken, "defined")).violated is False


def test_a_mapping_without_a_value_is_judged_where_the_trace_ends(tmp_path: Path) -> None:
    (tmp_path / "high.assay").write_text("module high\nstate:\n    z: 0 .. 9 = 0\naction up:\n    z := 9\n")
    low = tmp_path / "low.assay"
    low.write_text(
        "module low\nstate:\n    n: 0 .. 2 = 0\naction go:\n    when n < 2\n    n := n + 1\n"
        "refines high with:\n    z = 0 * (4 // (2 - n))\n    action go = stutter\n"
    )
    kernel = load_spec(low).kernel
    result = next(each for each in check(kernel).properties if each.name == "defined")
    assert result.trace is not None
    trace = trace_from_json(trace_to_json(result.trace, kernel, "low.assay", "defined"))
    answer = replay(kernel, trace)
    assert answer.violated is True
    assert answer.reason == "`//` by zero, in the mapping of `refines high`"


@pytest.mark.parametrize(
    "damage",
    [
        [],
        {},
        {"assay": "2"},
        {"set": {"Node": 3}},
        {"model": 3},
        {"steps": []},
        {"steps": [{}]},
        {"steps": [{"action": "take", "arguments": {}, "picks": {}, "state": {}}]},
        {"steps": [{"action": None, "arguments": {}, "picks": [], "state": {}}]},
    ],
)
def test_what_is_not_a_trace_is_refused_with_a_diagnostic(load: Load, damage: object) -> None:
    whole: dict[str, Any] = {"assay": "1", "spec": "m", "model": None, "set": {}, "property": "p", "steps": []}
    data = {**whole, **damage} if isinstance(damage, dict) and damage else damage
    with pytest.raises(SpecError) as error:
        trace_from_json(data, "trace.json")
    assert [(each.code, each.span.file) for each in error.value.diagnostics] == [("E805", "trace.json")]
