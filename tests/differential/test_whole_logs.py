"""Small logs in slices and as a whole. A mismatch of a slice is one of the whole. One of the whole alone comes from
what slicing leaves out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import NamedTuple

import pytest
from tests.stages import everyday

from assay.grammar.load import Loaded, load_text
from assay.traces.event import Event, LogPosition, LogRecord, ProcessRun
from assay.traces.observe.model_size import trace_plan
from assay.traces.observe.slice_assignment import sliced
from assay.traces.options import Options
from assay.traces.result import ProductAnswer, TraceVerdict
from assay.traces.slices.product_search import check_whole
from assay.traces.table.event_table import fields_read
from assay.traces.validate import validate

SHELVES = (Path(__file__).parents[1] / "unit" / "traces" / "shelves.txt").read_text(encoding="utf-8")
ROOM = "bound room: t.items < Max"
ALONE = "when alone: forall r in Shelf: r == s or not marked[r]"
STEPS = 12
SEEDS = range(40)
OPTIONS = Options(nodes=200_000)


class Shelf(NamedTuple):
    """A shelf as a walk through the spec knows it; ``version`` is None before it is made."""

    items: int = 0
    version: int | None = None


def _event(number: int, kind: str, **fields: int | str) -> Event:
    record = LogRecord(LogPosition("n1/a.log", number, 0), 100 * number, "INFO", "toy", None, kind)
    return Event(kind, kind, MappingProxyType(fields), record, ProcessRun("n1", 1))


def walk(random: Random) -> list[Event]:
    """The log of a run of the spec with two shelves, of which each step is told of, and some states too."""
    shelves = {1: Shelf(), 2: Shelf()}
    found = [_event(1, "Unlocked")]
    while len(found) < STEPS:
        number, name = len(found) + 1, random.choice((1, 2))
        shelf = shelves[name]
        where: dict[str, int | str] = {"room": "a", "shelf": name}
        if shelf.version is None:
            shelves[name] = Shelf(0, 0)
            found.append(_event(number, "Made", **where, version=0))
            continue
        if random.random() < 0.2:
            found.append(_event(number, "Marked", **where))
            continue
        more = 1 if shelf.items == 0 or random.random() < 0.6 else -1
        shelf = shelves[name] = Shelf(shelf.items + more, shelf.version + 1)
        assert shelf.version is not None
        kind = "Put" if more > 0 and random.random() < 0.7 else "Seen"
        found.append(_event(number, kind, **where, items=shelf.items, version=shelf.version))
    return found


def changed(events: Sequence[Event], random: Random) -> list[Event]:
    """The same log with one number of one line changed by one."""
    sites = [(at, name) for at, event in enumerate(events) for name in ("items", "version") if name in event.fields]
    at, name = random.choice(sites)
    value = events[at].fields[name]
    assert isinstance(value, int)
    other = max(0, value + random.choice((-1, 1)))
    return [*events[:at], replace(events[at], fields={**events[at].fields, name: other}), *events[at + 1 :]]


def whole(loaded: Loaded, events: Sequence[Event]) -> ProductAnswer:
    plan = trace_plan(loaded.kernel, None)
    assert plan.slicing is not None
    return check_whole(loaded, sliced(plan.slicing, events, fields_read(plan)), None, OPTIONS)


@pytest.mark.parametrize("seed", everyday(SEEDS, 6))
def test_what_the_model_does_is_consistent_in_slices_and_as_a_whole(seed: int) -> None:
    events, loaded = walk(Random(seed)), load_text(SHELVES.replace("GUARD", ROOM))
    assert validate(loaded, events).verdict is TraceVerdict.CONSISTENT
    assert whole(loaded, events).verdict is TraceVerdict.CONSISTENT


@pytest.mark.parametrize("seed", everyday(SEEDS, 6))
def test_without_guards_across_slices_a_changed_line_is_answered_alike(seed: int) -> None:
    random, loaded = Random(seed), load_text(SHELVES.replace("GUARD", ROOM))
    events = changed(walk(random), random)
    alone, together = validate(loaded, events), whole(loaded, events)
    if alone.verdict is not TraceVerdict.INCONCLUSIVE:
        assert together.verdict is alone.verdict
