"""The text of an answer says the verdict first, then what happened and why."""

from __future__ import annotations

from typing import Any

from assay.checker.report import (
    ActionCoverage,
    Atomic,
    BlockedAction,
    Coverage,
    EmptyQuantifier,
    Explanation,
    GuardCoverage,
    Outcome,
    PropertyResult,
    Report,
)
from assay.grammar.diagnostics.diagnostic import Span
from assay.report.specs.text import report_lines

PLACE = Span("lamp.assay", 12, 5, 12, 20)


def text(report: Report) -> list[str]:
    return [line.text for line in report_lines(report)]


def violated(sample: Any) -> PropertyResult:
    part = Atomic("e != f", PLACE, holds=False, values=(("e != f", "false"), ("e", "1"), ("f", "1")))
    why = Explanation("one_active", PLACE, (("a", "b1"), ("b", "b2")), (part,))
    return PropertyResult("one_active", "invariant", Outcome.VIOLATED, PLACE, trace=sample.trace, explanation=why)


def test_a_violation_is_named_in_the_first_line(sample: Any) -> None:
    assert text(sample.report(violated(sample)))[0] == "VIOLATED: one_active"


def test_the_model_and_its_parameters_are_named(sample: Any) -> None:
    lines = text(sample.report(violated(sample)))
    assert lines[1] == "  kafka.sample, model small: Broker = {b1, b2}; Fence = false"


def test_a_counterexample_is_numbered_steps_with_what_each_changed(sample: Any) -> None:
    lines = text(sample.report(violated(sample)))
    first = lines.index("  1  initial state")
    assert lines[first : first + 9] == [
        "  1  initial state",
        "         role = {b1 -> Standby, b2 -> Standby}",
        "         live = {b1}",
        "  2  elect(b1)",
        "         role[b1]: Standby -> Active(1)",
        "         live: + b2",
        "  3  elect(b2)",
        "         role[b2]: Standby -> Active(1)",
        "         live: - b1",
    ]


def test_an_explanation_shows_the_failing_conjunct_with_witnesses_values_and_place(sample: Any) -> None:
    lines = text(sample.report(violated(sample)))
    first = lines.index("  why: `one_active` is false  (lamp.assay:12:5)")
    assert lines[first + 1 : first + 5] == [
        "       with a = b1, b = b2",
        "       e != f  is false  (lamp.assay:12:5)",
        "           e = 1",
        "           f = 1",
    ]


def test_a_deadlock_shows_the_guards_that_block(sample: Any) -> None:
    blocked = BlockedAction("elect", sample.trace.steps[1].arguments, (("vacant", "controller == none", PLACE),))
    result = PropertyResult("deadlock", "deadlock", Outcome.VIOLATED, PLACE, trace=sample.trace, blocked=(blocked,))
    lines = text(sample.report(result))
    first = lines.index("  no action is possible:")
    assert lines[first + 1].strip() == "elect(b1)"
    assert lines[first + 2].strip() == "blocked by vacant: controller == none  (lamp.assay:12:5)"


def test_bounds_that_were_hit_are_counted_and_accepted_ones_are_marked(sample: Any) -> None:
    result = PropertyResult("one_active", "invariant", Outcome.UP_TO_BOUND, PLACE)
    lines = text(sample.report(result, bounds={"epochs": 1204, "capacity of requests": 1, "unused": 0}))
    assert lines[0] == "holds up to bounds"
    assert "  epochs: hit 1,204 times (accepted by the model)" in lines
    assert "  capacity of requests: hit 1 time" in lines
    assert not any("unused" in line for line in lines)


def test_how_often_bounds_were_hit_is_said_once(sample: Any) -> None:
    low, live = "`b` (hit 3 times)", "bounds `b` (hit 3 times), `c` (hit once)"
    held = PropertyResult("low", "invariant", Outcome.UP_TO_BOUND, PLACE, f"up to {live}")
    cut = PropertyResult("never", "reachable", Outcome.UNKNOWN, PLACE, f"no such state was found up to {live}")
    deep = PropertyResult("deep", "invariant", Outcome.UP_TO_BOUND, PLACE, f"up to depth 3 and {live}")
    lines = text(sample.report(held, cut, deep, bounds={"b": 3, "c": 1}))
    assert "  invariant  low    holds up to bounds" in lines
    assert "  reachable  never  unknown  (no such state was found up to bounds `b`, `c`)" in lines
    assert "  invariant  deep   holds up to bounds  (up to depth 3 and bounds `b`, `c`)" in lines
    assert not any(low in line for line in lines)


