"""Logs of which each line says what happened are followed by compiled rules, and what these do not know is left to the search."""

from __future__ import annotations

import json
import pickle
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Never

import pytest
from benchmarks.service import SPEC, Entry, with_stale_write, written

from assay.checker.layout.row import row_layout
from assay.grammar import kernel as k
from assay.grammar.kernel.types import IntType, RangeType
from assay.grammar.load import load_spec, load_text
from assay.traces import validate as validating
from assay.traces.event import Event, Field, LogPosition, LogRecord, ProcessRun
from assay.traces.log_reader import read_logs
from assay.traces.native_replay import compiled_replay, threshold
from assay.traces.native_replay.encode_lines import EncodedStatements, FieldValues, Integers, KindsOfEvents, packed
from assay.traces.observe.field_values import OutOfRangeError
from assay.traces.options import DEFAULT_OPTIONS, Options
from assay.traces.result import TraceVerdict, Validation
from assay.traces.validate import validate

LOADED = load_spec(SPEC)


@pytest.fixture(autouse=True)
def _however_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threshold, "WORTH_IT", 0)


@pytest.fixture
def no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    def unexpected(*_: object, **__: object) -> Never:
        raise AssertionError

    monkeypatch.setattr(validating, "check", unexpected)


def events_of(folder: Path, entries: Sequence[Mapping[str, object]]) -> Sequence[Event]:
    file = folder / "lock.jsonl"
    file.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    return read_logs([str(file)]).events


def answer(folder: Path, entries: Sequence[Entry], options: Options = DEFAULT_OPTIONS) -> Validation:
    return validate(LOADED, events_of(folder, entries), clause="near", options=options)


def entry(event: str, time: int, node: str, token: int, run: int = 1) -> Entry:
    return {"event": event, "time": 1_700_000_000_000 + time, "node": node, "token": token, "run": run}


@pytest.mark.usefixtures("no_search")
def test_a_log_of_pinned_lines_is_followed(tmp_path: Path) -> None:
    entries = written(500)
    found = answer(tmp_path, entries)
    assert found.verdict is TraceVerdict.CONSISTENT
    assert found.counts.used == found.visited == len(entries)
    assert found.execution is not None
    first, *_, last = found.execution.steps
    assert (first.action, last.action) == ("acquire", "release")
    assert last.state == (None, last.state[1], last.state[1])
    assert last.event is not None
    assert last.event.record.place.line == len(entries)


@pytest.mark.usefixtures("no_search")
def test_lines_a_little_out_of_the_order_of_time_are_put_right(tmp_path: Path) -> None:
    entries = [
        entry("Acquired", 0, "c1", 1),
        entry("Acquired", 36, "c2", 2),
        entry("Released", 40, "c1", 1),
        entry("Released", 80, "c2", 2),
    ]
    found = answer(tmp_path, entries)
    assert found.verdict is TraceVerdict.CONSISTENT
    assert found.reordering == 4
    assert found.execution is not None
    assert [step.action for step in found.execution.steps] == ["acquire", "release", "acquire", "release"]


def test_a_process_does_nothing_before_the_one_before_it_has_ended(tmp_path: Path) -> None:
    entries = [
        entry("Acquired", 0, "c2", 1),
        entry("Acquired", 10, "c1", 2, run=1),
        entry("Released", 11, "c2", 1, run=2),
        entry("Written", 12, "c2", 2, run=1),
    ]
    assert compiled_replay.replay_log(LOADED, events_of(tmp_path, entries), "near", DEFAULT_OPTIONS) is None


def test_a_line_that_cannot_have_been_is_left_to_the_search(tmp_path: Path) -> None:
    found = answer(tmp_path, with_stale_write(written(300)))
    assert found.verdict is TraceVerdict.INCONSISTENT
    (violation,) = found.violations
    assert violation.blame[0].parts[0].label == "not_stale"


def test_how_many_mutants_are_rejected_is_asked_of_the_search(tmp_path: Path) -> None:
    found = answer(tmp_path, written(60), Options(mutants=5))
    assert found.kill_rate is not None
    assert found.kill_rate.mutants == 5


def test_an_execution_is_the_same_in_another_process(tmp_path: Path) -> None:
    found = answer(tmp_path, written(40)).execution
    again = pickle.loads(pickle.dumps(found))
    assert again == found
    assert found == again
    assert type(found) is not type(again)


def event(kind: str, fields: dict[str, Field], node: str = "n1", run: int = 1) -> Event:
    record = LogRecord(LogPosition("x.log", 1, 0), 0, "INFO", "", None, kind)
    return Event(kind, kind, fields, record, ProcessRun(node, run))


def rule(**types: object) -> k.TraceRule:
    fields = tuple(k.EventField(name, k.Local(of, name)) for name, of in types.items())  # type: ignore[arg-type]
    return k.TraceRule("x", "X", fields, None, (), None, None)


def stated(own: k.TraceRule, *every: dict[str, Field]) -> EncodedStatements:
    (found,) = KindsOfEvents([event("X", fields) for fields in every]).logged([own])
    return found


