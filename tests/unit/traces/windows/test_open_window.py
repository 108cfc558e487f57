"""What lines that are left out of a window may have changed: no more than they can."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from assay.grammar.load import load_text
from assay.traces.observe.binding import EventBinder
from assay.traces.observe.model_size import sized_kernel, trace_plan
from assay.traces.options import Options
from assay.traces.search.stuttering import compared_order
from assay.traces.search.transition_system import TraceModel
from assay.traces.windows.open_window import Allowance, OpenWindow, Order
from assay.traces.windows.slice_window import template_of
from assay.traces.windows.window_model import LogPart, window_model

SPEC = """\
module lamps

param Lamp: set = {l1}

state:
    lit: map[Lamp, bool] = [l -> false]
    worn: map[Lamp, bool] = [l -> false]

action light(l: Lamp):
    lit[l] := true

action quench(l: Lamp):
    lit[l] := false

action toggle(l: Lamp):
    lit[l] := not lit[l]

action wear(l: Lamp):
    worn[l] := true

trace log:
    from lamps
    begins anywhere
    on Lit(lamp: Lamp): light(lamp)
    on Quenched(lamp: Lamp): quench(lamp)
    on Toggled(lamp: Lamp): toggle(lamp)
    on Worn(lamp: Lamp): wear(lamp)
    on Bright(lamp: Lamp): observe lit[lamp]
    on Dark(lamp: Lamp): observe not lit[lamp]
    order: file; skew 0 ms
"""

Line = Callable[..., Any]


def is_explained(line: Line, core: list[str], skipped: list[str]) -> bool:
    """Whether some beginning explains the lines of a lamp, if lines between them are left out."""
    numbers, loaded = count(1), load_text(SPEC)
    events = [line("n", n, 10 * n, kind, lamp="l1") for kind in (*core, *skipped) for n in [next(numbers)]]
    kernel, plan = sized_kernel(loaded, events, len(events), None)
    model = TraceModel(kernel, plan)
    items = EventBinder(plan, model.applies).bind(events).observations
    ordered = compared_order(model, items).items
    window = window_model(LogPart(loaded, trace_plan(loaded.kernel, "log"), Options(partial=True), events), ordered, 2)
    allowed = Allowance(0, skipped=window.items[len(core) :])
    first, second = window.of(window.items[: len(core)]), Order(((), (0,)))
    asked = OpenWindow(template_of(first.kernel), first, second, allowed, 10_000)
    try:
        return asked.is_explained()
    finally:
        asked.close()


@pytest.mark.parametrize(
    ("skipped", "goes_out", "comes_on"),
    [
        ([], False, False),
        (["Worn"], False, False),
        (["Quenched", "Quenched"], True, False),
        (["Lit"], False, True),
        (["Lit", "Quenched"], True, True),
        (["Toggled"], True, True),
    ],
)
def test_lines_that_are_left_out_change_what_they_write_in_their_own_direction(
    line: Line, skipped: list[str], *, goes_out: bool, comes_on: bool
) -> None:
    assert is_explained(line, ["Bright", "Dark"], skipped) is goes_out
    assert is_explained(line, ["Dark", "Bright"], skipped) is comes_on
