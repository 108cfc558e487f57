"""Explanations show the parts that decide, with the values that make them so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from assay.checker.explain import what_changed
from assay.checker.report import Outcome

Run = Callable[..., Any]

MODEL = """
param Node: set = {a, b}
enum Role: Follower, Leader(epoch: 0 .. 3)
record Entry: by: Node, at: 0 .. 3
state:
    role: map[Node, Role] = [n -> Follower]
    votes: map[Node, 0 .. 3, max 2] = {}
    last: Entry = Entry(by = a, at = 0)
    log: seq[Node, max 3] = []
action lead(n: Node):
    when count(log) < 2
    role[n] := Leader(count(log) + 1)
    votes[n] := 1
    last.at := count(log) + 1
    log := log + [n]
terminal: count(log) == 2
"""


def explanation(run: Run, condition: str, kind: str = "invariant") -> Any:
    result = run(f"{MODEL}\n{kind} bad: {condition}\n").result("bad")
    assert result.outcome is Outcome.VIOLATED
    return result.explanation


def texts(explained: Any) -> list[tuple[str, bool]]:
    return [(part.text, part.holds) for part in explained.parts]


def test_the_first_false_conjunct_and_its_witnesses_are_named(run: Run) -> None:
    why = explanation(run, "forall n, m in Node: role[n] is Leader(e) and role[m] is Leader(f) implies n == m")
    assert why.witnesses == (("n", "a"), ("m", "b"))
    assert texts(why) == [("role[n] is Leader(e)", True), ("role[m] is Leader(f)", True), ("n == m", False)]


def test_values_of_parts_come_outermost_first(run: Run) -> None:
    why = explanation(run, "forall n in Node: count(log) == 0 or role[n] is Follower")
    assert why.parts[0].values == (("count(log)", "1"), ("log", "[a]"))
    assert why.parts[1].values[0] == ("role[n]", "Leader(1)")


def test_what_a_pattern_takes_apart_is_shown_by_its_names_alone(run: Run) -> None:
    """A value between, such as the leader in the tuple, has the place of the whole pattern."""
    why = explanation(
        run, "forall n in Node: match (role[n], last) {(Leader(e), Entry(_, at)) -> e > at, else -> true}"
    )
    assert texts(why) == [("(Leader(e), Entry(_, at))", True), ("e > at", False)]
    assert [text for text, _ in why.parts[1].values] == ["e", "at", "(role[n], last)"]
    why = explanation(run, "some(last) is some(Entry(by, at)) and last.at == 0 or (last).at > 3")
    assert [text for text, _ in why.parts[1].values] == ["(last).at", "last"]


def test_an_exists_that_is_false_is_one_part(run: Run) -> None:
    why = explanation(run, "not (last.at > 0) or (exists n in Node: count(log) > 5)")
    assert texts(why) == [("last.at > 0", True), ("exists n in Node: count(log) > 5", False)]
    assert ("last.at", "1") in why.parts[0].values


@pytest.mark.parametrize(
    ("condition", "parts"),
    [
        ("if count(log) == 0 then true else last.at == 0", [("count(log) == 0", False), ("last.at == 0", False)]),
        ("let c = count(log): c == 0", [("c == 0", False)]),
        ("count(log) == 0 and 1 // count(log) == 1", [("count(log) == 0", False)]),
        ("not (exists n in Node: role[n] is Leader)", [("role[n] is Leader", True)]),
    ],
)
def test_an_explanation_descends_through_logic(run: Run, condition: str, parts: list[tuple[str, bool]]) -> None:
    answer = run(f"{MODEL}\ninvariant bad: {condition}\n", keep_going=True)
    assert texts(answer.result("bad").explanation) == parts


def test_old_values_are_shown_as_old(run: Run) -> None:
    why = explanation(run, "count(log) == old(count(log))", "transition")
    assert dict(why.parts[0].values) == {
        "count(log)": "1",
        "log": "[a]",
        "old(count(log))": "0",
        "old(log)": "[]",
    }


def test_what_was_false_before_a_step_is_explained_by_the_values_before_it(run: Run) -> None:
    why = explanation(run, "old(count(log) > 0 or exists n in Node: role[n] != Follower)", "transition")
    assert texts(why) == [("count(log) > 0", False), ("exists n in Node: role[n] != Follower", False)]
    assert why.parts[0].values == (("count(log)", "0"), ("log", "[]"))


def test_the_values_of_calls_are_shown_and_constants_are_not(run: Run) -> None:
    calls = """
def led(): set[Node] = {n in Node if role[n] is Leader}
def rank(n: Node): 0 .. 3 = let at = votes[n]: at
def total(each: int, n: 0 .. 3): int = if n == 0 then 0 else each + total(each, n - 1)
def followers(): set[Node] = {n in Node if role[n] == Follower}
"""

    def values(kind: str, condition: str) -> dict[str, str]:
        result = run(f"{MODEL}{calls}{kind} bad: {condition}\n").result("bad")
        return dict(result.explanation.parts[-1].values)

    counted = values("invariant", "count(led()) <= 1")
    assert counted["count(led())"] == "2"
    ranked = values("invariant", "forall n, m in Node: log == [n, m] implies rank(n) + rank(m) < rank(n)")
    assert (ranked["rank(n)"], ranked["rank(n) + rank(m)"]) == ("1", "2")
    stepped = values("transition", "old(followers()) == followers()")
    assert stepped["old(followers())"] == "{a, b}"
    assert not {"Follower", "old(Follower)"} & stepped.keys()
    assert "Follower" not in values("invariant", "role == [n -> Follower]")
    recursive = values("invariant", "total(2, last.at) < 2")
    assert recursive["total(2, last.at)"] == "2"
    assert not [text for text, value in recursive.items() if "undefined" in value]


def test_the_label_of_the_false_conjunct_is_given(run: Run) -> None:
    answer = run(f"{MODEL}\ninvariant bad:\n    fine: last.at < 3\n    wrong: last.at == 0\n")
    assert answer.result("bad").explanation.label == "wrong"
    assert answer.result("bad").reason == "`wrong` is false"


def test_changes_are_shown_at_the_entry_and_the_field(run: Run) -> None:
    answer = run(f"{MODEL}\ninvariant bad: count(log) == 0\n")
    before, after = (step.state for step in answer.result("bad").trace.steps)
    assert what_changed(before, after, answer.loaded.kernel) == [
        ("role[a]", "Follower", "Leader(1)"),
        ("votes[a]", "absent", "1"),
        ("last.at", "0", "1"),
        ("log", "[]", "[a]"),
    ]


def test_a_long_condition_without_a_label_is_named_by_how_it_begins(run: Run) -> None:
    why = explanation(run, " or ".join(f"last.at == {n} - {n}" for n in range(20)))
    assert why.label == "last.at == 0 - 0 or last.at == 1 - 1 or last.at == 2 - 2 or last.at == 3 - 3 or …"
