"""Successors equal to recent ones are counted and not written, unless the step to them is a finding."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.checker.engines.engine_selection import check
from assay.checker.engines.reference_engine import check as reference
from assay.checker.options import Order, SearchOptions
from assay.checker.report import Outcome
from assay.grammar.load import load_text

MEETING = """\
state:
    at: 0 .. 9
init:
    pick first in 0 .. 7
    at := first
action meet:
    at := 9
action again:
    at := 9
action apart:
    when at == 7
    at := 8
transition only_from_the_first_six: at == 9 implies old(at) <= 5 or old(at) == 9
"""


@pytest.mark.parametrize("order", ["bfs", "dfs"])
def test_a_step_to_a_known_state_is_a_finding_and_all_steps_are_counted(order: Order, tmp_path: Path) -> None:
    kernel = load_text(MEETING).kernel
    options = SearchOptions(threads=1, keep_going=True, order=order, check_deadlock=False)
    found, wanted = check(kernel, options, engine="native", cache=tmp_path).report, reference(kernel, options)
    assert found.statistics.generated == wanted.statistics.generated
    assert [each.outcome for each in found.properties] == [each.outcome for each in wanted.properties]
    assert Outcome.VIOLATED in [each.outcome for each in found.properties]
    assert found.coverage == wanted.coverage
