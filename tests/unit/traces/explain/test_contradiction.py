"""Lines that contradict each other, in words: two nodes that claim one epoch, and anything else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.unit.traces.windows.test_reopening import SPEC

from assay.grammar.load import load_text
from assay.traces.options import Options
from assay.traces.result import TraceVerdict
from assay.traces.validate import validate

Line = Callable[..., Any]


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ("b", "Two controllers with epoch 1: a at 00:00:00 (a/a.log:1), b at 00:00:00 (b/a.log:2)"),
        ("a", "these lines contradict each other: "),
    ],
)
def test_two_nodes_claim_an_epoch_and_one_node_contradicts_itself(line: Line, other: str, said: str) -> None:
    events = [line("a", 1, 100, "ControllerElected", epoch=1), line(other, 2, 200, "ControllerElected", epoch=1)]
    found = validate(load_text(SPEC), events, options=Options(partial=True))
    assert found.verdict is TraceVerdict.INCONSISTENT
    (violation,) = found.violations
    assert violation.contradiction is not None
    assert violation.contradiction.text.startswith(said)
