"""Quantifiers that range over nothing are reported by both engines, and only those."""

from __future__ import annotations

import pytest

from assay.checker.engines.engine_selection import Engine, check
from assay.checker.options import SearchOptions
from assay.grammar.load import load_text

SPEC = """
state:
    n: 0 .. 3 = 0
    never: set[0 .. 3] = {}
    later: set[0 .. 3] = {}

action count_up:
    when n < 3
    n := n + 1
    later := later + {n}

terminal: n == 3
invariant about_nothing: forall x in never: x > n
invariant about_something: forall x in later: x < n
"""


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_a_quantifier_that_is_empty_in_every_state_is_reported(engine: Engine) -> None:
    loaded = load_text(SPEC)
    report = check(loaded.kernel, SearchOptions(), loaded.sources, engine=engine).report
    assert [(each.property, each.text) for each in report.coverage.empty_quantifiers] == [
        ("about_nothing", "forall x in never: x > n")
    ]


RARE = """
state:
    n: 0 .. 200 = 0
action count_up:
    when n < 200
    n := n + 1
terminal: n == 200
invariant seldom: forall x in {y in 0 .. 2 if n == 100}: x < 3
invariant never: forall x in {y in 0 .. 2 if n > 200}: x < 3
"""


@pytest.mark.parametrize("engine", ["reference", "native"])
def test_a_quantifier_that_ranges_over_something_in_one_of_many_states_is_not_reported(engine: Engine) -> None:
    loaded = load_text(RARE)
    report = check(loaded.kernel, SearchOptions(), loaded.sources, engine=engine).report
    assert [each.property for each in report.coverage.empty_quantifiers] == ["never"]
