"""What has no value violates `defined`, with a trace to the state and the reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from assay.checker.report import Outcome

Run = Callable[..., Any]

STATE = """
param Node: set = {a, b}
enum Mode: Idle, Busy(since: 0 .. 3)
state:
    x: 0 .. 3 = 0
    z: 0 .. 3 = 0
    q: seq[0 .. 3, max 3] = []
    table: map[Node, 0 .. 3, max 2] = {}
    mode: Mode = Idle
    chosen: Node? = none
"""

UNDEFINED = [
    ("1 // z == 1", "`//` by zero"),
    ("1 % z == 1", "`%` by zero"),
    ("q[0] == 1", "no element 0 in a sequence of 0"),
    ("q[z - 1] == 1", "no element -1 in a sequence of 0"),
    ("table[a] == 1", "no key a in {}"),
    ("min({n in 0 .. 3 if n > 3}) == 1", "`min` of nothing"),
    ("max({n in 0 .. 3 if n > 3}) == 1", "`max` of nothing"),
    ("first(q) == 1", "`first` of an empty sequence"),
    ("last(q) == 1", "`last` of an empty sequence"),
    ("count(take(q, z - 1)) == 1", "`take` of -1 elements"),
    ("Busy(z + 4) == mode", "4 is not in 0 .. 3"),
    ("count(q with {0 -> 1}) == 1", "no element 0 in a sequence of 0"),
]


@pytest.mark.parametrize(("condition", "message"), UNDEFINED, ids=[row[0] for row in UNDEFINED])
def test_an_operation_without_value_violates_defined(run: Run, condition: str, message: str) -> None:
    answer = run(f"{STATE}\naction tick:\n    x := x\n\ninvariant bad: {condition}\n")
    defined = answer.result("defined")
    assert defined.outcome is Outcome.VIOLATED
    assert defined.reason == f"{message}, in invariant `bad`"
    assert len(defined.trace) == 1
    assert answer.outcome("bad") is Outcome.UNKNOWN
    assert answer.report.exit_code == 1


@pytest.mark.parametrize("condition", [f"x == 0 or ({row[0]})" for row in UNDEFINED])
def test_what_stands_to_the_left_protects(run: Run, condition: str) -> None:
    answer = run(f"{STATE}\naction tick:\n    z := z\n\ninvariant good: {condition}\n")
    assert answer.outcome("defined") is Outcome.HOLDS
    assert answer.outcome("good") is Outcome.HOLDS


@pytest.mark.parametrize("lines", [["let y = 1 // z", "x == 0"], ["x == 0", "let y = 1 // z", "x < 4"]])
def test_a_let_line_without_value_violates_defined_though_the_line_below_does_not_read_it(
    run: Run, lines: list[str]
) -> None:
    body = "".join(f"    {line}\n" for line in lines)
    answer = run(f"{STATE}\naction tick:\n    x := x\n\ninvariant bad:\n{body}")
    assert answer.result("defined").reason == "`//` by zero, in invariant `bad`"


def test_out_of_range_where_it_is_stored_names_variable_and_instance(run: Run) -> None:
    answer = run(f"{STATE}\naction add(n in 2 .. 2):\n    x := x + n\n")
    defined = answer.result("defined")
    assert defined.outcome is Outcome.VIOLATED
    assert defined.reason == "4 is not in 0 .. 3 (assigned to `x`), in the action `add(2)`"
    assert answer.steps("defined") == ["add(2)"]
    assert defined.explanation.undefined == "4 is not in 0 .. 3 (assigned to `x`)"


def test_an_undefined_guard_is_not_a_false_guard(run: Run) -> None:
    answer = run(f"{STATE}\naction tick:\n    when 1 // z == 1\n    x := 0\n")
    assert answer.outcome("defined") is Outcome.VIOLATED
    assert answer.outcome("deadlock") is not Outcome.VIOLATED


def test_a_false_guard_protects_what_follows(run: Run) -> None:
    answer = run(f"{STATE}\naction tick:\n    when z > 0\n    when 1 // z == 1\n    x := 0\naction idle:\n    x := x\n")
    assert answer.outcome("defined") is Outcome.HOLDS


@pytest.mark.parametrize("collide", ["table[a] := 1\n    table[n] := 2", "for m in Node: table[n] := 1"])
def test_two_assignments_to_one_place_have_no_result(run: Run, collide: str) -> None:
    answer = run(f"{STATE}\naction both(n: Node):\n    {collide}\n")
    defined = answer.result("defined")
    assert defined.outcome is Outcome.VIOLATED
    assert defined.reason.startswith("two assignments to the same place of `table`, in the action `both(a)`")


def test_undefined_goes_before_exceeding_a_capacity(run: Run) -> None:
    text = f"{STATE}\naction grow:\n    q := [0, 1, 2, 3]\n    x := x + 4\n"
    answer = run(text)
    assert answer.outcome("defined") is Outcome.VIOLATED
    assert answer.report.bounds == {}


def test_an_undefined_initial_state_is_reported_without_a_trace(run: Run) -> None:
    answer = run(
        "state:\n    z: 0 .. 3 in {0, 1}\n    x: 0 .. 3\ninit:\n    pick n in {n in 3 .. 4 if n > 3}\n    x := n\naction t:\n    x := x\n"
    )
    defined = answer.result("defined")
    assert defined.outcome is Outcome.VIOLATED
    assert defined.trace is None
    assert defined.reason == "4 is not in 0 .. 3 (assigned to `x`), in the initial state with z = 0, n = 4"


def test_a_transition_without_value_is_reported_with_its_step(run: Run) -> None:
    answer = run(
        f"{STATE}\naction up:\n    when x < 3\n    x := x + 1\nterminal: x == 3\ntransition t: 6 // (x - 2) != 1\n"
    )
    assert answer.outcome("defined") is Outcome.VIOLATED
    assert answer.steps("defined") == ["up", "up"]
    assert answer.outcome("t") is Outcome.UNKNOWN


def test_the_line_below_a_let_evaluates_it_whether_or_not_it_is_used(run: Run) -> None:
    answer = run(f"{STATE}\naction t:\n    x := x\n\ninvariant bad:\n    let n = 1 // z\n    x == 0\n    n == 1\n")
    assert answer.outcome("defined") is Outcome.VIOLATED
    assert answer.outcome("bad") is Outcome.UNKNOWN


def test_a_line_above_protects_a_let(run: Run) -> None:
    answer = run(f"{STATE}\naction t:\n    x := x\n\ninvariant bad:\n    x == 1\n    let n = 1 // z\n    x == 0\n")
    assert answer.outcome("defined") is Outcome.UNKNOWN
    assert answer.outcome("bad") is Outcome.VIOLATED


def test_an_assignment_inside_a_place_that_another_line_assigns_has_no_result(run: Run) -> None:
    text = """
        state:
            at: 0 .. 1 = 0
            rows: map[0 .. 1, map[0 .. 1, 0 .. 3]] = [r -> [c -> 0]]
        action both:
            rows[at][0] := 1
            rows[1] := [c -> 2]
        action move:
            at := 1
    """
    answer = run(text)
    assert answer.steps("defined") == ["move"]
    assert "two assignments to the same place of `rows`" in answer.result("defined").reason
