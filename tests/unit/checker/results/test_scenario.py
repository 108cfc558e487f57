"""Scenarios: what may happen, what is refused and by which guard, what is expected."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from assay.checker.engines.reference_engine import check
from assay.checker.interpreter.actions.action import ActionMeaning
from assay.checker.options import SearchOptions
from assay.checker.report import Outcome

Run = Callable[..., Any]
Load = Callable[..., Any]

MODEL = """
param Node: set = {a, b}
state:
    owner: Node? = none
    count: 0 .. 3 = 0
    live: set[Node] = {a}
    start: 0 .. 1 in {0, 1}
action take(n: Node):
    when live: n in live
    when free: owner == none
    bound limit: count < 2
    owner := n
    count := count + 1
action give(n: Node):
    when owns: owner == n
    owner := none
action join:
    pick n in Node
    when absent: n not in live
    live := live + {n}
action draw(n in 0 .. 3):
    pick m in {0, start}
    when big: m >= n
    count := m
"""

HOLDS = [
    "take(a); give(a); take(a)",
    "take(_); expect owner == a",
    "refuse take(b) by live",
    "take(a); refuse take(a) by free",
    "take(a); refuse take(a)",
    "take(a); refuse take(_) by free",
    "refuse give(_)",
    "join; take(b); expect owner == b",
    "draw(1); expect count == 1",
    "expect start == 1",
    "refuse draw(2) by big",
    "refuse draw(1) by big; expect start == 0",
]

VIOLATED = [
    ("take(b)", "step 1, `take(b)`", "`take(b)` is not enabled; false is live: n in live"),
    ("refuse take(a)", "step 1, `refuse take(a)`", "`take(a)` is enabled"),
    (
        "take(a); refuse take(b) by free",
        "step 2, `refuse take(b) by free`",
        "false is live: n in live; free: owner == none",
    ),
    ("take(a); give(a); take(a); give(a); refuse take(a)", "step 5", "`take(a)` is cut by the bound `limit`"),
    ("take(a); give(a); take(a); give(a); take(a)", "step 5", "`take(a)` is cut by the bound `limit`"),
    ("take(a); expect owner == b", "step 2, `expect owner == b`", "it is false"),
    ("join; join", "step 2, `join`", "`join` is not enabled; false is absent"),
    ("take(a); refuse take(_) by live", "step 2", "is refused, but not by `live` alone; false is free: owner == none"),
    ("expect 1 // count == 1", "step 1", "it is undefined: `//` by zero"),
]


def scenario(steps: str) -> str:
    return f"{MODEL}\nscenario s:\n    {steps}\n"


@pytest.mark.parametrize("steps", HOLDS)
def test_a_scenario_holds_if_some_resolution_runs_it(run: Run, steps: str) -> None:
    result = run(scenario(steps)).result("s")
    assert (result.outcome, result.reason) == (Outcome.HOLDS, None)


@pytest.mark.parametrize(("steps", "place", "reason"), VIOLATED, ids=[row[0] for row in VIOLATED])
def test_a_scenario_names_the_step_that_fails_and_why(run: Run, steps: str, place: str, reason: str) -> None:
    result = run(scenario(steps)).result("s")
    assert result.outcome is Outcome.VIOLATED
    assert result.reason.startswith(place)
    assert reason in result.reason


REMARKS = [
    ("refuse take(b)", "`refuse take(b)`: by `live`"),
    ("take(a); refuse take(_)", "`refuse take(_)`: by `free`"),
    ("refuse give(_)", "`refuse give(_)`: by `owns`"),
    ("take(a); give(a); take(a); refuse take(a)", "`refuse take(a)`: by `free`"),
    ("join; join", "impossible by `absent` of step 1, `join` and `absent` of step 2, `join`"),
    (
        "take(_); join; expect live == {a}",
        "impossible by `absent` of step 2, `join` and `expect` of step 3, `expect live == {a}`",
    ),
]


@pytest.mark.parametrize(("steps", "remark"), REMARKS, ids=[row[0] for row in REMARKS])
def test_the_guards_that_refuse_a_call_or_make_a_run_impossible_are_named(run: Run, steps: str, remark: str) -> None:
    assert run(scenario(steps)).result("s").remarks == (remark,)


@pytest.mark.parametrize("steps", ["take(b)", "refuse take(b) by live", "take(a); expect owner == b"])
def test_what_a_reason_or_the_scenario_itself_says_is_not_said_twice(run: Run, steps: str) -> None:
    assert run(scenario(steps)).result("s").remarks == ()


def test_a_guard_without_which_something_has_no_value_is_needed(load: Load) -> None:
    text = """
enum Role: Idle, Active(epoch: 0 .. 1)
state:
    role: Role = Idle
action send:
    when acting: role is Active(e)
    when recent: e == 1
    role := Idle
scenario s:
    refuse send
"""
    result = next(each for each in check(load(text).kernel).properties if each.name == "s")
    assert result.remarks == ("`refuse send`: by `acting`",)


def test_a_scenario_shows_a_run(run: Run) -> None:
    assert run(scenario("join; take(b); give(_)")).steps("s") == ["join with n = b", "take(b)", "give(b)"]


def test_an_expectation_that_fails_is_explained(run: Run) -> None:
    explanation = run(scenario("take(a); expect owner == b")).result("s").explanation
    assert [part.text for part in explanation.parts] == ["owner == b"]
    assert ("owner", "a") in explanation.parts[0].values


def test_a_scenario_of_another_model_is_vacuous(load: Load, run: Run) -> None:
    text = f"{scenario('take(b)')}\nmodel one: Node = {{a}}\n"
    loaded = load(text, model="one")
    result = next(each for each in check(loaded.kernel).properties if each.name == "s")
    assert result.outcome is Outcome.VACUOUS
    assert result.reason is not None
    assert "not checked" in result.reason


def test_what_a_false_guard_protects_is_no_second_obstacle_to_a_refusal(load: Load) -> None:
    text = """
enum Role: Idle, Active(epoch: 0 .. 1)
state:
    role: Role = Idle
    full: bool = false
action send:
    when acting: role is Active(e)
    when recent: e == 1
    when room: not full
    role := Idle
action fill:
    full := true
scenario protected:
    refuse send by acting
scenario two_obstacles:
    fill
    refuse send by acting
"""
    results = {each.name: each for each in check(load(text).kernel).properties}
    assert results["protected"].outcome is Outcome.HOLDS
    assert results["two_obstacles"].outcome is Outcome.VIOLATED
    assert "not by `acting` alone; false is acting: role is Active; room: not full" in str(
        results["two_obstacles"].reason
    )


def test_one_reason_is_looked_for_however_many_instances_are_not_enabled(
    load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    plain = ActionMeaning.false_guards

    def counted(*arguments: Any) -> Any:
        asked.append(arguments)
        return plain(*arguments)

    monkeypatch.setattr(ActionMeaning, "false_guards", counted)
    text = "state:\n    x: 0 .. 3 = 0\naction go(a: 0 .. 20, b: 0 .. 20):\n    when never: x > a + b + 3\n    x := 0\n"
    answer = check(load(f"{text}scenario any:\n    go(_, _)\n").kernel, SearchOptions(check_deadlock=False))
    (result,) = [each for each in answer.properties if each.name == "any"]
    assert result.outcome is Outcome.VIOLATED
    assert "`go(0, 0)` is not enabled; false is never" in str(result.reason)
    assert len(asked) == 1
