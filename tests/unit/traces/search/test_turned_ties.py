"""Lines of one time are read in another order, where it is known that they stand in none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from assay.grammar.load import load_text
from assay.traces.options import Options
from assay.traces.result import TraceVerdict
from assay.traces.validate import validate

SPEC = """\
module terms

param Node: set = {a, b}
type Term = 0 .. 9

state:
    term: Term = 0

action begin(t: Term):
    when next: t == term + 1
    term := t

trace log:
    from terms
    on Begun(number: Term): begin(number)
    on Begun(number: Term): observe term >= number
    on Current(number: Term): observe term == number
    order: file; commit before line within 1 ms; skew 0 ms
"""

Line = Callable[..., Any]


@pytest.mark.parametrize(("tied", "apart", "explained"), [(True, 0, True), (False, 0, False), (True, 1, False)])
def test_lines_of_one_time_have_another_order(line: Line, tied: bool, apart: int, explained: bool) -> None:
    events = [
        line("a", 1, 100, "Begun", number=1),
        line("a", 2, 200, "Current", number=2),
        line("a", 3, 200 + apart, "Begun", number=2),
        line("a", 4, 300, "Current", number=3),
        line("a", 5, 300 + apart, "Current", number=2),
        line("a", 6, 300 + apart, "Begun", number=3),
    ]
    found = validate(load_text(SPEC), events, options=Options(tied=tied))
    assert (found.verdict is TraceVerdict.CONSISTENT) is explained
