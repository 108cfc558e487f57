"""A quantifier goes through a domain of any size, as far as it needs; whoever evaluates it can stop it."""

from __future__ import annotations

import pytest

from assay.checker.engines.engine_selection import check as check_by
from assay.checker.engines.reference_engine import check
from assay.checker.interpreter.expressions import enumerate_set
from assay.checker.interpreter.expressions.cancellation import heeding
from assay.checker.interpreter.expressions.dispatch import evaluate
from assay.checker.report import Outcome
from assay.grammar.load import load_text

SPEC = """
type N = 1 .. 40
state:
    n: 0 .. 3 = 0
action tick:
    n := (n + 1) % 4
invariant probe: {}
"""


ENDS = pytest.mark.parametrize(
    ("condition", "outcome"),
    [
        ("exists s in subsets(N): count(s) == 2 and n + 1 in s", Outcome.HOLDS),
        ("forall s in subsets(N): count(s) < 2", Outcome.VIOLATED),
        ("exists k in 0 .. 9999999999: k == n + 70000", Outcome.HOLDS),
        ("not exists k in 9 .. n: true", Outcome.HOLDS),
        ("forall s in subsets({i in N if i <= 3}): count(s) < 4", Outcome.HOLDS),
        ("exists s in subsets({i in N if i > 99}): s == {}", Outcome.HOLDS),
    ],
)


@ENDS
def test_the_first_element_that_decides_ends_the_search(condition: str, outcome: Outcome) -> None:
    report = check(load_text(SPEC.replace("{}", condition)).kernel)
    assert next(each.outcome for each in report.properties if each.name == "probe") is outcome


@ENDS
def test_compiled_code_goes_through_them_in_a_loop(condition: str, outcome: Outcome) -> None:
    report = check_by(load_text(SPEC.replace("{}", condition)).kernel, engine="native").report
    assert next(each.outcome for each in report.properties if each.name == "probe") is outcome


@pytest.mark.parametrize(
    "condition",
    [
        "forall k in n .. n + 2000: 10 // (k - n + 1) >= 0",
        "exists k in n .. n + 2000: 10 // (k - n - 1) == 99 or k == n + 1",
        "exists k in 0 .. 9999999: 10 // (k - 70000) == 99 or k == n + 60000",
        "forall s in subsets({i in N if i <= 11}), t in subsets(s): t <= s",
        "exists s in subsets({i in N if i <= 11}): s == {} or min(s) == 99",
        "exists s in subsets({i in N if i <= 11}): count(s) == 1 or min(s) == 99",
        "forall s in subsets({i in N if i <= 11}): count(s) > 1 or (7 in s and min({i in s if i > 8}) < 3)",
        "forall s in subsets({i in N if i <= 11}): 7 in s or (count(s) > 1 and min({i in s if i > 8}) < 3)",
    ],
)
def test_what_is_undefined_before_the_element_that_decides_counts(condition: str) -> None:
    kernel = load_text(SPEC.replace("{}", condition)).kernel
    native, reference = check_by(kernel, engine="native").report, check(kernel)
    assert [(each.name, each.outcome) for each in native.properties] == [
        (each.name, each.outcome) for each in reference.properties
    ]


def test_a_search_through_a_type_of_sets_stops_at_its_capacity(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enumerate_set, "ENUMERATION_LIMIT", 10)
    spec = "type Few = set[N, max 2]\n" + SPEC.replace("1 .. 40", "1 .. 9")
    kernel = load_text(spec.replace("{}", "forall s in Few: count(s) <= 2")).kernel
    assert all(each.outcome is not Outcome.VIOLATED for each in check(kernel).properties)
    assert [len(each) for each in (enumerate_set.AllSubsets(range(9), 2), enumerate_set.AllSubsets(range(9)))] == [
        46,
        512,
    ]


class _StopError(Exception):
    pass


@pytest.mark.parametrize(
    "condition",
    [
        "forall s in subsets(N): count(s) < 41",
        "count({i in 0 .. n + 999999 if i > 3}) == 0",
        "count({i + j for i in 0 .. n + 999, j in 0 .. 999}) == 0",
        "count([i in 0 .. n + 999999 -> i]) == 0",
    ],
)
def test_a_long_evaluation_is_stopped(condition: str) -> None:
    def stop() -> None:
        raise _StopError

    kernel = load_text(SPEC.replace("{}", condition)).kernel
    with heeding(stop), pytest.raises(_StopError):
        evaluate(kernel.properties[0].conjuncts[0].condition, kernel, (0,))
