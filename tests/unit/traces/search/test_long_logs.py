"""What is asked about a log of a service grows with the log, not with its square."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from benchmarks.service import SPEC, Entry, with_stale_write, written

from assay.grammar.load import load_spec
from assay.traces.event import Event
from assay.traces.log_reader import read_logs
from assay.traces.observe.partial_order import OrderedObservation
from assay.traces.result import TraceVerdict, Validation
from assay.traces.search.dependence import ReadWriteTable
from assay.traces.search.read_write_sets import Call, ConditionReads
from assay.traces.search.writers_by_place import ReadingWindow
from assay.traces.validate import validate


def events_of(folder: Path, entries: Sequence[Entry]) -> list[Event]:
    file = folder / "lock.jsonl"
    file.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    return list(read_logs([str(file)]).events)


def answer(folder: Path, entries: Sequence[Entry], clause: str) -> Validation:
    return validate(load_spec(SPEC), events_of(folder, entries), clause=clause)


@pytest.mark.everyday(1)
@pytest.mark.parametrize("clause", ["near", "anywhere"])
def test_each_line_is_compared_with_few_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clause: str) -> None:
    asked = [0]
    may_enable, may_precede = ReadWriteTable.may_enable, ReadingWindow.may_precede

    def counted(self: ReadWriteTable, call: Call, condition: ConditionReads) -> bool:
        asked[0] += 1
        return may_enable(self, call, condition)

    def counted_too(self: ReadingWindow, other: OrderedObservation, item: OrderedObservation) -> bool:
        asked[0] += 1
        return may_precede(self, other, item)

    monkeypatch.setattr(ReadWriteTable, "may_enable", counted)
    monkeypatch.setattr(ReadingWindow, "may_precede", counted_too)
    taken = []
    for count in (200, 800):
        asked[0] = 0
        entries = with_stale_write(written(count))
        assert answer(tmp_path, entries, clause).verdict is TraceVerdict.INCONSISTENT
        taken.append(asked[0] / len(entries))
    assert 0 < taken[1] < 1.5 * taken[0] < 500


def test_columns_for_all_events_are_as_many_however_long_the_log_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [0]
    full = np.full

    def counted(size: int, value: object, kind: object = None) -> object:
        made[0] += 1
        return full(size, value, kind)  # type: ignore[call-overload]

    monkeypatch.setattr(np, "full", counted)
    taken = []
    for count in (200, 800):
        made[0] = 0
        assert answer(tmp_path, written(count), "near").verdict is TraceVerdict.CONSISTENT
        taken.append(made[0])
    assert 0 < taken[0] == taken[1]


@pytest.mark.parametrize("clause", ["near", "anywhere"])
def test_a_stale_write_in_a_long_log_is_the_only_mismatch(tmp_path: Path, clause: str) -> None:
    entries = with_stale_write(written(400))
    found = answer(tmp_path, entries, clause)
    assert found.verdict is TraceVerdict.INCONSISTENT
    (violation,) = found.violations
    place = next(at for at, (one, other) in enumerate(zip(entries, written(400), strict=True), 1) if one != other)
    assert violation.event.record.place.line == place
    assert violation.blame[0].parts[0].label == "not_stale"
