"""What `match` and `is` do at the edges: one case alone, values known to be present, values that are undefined."""

from __future__ import annotations

import pytest

from assay.checker.engines.reference_engine import check
from assay.checker.options import SearchOptions
from assay.checker.report import Outcome
from assay.grammar.load import load_text

SPEC = """module top
param Node: set = {a, b}
state:
    x: 0 .. 5 = 0
    v: (Node, 0 .. 5)? = none
action take:
    when free: v is none
    v := (a, 1)
"""


def outcomes(text: str) -> dict[str, Outcome]:
    report = check(load_text(SPEC + text).kernel, SearchOptions(check_deadlock=False, keep_going=True))
    return {each.name: each.outcome for each in report.properties}


def test_what_a_guard_shows_to_be_present_may_be_matched_again() -> None:
    lines = [
        "when has: v is some((n, _))",
        "match v:",
        "    some((==b, k)): x := k",
        "    some((_, k)): x := k + 2",
        "    none: x := 5",
    ]
    action = "action go:\n" + "\n".join(f"    {line}" for line in lines)
    found = outcomes(f"{action}\ninvariant small: x < 4\nreachable three: x == 3\n")
    assert found["small"] is found["three"] is Outcome.HOLDS


def test_a_match_may_have_else_alone() -> None:
    assert outcomes("action go:\n    match x:\n        else: x := 1\nreachable one: x == 1\n")["one"] is Outcome.HOLDS


@pytest.mark.parametrize(
    "text",
    [
        "action go:\n    match (choose n in Node if x < 7):\n        else: x := 1\n",
        "action go:\n    match (choose n in Node if x < 7, 1):\n        (_, _): x := 1\n",
        "action go:\n    when (choose n in Node if x < 7, x) is (_, k)\n    x := k\n",
        "invariant i: (choose n in Node if x < 7, 1) is (_, _)\n",
        "invariant i: match (choose n in Node if x < 7) {else -> true}\n",
    ],
)
def test_a_pattern_that_every_value_fits_asks_for_a_value(text: str) -> None:
    assert outcomes(text)["defined"] is Outcome.VIOLATED
