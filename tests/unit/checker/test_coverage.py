"""What a search exercised."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Run = Callable[..., Any]

MODEL = """
state:
    x: 0 .. 3 = 0
    s: set[0 .. 3] = {}
action up:
    when below: x < 2
    x := x + 1
action down:
    when above: x > 0
    when never_matters: x > 0
    x := x - 1
action never:
    when impossible: x > 5
    x := 0
action limited(n in 0 .. 1):
    bound tight: x < 1
    bound loose: x < 3
    x := x
"""


def guards(answer: Any) -> dict[tuple[str, str], bool]:
    return {(each.action, each.label): each.decisive for each in answer.report.coverage.guards}


def test_actions_are_counted_with_the_new_states_they_found(run: Run) -> None:
    actions = {each.action: (each.taken, each.new_states) for each in run(MODEL).report.coverage.actions}
    assert actions == {"up": (2, 2), "down": (2, 0), "never": (0, 0), "limited": (2, 0)}


def test_a_guard_is_decisive_where_it_alone_is_false(run: Run) -> None:
    assert guards(run(MODEL)) == {
        ("up", "below"): True,
        ("down", "above"): False,
        ("down", "never_matters"): False,
        ("never", "impossible"): True,
        ("limited", "tight"): True,
        ("limited", "loose"): False,
    }


def test_a_guard_before_one_that_it_protects_is_decisive(run: Run) -> None:
    text = "state:\n    x: 0 .. 1 = 0\naction a:\n    when first: x > 0\n    when second: 1 // x == 1\n    x := 0\naction b:\n    x := x\n"
    assert guards(run(text)) == {("a", "first"): True, ("a", "second"): False}


PROTECTING = """
enum Role: Idle, Active(epoch: 0 .. 1)
state:
    leader: Role = Idle
    full: bool = false
action send:
    when acting: leader is Active(e)
    when recent: e == 1
    let other = 1 - e
    when fits: other < 2
    pick n in e .. other
    when small: n < 2
    when room: not full
    leader := Active(n)
action fill:
    bound once: not full
    when open: leader is Active(e)
    when never: e > 0
    full := true
"""


def test_a_pattern_guard_is_decisive_though_nothing_after_it_has_a_value(run: Run) -> None:
    decisive = {label for (action, label), is_so in guards(run(PROTECTING)).items() if action == "send" and is_so}
    assert decisive == {"acting"}


def test_an_independent_false_guard_after_a_protected_let_and_pick_still_counts(run: Run) -> None:
    answer = run(PROTECTING.replace("full: bool = false", "full: bool = true"))
    assert not guards(answer)["send", "acting"]


def test_a_bound_is_decisive_though_a_guard_after_it_has_no_value(run: Run) -> None:
    text = "state:\n    x: 0 .. 1 = 0\naction a:\n    bound first: x > 0\n    when second: 1 // x == 1\n    when third: x < {}\n    x := 0\naction b:\n    x := x\n"
    assert guards(run(text.format(1)))["a", "first"]
    assert not guards(run(text.format(0)))["a", "first"]


def test_a_guard_before_a_pick_is_decisive_if_some_pick_passes_the_rest(run: Run) -> None:
    text = "state:\n    x: 0 .. 3 = 0\naction a:\n    when first: x > 0\n    pick n in 0 .. 3\n    when second: n == {}\n    x := n\naction b:\n    x := x\n"
    assert guards(run(text.format(3)))["a", "first"]
    assert not guards(run(text.format(4)))["a", "first"]


def test_a_quantifier_that_never_ranged_over_anything_is_reported(run: Run) -> None:
    answer = run(f"{MODEL}\ninvariant idle:\n    forall n in s: n > 1\n    forall n in 0 .. x: n <= x\n")
    (empty,) = answer.report.coverage.empty_quantifiers
    assert (empty.property, empty.text) == ("idle", "forall n in s: n > 1")
