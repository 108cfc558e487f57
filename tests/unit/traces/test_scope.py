"""What an answer is once findings are left out of it: those before a time, and those that are accepted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.grammar.diagnostics.diagnostic import NOWHERE
from assay.grammar.load import load_text
from assay.traces.event import LogPosition
from assay.traces.log_reader import ReadOptions, read_logs
from assay.traces.observe.binding_tally import Unread
from assay.traces.observe.model_size import source_of
from assay.traces.options import DEFAULT_OPTIONS
from assay.traces.result import BrokenProperty, ProductAnswer, TraceVerdict, Validation
from assay.traces.scope import answer_since, events_until, finding_id, without_known
from assay.traces.scoped_validate import validate_in_scope

SLICED = """\
module shop
param Order: set = {o1, o2}
state:
    placed: map[Order, bool] = [o -> false]
action place(o: Order):
    when fresh: not placed[o]
    placed[o] := true
trace log:
    from events
    slice Order by order
    on Placed(slice: Order): place(slice)
    order: file
"""
COUNTED = """\
module counts
state:
    n: 0..9 = 0
action count(k: 0..9):
    n := k
invariant small: n < 5
trace log:
    from events
    on Count(k: 0..9): count(k)
    order: file
"""


def answer(folder: Path, spec: str, *events: Mapping[str, object]) -> Validation:
    loaded = load_text(spec)
    (folder / "log.jsonl").write_text("".join(json.dumps(each) + "\n" for each in events), encoding="utf-8")
    reading = read_logs([folder / "log.jsonl"], ReadOptions(source=source_of(loaded, None)))
    return validate_in_scope(loaded, reading, DEFAULT_OPTIONS)


def test_without_its_accepted_finding_an_answer_is_as_open_as_its_slices(tmp_path: Path) -> None:
    found = answer(tmp_path, SLICED, *({"event": "Placed", "order": name} for name in ("x", "x", "y")))
    known = [finding_id(each) for each in found.violations]
    assert without_known(found, known).verdict is TraceVerdict.CONSISTENT
    # As long as there was a violation, it hid that another slice was not decided.
    others = [
        replace(each, verdict=TraceVerdict.INCONCLUSIVE, reason="a limit") if each.name == "y" else each
        for each in found.slices
    ]
    left = without_known(replace(found, slices=tuple(others)), known)
    assert (left.verdict, left.reason) == (TraceVerdict.INCONCLUSIVE, "y: a limit")


UNREAD = Unread("Placed", "its order is none", 1, LogPosition("log.jsonl", 4, 0))
BROKEN = BrokenProperty("small", "invariant", NOWHERE, None, ())


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        ({"reason": "a limit was reached"}, TraceVerdict.INCONCLUSIVE),
        ({"execution": None}, TraceVerdict.INCONCLUSIVE),
        ({"whole": ProductAnswer(TraceVerdict.INCONCLUSIVE, "a limit")}, TraceVerdict.INCONCLUSIVE),
        ({"whole": ProductAnswer(TraceVerdict.CONSISTENT, None)}, TraceVerdict.CONSISTENT),
        ({"unmapped": (replace(UNREAD, needed=True),)}, TraceVerdict.INCONCLUSIVE),
        ({"unmapped": (UNREAD,)}, TraceVerdict.CONSISTENT),
        ({"properties": (BROKEN,)}, TraceVerdict.VIOLATED),
        ({"rests_on": ("order x was placed",), "held": 0}, TraceVerdict.VACUOUS),
        ({"rests_on": ("order x was placed",), "held": 2}, TraceVerdict.CONSISTENT),
    ],
    ids=lambda each: "-".join(each) if isinstance(each, dict) else each.value,
)
def test_what_a_finding_hid_counts_once_it_is_accepted(
    tmp_path: Path, change: dict[str, Any], verdict: TraceVerdict
) -> None:
    found = answer(tmp_path, SLICED, *({"event": "Placed", "order": name} for name in ("x", "x", "y")))
    known = [finding_id(each) for each in found.violations]
    assert without_known(replace(found, **change), known).verdict is verdict
    assert without_known(replace(found, **change), []).verdict is TraceVerdict.INCONSISTENT


def test_events_at_the_end_that_is_asked_for_are_kept(tmp_path: Path) -> None:
    events = [{"event": "Count", "time": at, "k": 1} for at in (1_000, 2_000, 3_000)]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(each) + "\n" for each in events), encoding="utf-8")
    reading = read_logs([tmp_path / "log.jsonl"], ReadOptions(source=source_of(load_text(COUNTED), None)))
    kept, (notice,) = events_until(reading.events, 2_000)
    assert [event.record.time for event in kept] == [1_000, 2_000]
    assert notice.place is not None
    assert notice.place.line == 3
    assert events_until(reading.events, 3_000)[1] == []


def test_a_property_that_was_false_before_the_time_alone_does_not_affect_the_verdict(tmp_path: Path) -> None:
    found = answer(tmp_path, COUNTED, *({"event": "Count", "time": at, "k": k} for at, k in ((1_000, 7), (3_000, 1))))
    assert found.verdict is TraceVerdict.VIOLATED
    assert answer_since(found, 500).verdict is TraceVerdict.VIOLATED
    assert answer_since(found, 1_000).verdict is TraceVerdict.VIOLATED
    assert answer_since(found, 1_001).verdict is TraceVerdict.CONSISTENT
    assert answer_since(found, 2_000).verdict is TraceVerdict.CONSISTENT
