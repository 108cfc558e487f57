"""The model is as large as the log needs."""

from __future__ import annotations

from collections.abc import Callable

from assay.grammar.load import load_text
from assay.traces.event import Event
from assay.traces.observe.model_size import NeedsOfEvents, trace_plan

SPEC = """\
module rooms

param Guest: set = {g}
param Room: set = {r}

state:
    guests: set[Guest] = {}
    rooms: set[Room] = {}

action come(g: Guest):
    guests := guests + {g}

action open_room(r: Room):
    rooms := rooms + {r}

next: come, open_room

trace log:
    from toy
    on Used(x: Guest): come(x)
    on Used(x: Room): open_room(x)
    order: file; skew 0 ms
"""


def test_rules_that_give_a_field_different_types_each_get_its_element(line: Callable[..., Event]) -> None:
    needed = NeedsOfEvents(trace_plan(load_text(SPEC).kernel, None))
    named, _ = needed(line("n0", 1, 0, "Used", x="a"))
    assert named == {("Guest", "a"), ("Room", "a")}
