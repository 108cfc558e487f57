"""Bounds that no run hits are not assumed, and those that some run hits are."""

from __future__ import annotations

import pytest

from assay.checker.engines import engine_selection
from assay.checker.engines.reference_engine import check as reference
from assay.checker.options import SearchOptions
from assay.checker.report import Outcome
from assay.checker.symbolic.encode.transition_system import encode_kernel
from assay.checker.symbolic.induction.unreached_bounds import UnreachedBounds
from assay.checker.symbolic.prove import prove
from assay.checker.symbolic.smt.recheck import SecondOpinion
from assay.grammar.load import load_text

LATE = """
module late
param Last: int = 60
size param Most: int = 60
state:
    at: 0 .. Most = 0
    met: set[0 .. 3, max 3] = {}
    line: seq[0 .. 1, max 2] = []
action go:
    when at < Last
    bound ends: at < Most
    at := at + 1
action meet(n: 0 .. 3):
    when n < WHO
    met := met + {n}
action stand(n: 0 .. 1):
    when count(line) < LENGTH
    line := line + [n]
invariant low: at <= Last
reachable beyond: at > Last
"""


def answers(who: int = 3, length: int = 2, *, searched: bool = False, **settings: str) -> dict[str, Outcome]:
    text = LATE.replace("WHO", str(who)).replace("LENGTH", str(length))
    kernel = load_text(text, overrides=settings).kernel
    options = SearchOptions(check_deadlock=False)
    report = (engine_selection.prove(kernel, options) if searched else prove(kernel, options)).report
    return {each.name: each.outcome for each in report.properties}


def test_a_bound_that_no_run_hits_is_not_assumed_but_what_no_engine_confirms_is() -> None:
    by_statements = answers(Last="30", Most="60")
    assert by_statements["low"] is Outcome.UP_TO_BOUND  # the second encoding does not say what exceeds a sequence
    assert answers(Last="30", Most="60", searched=True) == {
        "defined": Outcome.HOLDS,
        "low": Outcome.HOLDS,
        "beyond": Outcome.VIOLATED,
    }


def test_a_bound_that_is_hit_later_than_any_walk_goes_is_assumed() -> None:
    found = answers(Last="60", Most="55", searched=True)
    assert (found["low"], found["beyond"]) == (Outcome.UP_TO_BOUND, Outcome.UNKNOWN)


@pytest.mark.parametrize(("who", "length"), [(4, 2), (3, 3)])
def test_a_capacity_that_is_exceeded_is_assumed(who: int, length: int) -> None:
    assert answers(who, length, Last="3", searched=True)["low"] is Outcome.UP_TO_BOUND


@pytest.mark.parametrize(("most", "unhit"), [(None, {"ends"}), (5, set())])
def test_a_search_is_believed_about_bounds_only_if_it_came_to_its_end(most: int | None, unhit: set[str]) -> None:
    text = "state:\n    at: 0 .. 9 = 0\naction go:\n    when at < 6\n    bound ends: at < 8\n    at := at + 1\n"
    kernel = load_text(text).kernel
    report = reference(kernel, SearchOptions(check_deadlock=False, max_states=most))
    asked = UnreachedBounds(encode_kernel(kernel), [(0,)], (), lambda *, made: report)
    assert asked.of(["ends"], lambda: lambda: True) == unhit


BOUNDS = """
module bounds
size param Most: int = 3
state:
    at: 0 .. Most = 0
    met: set[0 .. 3, max 3] = {}
    table: map[0 .. 3, bool, max 3] = {}
    sets: map[bool, set[0 .. 3, max 3]] = [b -> {}]
    line: seq[0 .. 1, max 2] = []
action go:
    bound first_of_two: at < 3
    when at < 2
    bound second_of_two: at < Most
    at := at + 1
action meet(n: 0 .. 3):
    when WHO
    met := met + {n}
action keep(n: 0 .. 3):
    when WHO
    table[n] := true
action add(n: 0 .. 3):
    when n < 3
    sets[true] := sets[true] + {n}
action stand:
    when line == []
    line := line + [0]
    met := {0}
"""
CAPACITIES = ("first_of_two", "second_of_two", "capacity of met", "capacity of table")


@pytest.mark.parametrize(("who", "hit"), [("n < 3", set()), ("n < 4", {"capacity of table"})])
def test_the_second_encoding_knows_which_bounds_are_hit(who: str, hit: set[str]) -> None:
    kernel = load_text(BOUNDS.replace("WHO", who) + "lemma few: not (3 in met) and not (3 in keys(table))\n").kernel
    said = [each.condition for prop in kernel.properties for each in prop.conjuncts]
    opinion = SecondOpinion(kernel)
    found = {label for label in CAPACITIES if opinion.never_cut(said, label) is not None}
    # What stands behind a bound is left out of account, and `stand` writes a sequence too: both are doubts, not answers.
    assert found == hit | {"first_of_two", "capacity of met"}
    assert all(opinion.never_cut(said, f"capacity of {name}") is not None for name in ("sets", "line"))
    assert opinion.never_cut(said, "no_such_bound") is not None
