"""Counts, verdicts and traces of small models whose answers are known by hand or published."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from assay.checker.engines import engine_selection
from assay.checker.engines.engine_selection import Engine
from assay.checker.options import Progress, SearchOptions
from assay.checker.report import ExitCode, Outcome
from assay.grammar.load import load_text

Run = Callable[..., Any]

COUNTER = """
size param Max: int = 3
state:
    x: 0 .. Max = 0
action up:
    bound limit: x < Max
    x := x + 1
"""

PETERSON = """
param Process: set = {p, q}
enum At: Idle, Want, Wait, Critical
state:
    at: map[Process, At] = [i -> Idle]
    flag: map[Process, bool] = [i -> false]
    turn: Process in Process
def other(i: Process): Process = if i == p then q else p
action raise_flag(i: Process):
    when at[i] == Idle
    flag[i] := true
    at[i] := Want
action give_way(i: Process):
    when at[i] == Want
    turn := other(i)
    at[i] := Wait
action enter(i: Process):
    when at[i] == Wait
    when free: flag[other(i)] == false or turn == i
    at[i] := Critical
action leave(i: Process):
    when at[i] == Critical
    flag[i] := false
    at[i] := Idle
invariant exclusion: not (at[p] == Critical and at[q] == Critical)
reachable contention: at[p] == Wait and at[q] == Wait
"""


def counts(answer: Any) -> tuple[int, int, int]:
    statistics = answer.report.statistics
    return statistics.distinct, statistics.generated, statistics.depth


def test_a_counter_has_one_state_a_level(run: Run) -> None:
    answer = run(COUNTER)
    assert counts(answer) == (4, 4, 4)
    assert answer.report.bounds == {"limit": 1}


def test_peterson_excludes(run: Run) -> None:
    answer = run(PETERSON)
    assert counts(answer) == (20, 36, 6)
    assert answer.outcome("exclusion") is Outcome.HOLDS
    assert answer.steps("contention") == ["raise_flag(p)", "give_way(p)", "raise_flag(q)", "give_way(q)"]
    assert answer.report.exit_code is ExitCode.OK


def test_peterson_without_giving_way_does_not_exclude(run: Run) -> None:
    answer = run(PETERSON.replace("turn := other(i)\n", "turn := i\n"))
    assert answer.outcome("exclusion") is Outcome.VIOLATED
    assert len(answer.result("exclusion").trace) == 7


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_counterexample_is_as_short_as_can_be(run: Run, number: int) -> None:
    answer = run(f"{COUNTER}\ninvariant small: x < {number}")
    assert answer.outcome("small") is Outcome.VIOLATED
    assert [step.state for step in answer.result("small").trace.steps] == [(n,) for n in range(number + 1)]


def test_all_violations_of_a_level_are_reported_and_the_rest_is_unknown(run: Run) -> None:
    answer = run(
        f"{COUNTER}\ninvariant one: x != 2\ntransition two: x != 2\ninvariant three: x != 3\nreachable four: x == 3"
    )
    assert [answer.outcome(name) for name in ("one", "two")] == [Outcome.VIOLATED] * 2
    assert answer.outcome("three") is Outcome.UNKNOWN
    assert answer.result("three").reason == (
        "no violation was found, but the search ended in level 3, where `one` and `two` are violated"
    )
    assert answer.outcome("four") is Outcome.UNKNOWN
    assert counts(answer) == (3, 3, 3)
    assert answer.report.exit_code is ExitCode.VIOLATED


def test_a_search_may_go_on_after_a_violation(run: Run) -> None:
    answer = run(f"{COUNTER}\ninvariant one: x != 1\ninvariant three: x != 3", keep_going=True)
    assert [len(answer.result(name).trace) for name in ("one", "three")] == [2, 4]
    assert answer.report.stopped is None


def test_bounds_that_were_hit_weaken_the_verdict(run: Run) -> None:
    answer = run(f"{COUNTER}\ninvariant small: x <= 3\nreachable big: x == 4")
    assert answer.outcome("small") is Outcome.UP_TO_BOUND
    assert answer.result("small").reason == "up to bound `limit` (hit once)"
    assert answer.outcome("deadlock") is Outcome.UP_TO_BOUND
    assert answer.outcome("big") is Outcome.UNKNOWN
    assert answer.report.exit_code is ExitCode.INCONCLUSIVE


def test_accepted_bounds_do_not_weaken_the_verdict(run: Run) -> None:
    answer = run(f"{COUNTER}\naccept bounds: limit\ninvariant small: x <= 3")
    assert answer.outcome("small") is Outcome.HOLDS
    assert answer.report.exit_code is ExitCode.OK


def test_behind_an_accepted_bound_there_may_be_a_state_that_is_looked_for(run: Run) -> None:
    answer = run(f"{COUNTER}\naccept bounds: limit\nreachable far: x > 3")
    assert answer.outcome("far") is Outcome.UNKNOWN
    assert "no such state was found up to bound `limit`" in answer.result("far").reason


def test_bounds_alone_give_their_own_exit_code(run: Run) -> None:
    assert run(COUNTER).report.exit_code is ExitCode.UP_TO_BOUND


def test_a_reachable_that_nothing_cut_off_is_violated(run: Run) -> None:
    answer = run("state:\n    x: bool = false\naction flip:\n    x := not x\nreachable never: x and not x")
    assert answer.outcome("never") is Outcome.VIOLATED
    assert answer.result("never").trace is None


def test_a_reachable_is_witnessed_by_a_shortest_trace(run: Run) -> None:
    answer = run(f"{COUNTER}\nreachable two: x == 2")
    assert answer.outcome("two") is Outcome.HOLDS
    assert answer.steps("two") == ["up", "up"]


def test_a_deadlock_names_the_guards_of_the_closest_instance(run: Run) -> None:
    text = """
    param Node: set = {a, b}
    state:
        tokens: set[Node] = {a}
        open: bool = true
    action take(n: Node):
        when held: n in tokens
        when gate: open
        tokens := tokens - {n}
        open := false
    """
    answer = run(text)
    deadlock = answer.result("deadlock")
    assert deadlock.outcome is Outcome.VIOLATED
    assert answer.steps("deadlock") == ["take(a)"]
    (blocked,) = deadlock.blocked
    assert blocked.action == "take"
    assert [(label, text) for label, text, _ in blocked.guards] == [("held", "n in tokens"), ("gate", "open")]


def test_the_closest_instance_is_the_one_with_fewest_false_guards(run: Run) -> None:
    text = """
    state:
        x: 0 .. 3 = 0
    action go(n in 0 .. 3):
        when n > 1
        when n == 2
        when never: x == 1
        x := n
    """
    (blocked,) = run(text).result("deadlock").blocked
    assert [value for _, value in blocked.arguments] == [2]
    assert [label for label, _, _ in blocked.guards] == ["never"]


def test_an_empty_pick_blocks(run: Run) -> None:
    text = "state:\n    s: set[0 .. 1] = {}\naction go:\n    pick n in s\n    s := s - {n}\n"
    (blocked,) = run(text).result("deadlock").blocked
    assert [(label, said) for label, said, _ in blocked.guards] == [("pick n", "pick n in s")]


def test_a_terminal_state_is_no_deadlock(run: Run) -> None:
    text = "state:\n    x: 0 .. 1 = 0\naction go:\n    when x == 0\n    x := 1\n"
    assert run(text).outcome("deadlock") is Outcome.VIOLATED
    assert run(text + "terminal: x == 1\n").outcome("deadlock") is Outcome.HOLDS
    assert run(text + "terminal: x == 0\nterminal: x == 1\n").outcome("deadlock") is Outcome.HOLDS


def test_a_step_that_changes_nothing_is_no_deadlock(run: Run) -> None:
    answer = run("state:\n    x: bool = false\naction stay:\n    x := x\n")
    assert answer.outcome("deadlock") is Outcome.HOLDS
    assert counts(answer) == (1, 2, 1)


def test_a_transition_sees_both_states_of_every_step(run: Run) -> None:
    answer = run(f"{COUNTER}\ntransition small: old(x) < 2")
    assert answer.outcome("small") is Outcome.VIOLATED
    assert answer.steps("small") == ["up", "up", "up"]
    assert run(f"{COUNTER}\ntransition grows: x == old(x) + 1").outcome("grows") is Outcome.UP_TO_BOUND


def test_without_initial_state_everything_is_vacuous(run: Run) -> None:
    answer = run(
        "state:\n    x: 0 .. 3\ninit:\n    pick n in 0 .. 3\n    x := n\n    when x > 3\naction t:\n    x := x\ninvariant i: false"
    )
    assert {each.outcome for each in answer.report.properties} == {Outcome.VACUOUS}
    assert answer.report.exit_code is ExitCode.VACUOUS


def test_initial_states_are_chosen_by_picks_and_kept_by_conditions(run: Run) -> None:
    text = """
    state:
        x: 0 .. 3
        y: 0 .. 3 in {1, 2}
    init:
        pick n in 0 .. 3
        x := n
        when x < y
    action stay:
        x := x
    """
    answer = run(text)
    assert counts(answer) == (3, 6, 1)


def test_a_capacity_cuts_under_the_name_of_the_variable(run: Run) -> None:
    text = "state:\n    q: seq[0 .. 1, max 2] = []\naction add(n in 0 .. 1):\n    q := q + [n]\ninvariant ok: count(q) <= 2"
    answer = run(text)
    assert counts(answer) == (7, 7, 3)
    assert answer.report.bounds == {"capacity of q": 8}
    assert answer.outcome("ok") is Outcome.UP_TO_BOUND


def test_a_later_false_guard_disables_what_a_bound_would_cut(run: Run) -> None:
    text = "state:\n    x: 0 .. 3 = 0\naction a:\n    bound one: x > 0\n    bound two: x > 1\n    when later: {}\n    x := 1\n"
    assert run(text.format("x == 1")).report.bounds == {}
    assert run(text.format("x == 1")).outcome("deadlock") is Outcome.VIOLATED
    assert run(text.format("x == 0")).report.bounds == {"one": 1}
    assert run(text.format("1 // x == 1")).report.bounds == {"one": 1}
    assert run(text.format("1 // x == 1")).outcome("defined") is Outcome.UP_TO_BOUND


def test_an_instance_is_cut_once_for_each_way_to_pick(run: Run) -> None:
    text = "state:\n    x: 0 .. 3 = 0\naction a(m in 0 .. 1):\n    bound none_at_all: x > 0\n    pick n in 0 .. 2\n    when n > 0\n    x := n\n"
    assert run(text).report.bounds == {"none_at_all": 4}


def test_right_hand_sides_and_indices_read_the_state_before(run: Run) -> None:
    text = """
    param Node: set = {a, b}
    state:
        x: 0 .. 1 = 0
        y: 0 .. 1 = 1
        at: Node = a
        m: map[Node, 0 .. 1] = [n -> 0]
    action swap:
        when m[a] == 0
        x := y
        y := x
        at := b
        m[at] := 1
    terminal: m[a] == 1
    invariant swapped: m[a] == 1 implies x == 1 and y == 0 and m[b] == 0 and at == b
    """
    assert run(text).outcome("swapped") is Outcome.HOLDS


def test_limits_are_said_with_the_reason(run: Run) -> None:
    levels = run(f"{COUNTER}\ninvariant small: x <= 3", max_depth=2)
    assert counts(levels) == (2, 2, 2)
    assert levels.result("small").outcome is Outcome.UP_TO_BOUND
    assert levels.result("small").reason == "up to depth 2"
    assert levels.report.exit_code is ExitCode.UP_TO_BOUND
    far = run(f"{COUNTER}\nreachable two: x == 2", max_depth=2)
    assert far.result("two").reason == "no such state was found up to depth 2"
    assert far.report.exit_code is ExitCode.INCONCLUSIVE
    assert run(COUNTER, max_states=3).report.stopped == "the limit of 3 states was reached in level 3"
    assert run(COUNTER, timeout=0.0).report.stopped == "the time limit of 0 s was reached in level 0"


def test_what_was_found_before_an_interruption_is_kept(run: Run) -> None:
    asked = iter([False, False, False, True])
    answer = run(f"{COUNTER}\nreachable one: x == 1", interrupted=lambda: next(asked))
    assert answer.report.interrupted
    assert answer.report.exit_code is ExitCode.INTERRUPTED
    assert answer.outcome("one") is Outcome.HOLDS
    assert answer.outcome("deadlock") is Outcome.UNKNOWN
    assert answer.report.statistics.distinct == 3


def test_a_keyboard_interrupt_ends_the_search_with_a_partial_report(run: Run) -> None:
    def interrupt(progress: Progress) -> None:
        if progress.distinct == 2:
            raise KeyboardInterrupt

    answer = run(f"{COUNTER}\nreachable one: x == 1\nscenario s:\n    up\n", progress=interrupt)
    assert answer.report.interrupted
    assert answer.outcome("one") is Outcome.HOLDS
    assert answer.outcome("s") is Outcome.UNKNOWN


def test_progress_ends_with_the_final_counts(run: Run) -> None:
    reports: list[Progress] = []
    run(COUNTER, progress=reports.append)
    assert (reports[-1].level, reports[-1].distinct, reports[-1].generated) == (4, 4, 4)


def test_answers_are_the_same_in_every_run(run: Run) -> None:
    first, second = run(PETERSON), run(PETERSON)
    assert first.report.properties == second.report.properties
    assert first.report.coverage == second.report.coverage


@pytest.mark.parametrize(
    ("engine", "condition"), [("reference", "x < 0"), ("reference", "x == 0"), ("native", "x < 0")]
)
def test_a_quantifier_over_much_heeds_an_interruption(engine: Engine, condition: str, tmp_path: Path) -> None:
    """Over 10^9 triples, in the first state or in the second: without heed, the reference evaluator would be busy for minutes."""
    text = f"""
        type K = 0 .. 999
        state:
            x: 0 .. 1 = 0
        action up:
            x := 1
        invariant slow: {condition} or (forall a, b, c in K: a + b + c + x >= 0)
    """
    asked = iter(range(10**9))
    options = SearchOptions(interrupted=lambda: next(asked) > 5)
    report = engine_selection.check(load_text(dedent(text)).kernel, options, engine=engine, cache=tmp_path).report
    assert report.interrupted
    assert report.exit_code is ExitCode.INTERRUPTED
