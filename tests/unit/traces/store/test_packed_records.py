"""Records and events in columns are those that objects would be, and what they state is numbered as it is stated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from assay.grammar.load import bundled_specs, load_spec
from assay.traces.attribution.run_events import traits_of
from assay.traces.event import Event
from assay.traces.log_reader import LogReading, read_logs
from assay.traces.observe.model_size import trace_plan
from assay.traces.pickling import from_bytes, to_bytes
from assay.traces.samples import sample
from assay.traces.store.packed_records import NEVER, PackedRecords, concatenate
from assay.traces.store.record_layouts import RecordLayout
from assay.traces.table.event_table import EventTable, fields_read
from assay.traces.table.statement_ids import FieldNames
from assay.traces.table.statement_keys import StatementKeys

RECORDINGS = Path(__file__).resolve().parents[3] / "corpus" / "recordings"
LOGS = {"A1": sample("elections"), "C1": RECORDINGS / "C1.tar.xz", "0.11": RECORDINGS / "zookeeper-0.11.0.3.tar.xz"}
SPECS = {"A1": ("cluster", None), "C1": ("kraft/cluster", "kraft_logs"), "0.11": ("cluster", None)}


@cache
def reading(name: str) -> LogReading:
    return read_logs([LOGS[name]])


def names_of(name: str) -> FieldNames:
    spec, clause = SPECS[name]
    return fields_read(trace_plan(load_spec(bundled_specs()[0] / "kafka" / f"{spec}.assay").kernel, clause))


def rows_of(log: LogReading) -> Iterator[PackedRecords]:
    for stream in log.streams:
        yield stream.events._rows  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", sorted(LOGS))
def test_packed_records_are_what_they_are_unpacked(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = [list(rows) for rows in rows_of(reading(name))]
    assert sum(int(rows.packed.sum()) for rows in rows_of(reading(name))) > sum(map(len, packed)) * 0.8

    def never(_: RecordLayout) -> tuple[bool, None]:
        return False, None

    monkeypatch.setattr(RecordLayout, "_find_writer", never)
    whole = read_logs([LOGS[name]])
    assert not any(rows.packed.any() for rows in rows_of(whole))
    assert [list(rows) for rows in rows_of(whole)] == packed
    assert [rows.writers for rows in rows_of(whole)] == [rows.writers for rows in rows_of(reading(name))]
    assert list(whole.events) == list(reading(name).events)


def test_rows_are_taken_joined_moved_and_sent_as_lists_are() -> None:
    parts = [rows for rows in rows_of(reading("A1")) if len(rows) > 20][:4]
    lists = [list(rows) for rows in parts]
    assert list(concatenate(parts)) == [match for each in lists for match in each]
    assert list(parts[0][::-1]) == lists[0][::-1]
    assert list(concatenate(parts).take(np.array([5, 3, 3]))) == [concatenate(parts)[at] for at in (5, 3, 3)]
    sent: PackedRecords = from_bytes(to_bytes(parts[1]), reading("A1").catalogue)
    assert list(sent) == lists[1]
    mixed = PackedRecords(lists[2])
    assert list(concatenate([parts[0], mixed])) == lists[0] + lists[2]
    moved = parts[0].relocated("other", lines=2, offset=30, times=4)
    for before, after in zip(lists[0], moved, strict=True):
        was, now = before.record, after.record
        assert (now.place.file, now.place.line, now.place.offset) == (
            "other",
            was.place.line + 2,
            was.place.offset + 30,
        )
        assert (now.time, now.message) == (None if was.time is None else was.time + 4, was.message)


def test_equal_messages_have_equal_marks() -> None:
    marks: dict[int, tuple[str, str]] = {}
    for rows in rows_of(reading("A1")):
        for mark, match in zip(rows.message_hashes().tolist(), rows, strict=True):
            if mark:
                said = match.record.logger, match.record.message
                assert marks.setdefault(mark, said) == said
    assert len(set(marks.values())) == len(marks) > 100


@pytest.mark.parametrize("name", sorted(LOGS))
def test_events_are_the_same_in_any_order(name: str) -> None:
    table = reading(name).events
    events = list(table)
    assert len(events) == len(table)
    some = np.random.default_rng(1).permutation(len(table))[:500]
    assert list(table.at(some)) == [events[at] for at in some]
    assert [table[at] for at in some[:50].tolist()] == [events[at] for at in some[:50]]
    assert table.times.tolist() == [NEVER if e.record.time is None else e.record.time for e in events]
    assert table.traits() == Counter(map(traits_of, events))
    kinds = {event.kind for event in events[:7]}
    assert table.positions_where(lambda each: each.kind in kinds).tolist() == [
        at for at, event in enumerate(events) if event.kind in kinds
    ]


@pytest.mark.everyday(1)
@pytest.mark.parametrize("name", sorted(LOGS))
def test_events_have_one_number_exactly_if_they_state_the_same(name: str) -> None:
    names = names_of(name)
    table = reading(name).events
    statements, keys = table.statements(names), StatementKeys(names)
    by_number: dict[int, object] = {}
    by_key: dict[object, set[int]] = {}
    for event, number in zip(table, statements.numbers.tolist(), strict=True):
        key = keys.of(event)
        if key is not None:
            assert by_number.setdefault(number, key) == key
            by_key.setdefault(key, set()).add(number)
    assert len(by_number) < len(table) / 2
    # a statement has several numbers only where its fields are of another length, or some of its lines are not packed
    assert sum(len(numbers) - 1 for numbers in by_key.values()) <= len(by_key) / 10
    for number in (0, 1, len(statements.examples) - 1):
        assert statements.positions(number).tolist() == np.flatnonzero(statements.numbers == number).tolist()


def test_events_of_a_list_are_numbered_too() -> None:
    events: list[Event] = list(reading("A1").events)[:400]
    names = names_of("A1")
    alone, keys = EventTable([events]).statements(names).numbers.tolist(), StatementKeys(names)
    seen: dict[object, int] = {}
    for event, number in zip(events, alone, strict=True):
        key = keys.of(event)
        assert key is None or seen.setdefault(key, number) == number
