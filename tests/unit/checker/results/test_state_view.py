"""A view merges states that its variables do not tell apart, shows the others in traces, and refuses what sees through it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from assay.checker.engines.engine_selection import check
from assay.checker.options import SearchOptions
from assay.checker.report import Outcome, Report
from assay.checker.results.state_view import view_of
from assay.checker.tla.module import export
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.load import load_text

TEXT = """
param Node: set = {a, b}
state:
    lock: Node? = none
    turns: 0 .. 4 = 0
    last: Node? = none
    taken: 0 .. 3 = 0
    own: map[Node, bool] = [n -> false]
    seen: map[Node, bool] = [n -> false]
view: lock, turns
view: own
action take(x: Node):
    when lock == none
    let other = last != x
    lock := x
    last := x
    if other:
        taken := taken + 1
action free:
    when lock != none
    bound few: turns < 3
    lock := none
    turns := turns + 1
    for x in {n in Node if n == last}:
        seen[x] := true
PROPERTY
"""
WHOLE = SearchOptions(view=False, check_deadlock=False)
VIEWED = SearchOptions(check_deadlock=False)


def answer(line: str, options: SearchOptions = VIEWED) -> Report:
    return check(load_text(TEXT.replace("PROPERTY", line)).kernel, options, engine="reference").report


def refusal(line: str, text: str = TEXT, options: SearchOptions = VIEWED) -> str:
    with pytest.raises(SpecError) as caught:
        view_of(load_text(text.replace("PROPERTY", line)).kernel, options)
    assert {each.code for each in caught.value.diagnostics} == {"E846"}
    return caught.value.diagnostics[0].message


def test_states_are_merged_and_verdicts_are_those_without_the_view() -> None:
    line = "invariant few_turns: turns <= 3"
    merged, all_of_them = answer(line), answer(line, replace(WHOLE, keep_going=True))
    assert merged.hidden == ("last", "taken", "seen")
    assert merged.statistics.distinct == 4 * 3
    assert all_of_them.statistics.distinct > 4 * 3
    for report in (merged, all_of_them):
        assert [p.outcome for p in report.properties if p.name == "few_turns"] == [Outcome.UP_TO_BOUND]
    outcomes = [next(p.outcome for p in report.properties if p.name == "defined") for report in (merged, all_of_them)]
    assert outcomes == [Outcome.UP_TO_BOUND, Outcome.VIOLATED]  # `taken` leaves its type
    reason = next(p.reason for p in merged.properties if p.name == "defined")
    assert reason is not None
    assert "updates of last, taken, seen were not looked at" in reason


def test_a_counterexample_shows_what_the_view_leaves_out() -> None:
    report = answer("invariant small: turns < 2")
    found = next(each for each in report.properties if each.name == "small")
    assert found.trace is not None
    names = [each.name for each in report.kernel.variables]
    last = dict(zip(names, found.trace.steps[-1].state, strict=True))
    assert (last["turns"], last["taken"] in {1, 2}, last["last"] is not None) == (2, True, True)
    whole = next(each for each in answer("invariant small: turns < 2", WHOLE).properties if each.name == "small")
    assert whole.trace is not None
    assert len(whole.trace) == len(found.trace)


def test_where_a_hidden_variable_leaves_its_type_it_is_not_shown() -> None:
    text = TEXT.replace("taken: 0 .. 3", "taken: 0 .. 0").replace("PROPERTY", "invariant small: turns < 2")
    report = check(load_text(text).kernel, VIEWED, engine="reference").report
    found = next(each for each in report.properties if each.name == "small")
    assert found.outcome is Outcome.VIOLATED
    assert [each.name for each in report.kernel.variables] == ["lock", "turns", "own"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("invariant seen: last != lock or turns == 0", "the invariant `seen` reads `last`"),
        ("transition up: taken >= old(taken)", "the transition `up` reads `taken`"),
        ("reachable much: taken == 3", "the reachable `much` reads `taken`"),
        ("terminal: taken == 3", "reads `taken`"),
        ("property p: eventually lock != none", "the temporal `p` is about runs"),
        ("scenario s: take(a); expect last == a", "the scenario `s` reads `last`"),
        ("init:\n    when taken == 0", "a condition of `init` reads `taken`"),
        ("action a1:\n    when last == none\n    turns := 0", "the action `a1` reads `last`"),
        ("action a1:\n    bound b: taken < 2\n    turns := 0", "the action `a1` reads `taken`"),
        ("action a1:\n    pick x in {taken}\n    taken := x", "the action `a1` reads `taken`"),
        ("action a1:\n    turns := taken", "the action `a1` reads `taken`"),
        ("action a1:\n    let t = taken\n    turns := t", "the action `a1` reads what depends on a hidden variable"),
        ("action a1:\n    if taken == 1:\n        turns := 0", "the action `a1` reads `taken`"),
        (
            "action a1:\n    for n in {x in Node if x == last}:\n        own[n] := true",
            "the action `a1` reads what depends on a hidden variable",
        ),
    ],
)
def test_what_sees_through_the_view_is_refused(line: str, said: str) -> None:
    assert said in refusal(line)


def test_a_property_that_is_not_asked_for_may_see_through() -> None:
    kernel = load_text(TEXT.replace("PROPERTY", "invariant seen: last != lock or turns == 0")).kernel
    options = replace(VIEWED, properties=frozenset({"defined"}))
    assert check(kernel, options, engine="reference").report.hidden == ("last", "taken", "seen")


def test_a_view_names_variables() -> None:
    with pytest.raises(SpecError) as caught:
        load_text("state:\n    n: 0 .. 3 = 0\nview: n + 1\naction go:\n    n := 0\n")
    assert [each.code for each in caught.value.diagnostics] == ["E527"]


def test_tlc_is_given_the_view_where_nothing_sees_through_it() -> None:
    sound = export(load_text(TEXT.replace("PROPERTY", "invariant few: turns <= 3")).kernel, "m")
    assert "View == <<lock, turns, own>>" in sound.files["m.tla"]
    assert sound.files["m.cfg"].endswith("VIEW View\n")
    unsound = export(load_text(TEXT.replace("PROPERTY", "invariant seen: taken <= 3")).kernel, "m")
    assert "VIEW" not in unsound.files["m.cfg"]
    assert any("TLC is not given the view" in each.message for each in unsound.warnings)