def test_true_is_not_one() -> None:
    found = stated(rule(a=RangeType(0, 5, False)), {"a": True}, {"a": 1}, {"a": False}, {"a": 1})
    (column,) = found.columns
    assert isinstance(column, FieldValues)
    assert [column.every[at] for at in column.numbers] == [True, 1, False, 1]
    assert len(column.every) == 3


def test_events_without_a_field_are_left_out() -> None:
    found = stated(rule(a=RangeType(0, 5, False)), {"a": 1}, {}, {"a": 3})
    assert found.positions.tolist() == [0, 2]
    (column,) = found.columns
    assert isinstance(column, Integers)
    assert column.every.tolist() == [1, 3]


def test_numbers_are_packed_across_words() -> None:
    own = rule(a=RangeType(-3, 1 << 40, False), b=RangeType(0, 1 << 50, False))
    layout = row_layout(tuple(k.Variable(f.binder.name, f.binder.type, False) for f in own.fields))
    said: list[dict[str, Field]] = [{"a": -3, "b": 1 << 50}, {"a": "7", "b": 0}, {"a": 1 << 40, "b": 12_345}]
    for every in (said, said[::2]):
        positions, rows = packed(stated(own, *every), own, layout, layout.words)
        assert positions.tolist() == list(range(len(every)))
        assert [layout.unpack(row) for row in rows] == [(int(f["a"]), int(f["b"])) for f in every]  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [9, "9", 1 << 80])
def test_what_is_no_value_of_the_type_is_refused(wrong: int | str) -> None:
    own = rule(a=RangeType(0, 5, False))
    layout = row_layout((k.Variable("a", own.fields[0].binder.type, False),))
    with pytest.raises(OutOfRangeError):
        packed(stated(own, {"a": 1}, {"a": wrong}), own, layout, 1)


def test_what_has_another_form_is_left_out() -> None:
    own = rule(a=RangeType(0, 5, False))
    layout = row_layout((k.Variable("a", own.fields[0].binder.type, False),))
    positions, rows = packed(stated(own, {"a": "x"}, {"a": 4}, {"a": None}), own, layout, 1)
    assert positions.tolist() == [1]
    assert rows.tolist() == [[4]]


def test_runs_are_fields_of_every_event() -> None:
    events = [event("X", {}, "n1"), event("X", {}, "n2", 3), event("X", {"node": "own"}, "n2", 2)]
    own = rule(node=IntType(), run=IntType(), previous_run=IntType())
    (found,) = KindsOfEvents(events).logged([own])
    assert found.positions.tolist() == [1, 2]
    values = [
        [column.every[at] for at in column.numbers] for column in found.columns if isinstance(column, FieldValues)
    ]
    assert values == [["n2", "own"], ["n2#3", "n2#2"], ["n2#2", "n2"]]


def test_several_rules_speak_of_one_event(tmp_path: Path) -> None:
    loaded = load_text(
        """\
module counter

size param Most: int = 3

type Count = 0 .. Most

state:
    count: Count = 0

action add(n: Count):
    count := count + n

trace log:
    from events
    on Added(n: Count) if n > 0: add(n)
    on Added(n: Count, total: Count): observe count == total
    order: file
"""
    )
    lines = [{"event": "Added", "node": "a", "time": at, "n": at % 2, "total": (at + 1) // 2} for at in range(20)]
    found = compiled_replay.replay_log(loaded, events_of(tmp_path, lines), None, DEFAULT_OPTIONS)
    assert found is not None
    assert found.visited == 30
    assert [step.action for step in found.execution.steps[:3]] == [None, "add", None]
    lines[7]["total"] = 3
    assert compiled_replay.replay_log(loaded, events_of(tmp_path, lines), None, DEFAULT_OPTIONS) is None


def test_nothing_to_follow_is_nothing_followed() -> None:
    assert compiled_replay.replay_log(LOADED, [], "near", DEFAULT_OPTIONS) is None
    assert compiled_replay.replay_log(LOADED, [event("Other", {})], "near", DEFAULT_OPTIONS) is None


PUT = """\
module put
param Node: set = {a, b, c}
type One = set[Node, max 1]
state:
    x: set[Node] = {}
action put(s: One):
    x := s
trace logs:
    from events
    on Put(s: set[Node]): put(s)
"""


@pytest.mark.parametrize("worth_it", [0, 1_000_000])
def test_an_argument_beyond_the_capacity_of_its_parameter_is_no_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, worth_it: int
) -> None:
    monkeypatch.setattr(threshold, "WORTH_IT", worth_it)
    sets = (["a"], ["b", "c"], ["b"])
    entries = [{"event": "Put", "time": 1_000 * at, "node": "n", "s": each} for at, each in enumerate(sets)]
    found = validate(load_text(PUT), events_of(tmp_path, entries))
    assert found.verdict is TraceVerdict.INCONCLUSIVE
    assert found.reason == "the model is too small for the log: capacity of s ran out"
