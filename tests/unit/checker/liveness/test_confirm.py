"""The run that is shown where a temporal property is violated."""

from __future__ import annotations

from assay.checker.engines.reference_engine import check
from assay.checker.liveness.lasso import Lasso
from assay.grammar.load import load_text

UP_AND_DOWN = """
state:
    x: 0 .. 1 = 0
action up fair:
    when x == 0
    x := 1
action down:
    when x == 1
    x := 0
"""
NOT_AT_ONCE = "property p: (eventually always not occurs(down)) and not occurs(up) implies always eventually x == 0"


def _run(text: str) -> tuple[list[str | None], int | None]:
    (violated,) = (each for each in check(load_text(text).kernel).properties if each.kind == "temporal")
    assert violated.trace is not None
    return [step.action for step in violated.trace.steps], violated.trace.loop


def test_a_step_at_which_nothing_happens_is_shown_only_where_the_property_would_hold_without_it() -> None:
    assert _run(UP_AND_DOWN + NOT_AT_ONCE) == ([None, None, "up"], 2)


def test_a_loop_keeps_its_place_when_places_before_it_and_in_it_are_left_out() -> None:
    lasso = Lasso((0, 0, 1, 1, 2, 2, 1), 3)
    assert lasso.idle() == [1, 3, 5]
    assert lasso.without(1) == Lasso((0, 1, 1, 2, 2, 1), 2)
    assert lasso.without(3) == Lasso((0, 0, 1, 2, 2, 1), 2)
    assert lasso.without(5) == Lasso((0, 0, 1, 1, 2, 1), 3)
    assert Lasso((0, 1, 1), 1).without(2) == Lasso((0, 1), 1), "the run stops there"


def _reason(bound: str) -> str:
    text = f"state:\n    x: 0 .. 1 = 0\naction up:\n    {bound}: x > 0\n    x := 1\naction stay:\n    x := x\n"
    (found,) = (
        each
        for each in check(
            load_text(text + "property p: always (enabled(up) implies eventually x == 1)").kernel
        ).properties
        if each.kind == "temporal"
    )
    return found.reason or ""


def test_a_premise_is_said_to_be_never_true_unless_a_bound_cuts_it_off() -> None:
    assert _reason("when known") == "`enabled(up)` is never true"
    assert "never true" not in _reason("bound known")
