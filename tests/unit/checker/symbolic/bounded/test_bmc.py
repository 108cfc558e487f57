"""How a bounded search ends: with answers, and never with an exception because a model is large."""

from __future__ import annotations

import pytest

from assay.checker.aig import graph
from assay.checker.options import SearchOptions
from assay.checker.report import Outcome
from assay.checker.symbolic.bounded import bmc
from assay.grammar.load import load_text

COUNTER = """
module counter
state:
    low: 0 .. 200 = 0
    high: 0 .. 200 = 0
action on:
    low := if low == 200 then 0 else low + 1
    high := if low == 200 and high < 200 then high + 1 else high
invariant never: high < 200
property ends: eventually high == 200
"""


def test_a_search_whose_gates_do_not_fit_ends_with_what_it_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = load_text(COUNTER).kernel
    monkeypatch.setattr(graph, "MOST_GATES", 6_000)
    report = bmc.check(kernel, SearchOptions(properties=frozenset({"never"}), max_depth=1_000))
    assert report.stopped is not None
    assert "takes a model of more than 6,000 gates" in report.stopped
    assert {each.outcome for each in report.properties} == {Outcome.UNKNOWN}


def test_a_run_that_stops_violates_what_should_happen_in_the_end() -> None:
    chosen = SearchOptions(properties=frozenset({"ends"}), check_deadlock=False)
    report = bmc.check(load_text(COUNTER).kernel, chosen)
    result = next(each for each in report.properties if each.name == "ends")
    assert result.outcome is Outcome.VIOLATED
    assert result.trace is not None
    assert (len(result.trace), result.trace.loop) == (1, 0), "the initial state, kept for ever"
    assert any("no fairness on `on`" in each for each in result.remarks)
    assert report.stopped == "the search ended in level 1, where `ends` is violated"


def test_a_state_in_which_a_bound_alone_forbids_steps_is_no_deadlock() -> None:
    text = COUNTER.split("action on:", maxsplit=1)[0] + "action on:\n    bound most: low < 2\n    low := low + 1\n"
    found = {
        guard: bmc.check(load_text(text.replace("bound most", guard)).kernel, SearchOptions(max_depth=5))
        for guard in ("bound most", "when most")
    }
    ends = {
        guard: each.outcome for guard, report in found.items() for each in report.properties if each.name == "deadlock"
    }
    assert ends == {"bound most": Outcome.UNKNOWN, "when most": Outcome.VIOLATED}
    assert str(found["bound most"].stopped).endswith("(bounds assumed: `most`)")


STEPS = """
module steps
param Walker: set = {a, b, c}
state:
    at: map[Walker, 0 .. 2] = [w -> 0]
    n: 0 .. 9 = 0
action step(w: Walker):
    when at[w] < 2
    at[w] := at[w] + 1
    n := n + 1
invariant valued: 12 // (n - 2) < 12
invariant near: n < 5
"""


def test_where_something_is_undefined_all_levels_are_looked_at_anew_without_symmetry() -> None:
    report = bmc.check(load_text(STEPS).kernel, SearchOptions(max_depth=7, keep_going=True))
    found = {each.name: each for each in report.properties}
    assert found["defined"].outcome is Outcome.VIOLATED
    trace = found["near"].trace
    assert trace is not None
    assert (found["near"].outcome, len(trace)) == (Outcome.VIOLATED, 6)


TURNS = """
module turns
state:
    open: bool = false
    done: bool = false
action flip fair:
    open := not open
action go FAIR:
    when open: open
    when ahead: not done
    done := true
property ends: eventually done
"""


@pytest.mark.parametrize(("fair", "loop"), [("fair", True), ("strong fair", False)])
def test_what_can_happen_again_and_again_and_never_does_is_unfair_only_strongly(fair: str, *, loop: bool) -> None:
    chosen = SearchOptions(properties=frozenset({"ends"}), max_depth=5)
    report = bmc.check(load_text(TURNS.replace("FAIR", fair)).kernel, chosen)
    result = next(each for each in report.properties if each.name == "ends")
    assert (result.outcome is Outcome.VIOLATED) is loop