def test_what_was_never_exercised_is_remarked(sample: Any) -> None:
    coverage = Coverage(
        actions=(ActionCoverage("elect", PLACE, 9, 3), ActionCoverage("resign", PLACE, 0, 0)),
        guards=(
            GuardCoverage("elect", "vacant", PLACE, decisive=True),
            GuardCoverage("elect", "live", PLACE, decisive=False),
            GuardCoverage("resign", "active", PLACE, decisive=False),
        ),
        empty_quantifiers=(EmptyQuantifier("safe", "forall r in requests: …", PLACE),),
    )
    result = PropertyResult("one_active", "invariant", Outcome.HOLDS, PLACE)
    lines = [line.strip() for line in text(sample.report(result, coverage=coverage))]
    assert lines[0] == "holds, but 1 of 2 actions never happens in this model"
    assert lines[1:3] == ["never happens: resign", "never decisive: elect.live"]
    remarks = lines[lines.index("not exercised by this search") + 1 :]
    assert remarks[:3] == [
        "action resign never happens  (lamp.assay:12:5)",
        "action elect: never the only obstacle: live  (lamp.assay:12:5)",
        "safe: `forall r in requests: …` always ranges over nothing  (lamp.assay:12:5)",
    ]


def test_the_last_line_gives_the_sizes_of_the_search(sample: Any) -> None:
    result = PropertyResult("one_active", "invariant", Outcome.HOLDS, PLACE)
    assert text(sample.report(result))[-1] == "1,204 distinct states, 5,000 generated, depth 7, 1.2 s, engine reference"


def test_an_interrupted_search_says_so_and_never_that_it_holds(sample: Any) -> None:
    result = PropertyResult("one_active", "invariant", Outcome.UNKNOWN, PLACE, reason="interrupted")
    lines = text(sample.report(result, interrupted=True, stopped="interrupted at level 3"))
    assert lines[0] == "interrupted"
    assert "Interrupted at level 3" in lines


def test_a_search_that_stopped_tells_nothing_of_what_it_did_not_exercise(sample: Any) -> None:
    coverage = Coverage(actions=(ActionCoverage("resign", PLACE, 0, 0),))
    lines = text(sample.report(violated(sample), coverage=coverage, stopped="the search ended in level 3"))
    assert not any("never happens" in line for line in lines)
    assert "The search ended in level 3 (`--continue` searches on)" in lines


def test_a_violated_scenario_gives_its_reason_and_not_the_run_that_the_spec_already_holds(sample: Any) -> None:
    reason = "step 2, `refuse elect(b2)`: it is enabled"
    result = PropertyResult("loser", "scenario", Outcome.VIOLATED, PLACE, reason, trace=sample.trace)
    lines = text(sample.report(result))
    assert f"  {reason}" in lines
    assert not any("initial state" in line for line in lines)


def test_values_of_witnesses_are_not_told_twice(sample: Any) -> None:
    part = Atomic("p in live", PLACE, holds=False, values=(("p", "b1"), ("live", "{}")))
    why = Explanation("all_live", PLACE, (("p", "b1"),), (part, part))
    result = PropertyResult("all_live", "invariant", Outcome.VIOLATED, PLACE, trace=sample.trace, explanation=why)
    lines = text(sample.report(result))
    assert "           p = b1" not in lines
    assert lines.count("           live = {}") == 1


def test_every_undecided_property_gives_its_reason(sample: Any) -> None:
    result = PropertyResult("returns", "temporal", Outcome.UNKNOWN, PLACE, reason="no engine yet")
    assert "  temporal  returns  unknown  (no engine yet)" in text(sample.report(result))
