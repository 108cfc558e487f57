"""Slices answered by several processes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

import pytest

from assay.grammar.load import load_text
from assay.traces.event import Event
from assay.traces.options import Options
from assay.traces.result import TraceVerdict
from assay.traces.slices import process_pool
from assay.traces.slices.slice_validator import Joiner
from assay.traces.validate import validate, validate_shared

BOXES = """\
module boxes

param Box: set = {s}
size param Max: int = 3

state:
    open: bool = false
    held: map[Box, 0 .. Max] = [s -> 0]

action unlock:
    open := true

action put(s: Box):
    when unlocked: open
    held[s] := held[s] + 1

next: unlock, put

trace log:
    from toy
    slice Box by room, box
    on Unlocked: unlock
    on Put(slice: Box, held: 0 .. Max): put(slice) then held[slice] == held
    order: file; skew 0 ms
"""
BOXES = BOXES.replace(
    "held: 0 .. Max): put(slice) then held[slice] == held", "n: 0 .. Max): put(slice) then held[slice] == n"
)


@pytest.fixture
def events(line: Callable[..., Any]) -> list[Event]:
    puts = [
        line("n1", box * 10 + n, 10 + box * 10 + n, "Put", room="a", box=box, n=n + (box == 3 and n == 2))
        for box in range(1, 9)
        for n in (1, 2)
    ]
    return [line("n0", 1, 0, "Unlocked"), *puts]


@pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux alone")
def test_several_processes_give_the_answers_of_one(events: list[Event], monkeypatch: pytest.MonkeyPatch) -> None:
    alone = validate(load_text(BOXES), events)
    monkeypatch.setattr(process_pool, "WORTH_IT", 0)
    monkeypatch.setattr(process_pool, "AT_ONCE", 2)
    shared = validate(load_text(BOXES), events, options=Options(jobs=2))
    assert alone.verdict is TraceVerdict.INCONSISTENT
    assert (shared.verdict, shared.slices, shared.violations) == (alone.verdict, alone.slices, alone.violations)
    assert [each.event.record for each in shared.violations] == [events[6].record]


@pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux alone")
def test_what_a_process_that_was_killed_leaves_is_done_by_the_first(
    events: list[Event], monkeypatch: pytest.MonkeyPatch
) -> None:
    found, slices = validate_shared(load_text(BOXES), events)
    assert found.joint is not None
    first, of_slice = os.getpid(), Joiner.of_slice

    def dies_elsewhere(joiner: Joiner, name: str, own: Any) -> Any:
        if os.getpid() != first:
            os._exit(1)
        return of_slice(joiner, name, own)

    monkeypatch.setattr(process_pool, "WORTH_IT", 0)
    monkeypatch.setattr(Joiner, "of_slice", dies_elsewhere)
    answers = process_pool.answer_all(found.joint, slices, 2, lambda answer, _: answer)
    assert [each.result.name for each in answers] == list(slices)
