"""Events as another system writes them: keys, nested objects, units, formats, numbers, orders (docs/events.md)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.grammar.load import Loaded, load_text
from assay.traces.event import Event, Opaque
from assay.traces.log_reader import LogReading, ReadOptions, read_logs
from assay.traces.observe.model_size import source_of
from assay.traces.options import DEFAULT_OPTIONS
from assay.traces.result import TraceVerdict
from assay.traces.scoped_validate import validate_in_scope

START = 1795225522705

COUNTER = """module counter
param Server: set = {{s1, s2}}
size param Most: int = 3
type N = 0 .. Most
record Entry: term: N, index: N
state:
    x: N = 0
    last: map[Server, N] = [s -> 0]
action put(v: N):
    when next_one: v == x + 1
    x := v
action put_all(s: Server, es: seq[Entry, max 4]):
    when any: count(es) > 0
    last[s] := es[0].term
trace t:
    from events:
        {source}
    {rules}
"""


def spec(source: str, *rules: str) -> Loaded:
    return load_text(COUNTER.format(source=source, rules="\n    ".join(rules)))


def read(folder: Path, loaded: Loaded, *lines: object) -> LogReading:
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    (folder / "log.jsonl").write_text("\n".join(texts) + "\n", encoding="utf-8")
    return read_logs([folder / "log.jsonl"], ReadOptions(source=source_of(loaded, None)))


def events(reading: LogReading) -> list[Event]:
    return list(reading.events)


def verdict(folder: Path, loaded: Loaded, *lines: object) -> tuple[TraceVerdict, str | None]:
    found = validate_in_scope(loaded, read(folder, loaded, *lines), DEFAULT_OPTIONS)
    return found.verdict, found.reason


PUT = "on Put(n: N): put(n)"


def test_keys_of_nested_objects_are_named_by_paths(tmp_path: Path) -> None:
    loaded = spec('event = "e.name"; node = "e.0.nid"; field n = "e.state.n"', PUT)
    (event,) = events(read(tmp_path, loaded, {"e": {"name": "Put", "0": {"nid": 7}, "state": {"n": 1}}}))
    assert (event.kind, event.run.node, event.fields["n"]) == ("Put", "7", 1)


@pytest.mark.parametrize(
    "line",
    [
        {"e.n": 1, "event": "Put"},
        {"e": {"n": 1}, "event": "Put"},
        {"e": [{"n": 1}], "event": "Put"},
    ],
)
def test_a_key_may_hold_dots_and_a_list_is_read_by_place(tmp_path: Path, line: object) -> None:
    path = "e.0.n" if isinstance(line, dict) and isinstance(line.get("e"), list) else "e.n"
    assert verdict(tmp_path, spec(f'field n = "{path}"', PUT), line)[0] is TraceVerdict.CONSISTENT


def test_two_keys_for_one_path_leave_the_field_open(tmp_path: Path) -> None:
    found, reason = verdict(tmp_path, spec('field n = "e.n"', PUT), {"event": "Put", "e.n": 1, "e": {"n": 2}})
    assert found is not TraceVerdict.CONSISTENT
    assert "two keys" in str(reason)


@pytest.mark.parametrize(
    ("how", "stamp", "moment", "resolution"),
    [
        ("in ns", START * 1_000_000 + 999_999, START, 1),
        ("in us", START * 1_000, START, 1),
        ("in ms", START, START, 1),
        ("in s", START // 1000, START - 705, 1000),
        ("in s", START / 1000, START, 1),
        ("in s", "1795225522.000", START - 705, 1),
        ("in s", "1795225522.705", START, 1),
        ("in iso", "2026-11-21T01:45:22.705Z", START, 1),
        ('in "RFC 3339"', "2026-11-21T01:45:22.705Z", START, 1),
        ('in "%d/%b/%Y:%H:%M:%S %z"', "21/Nov/2026:02:45:22 +0100", START - 705, 1000),
        ('in iso; zone = "Europe/Berlin"', "2026-11-21T02:45:22.705", START, 1),
        ('in iso; zone = "Europe/Berlin"', "2026-11-21T01:45:22.705Z", START, 1),
        ('in iso; zone = "+02:00"', "2026-11-21 03:45:22.705", START, 1),
        ('in "%Y %j %H:%M:%S.%f"; zone = "Europe/Berlin"', "2026 325 02:45:22.705000", START, 1),
    ],
)
def test_times_have_units_formats_and_zones(
    tmp_path: Path, how: str, stamp: object, moment: int, resolution: int
) -> None:
    (event,) = events(read(tmp_path, spec(f'time = "ts" {how}', PUT), {"event": "Put", "ts": stamp, "n": 1}))
    assert (event.record.time, event.record.resolution) == (moment, resolution)


@pytest.mark.parametrize(
    ("how", "stamp", "said"),
    [
        ("in ms", START * 1_000_000, "after the year 9999"),
        ("in ns", "yesterday", "no number of ns"),
        ("in ns", True, "`ts`"),
        ("in iso", 17, "no text"),
        ("in iso", "01:45:22.705", "no date"),
        ('in "%d/%b/%Y"', "2026-11-21", "not of the format"),
        ('in "%H:%M"', "01:45", "names none"),
    ],
)
def test_a_time_that_cannot_be_read_leaves_the_line_unread(tmp_path: Path, how: str, stamp: object, said: str) -> None:
    loaded = spec(f'time = "ts" {how}', PUT)
    lines = {"event": "Put", "ts": stamp, "n": 1}, {"event": "Put", "n": 2}
    (notice,) = read(tmp_path, loaded, *lines).notices
    assert said in notice.text
    assert verdict(tmp_path, loaded, *lines)[0] is TraceVerdict.INCONCLUSIVE


@pytest.mark.parametrize(
    ("how", "value", "field"),
    [
        ("* 100", 0.29, 29),
        ("* 100", "0.29", 29),
        ("// 1000", 2000, 2),
        ("rounded", 1.5, 2),
        ("rounded down", -1.5, -2),
        ("rounded up", 1.2, 2),
        ("* 1 rounded", 1e-300, 0),
        ("rounded down", "2026-11-21T10:00:00.120Z", 1_795_255_200_120),
        ("rounded", "2026-11-21T11:00:00.120+01:00", 1_795_255_200_120),
        ("// 1000 rounded down", "2026-11-21T10:00:00.920Z", 1_795_255_200),
        ("else 7", None, None),
    ],
)
def test_numbers_are_scaled_and_rounded(tmp_path: Path, how: str, value: object, field: object) -> None:
    (event,) = events(read(tmp_path, spec(f'field n = "v" {how}', PUT), {"event": "Put", "v": value}))
    assert event.fields["n"] == field


def test_a_time_is_a_number_in_the_zone_and_the_format_of_the_clause(tmp_path: Path) -> None:
    source = 'time = "ts" in "%d.%m.%Y %H:%M"; zone = "+02:00"; field n = "ts" rounded; field m = "other" rounded'
    line = {"event": "Put", "ts": "21.11.2026 12:00", "other": "2026-11-21T12:00:00.000"}
    (event,) = events(read(tmp_path, spec(source, PUT), line))
    assert (event.fields["n"], event.fields["m"]) == (1_795_255_200_000, 1_795_255_200_000)


def test_a_text_that_is_neither_a_number_nor_a_time_leaves_its_line_unread(tmp_path: Path) -> None:
    lines = {"event": "Put", "v": 1}, {"event": "Put", "v": "at noon"}
    assert verdict(tmp_path, spec('field n = "v" rounded', PUT), *lines)[0] is TraceVerdict.INCONCLUSIVE


def test_a_missing_key_has_the_default(tmp_path: Path) -> None:
    loaded = spec(
        'field n = "v" else 1; field entries = "es" as seq[Entry, max 4] else []', "on Put(n: N, entries): put(n)"
    )
    (event,) = events(read(tmp_path, loaded, {"event": "Put"}))
    assert (event.fields["n"], event.fields["entries"]) == (1, ())


def test_lists_of_objects_become_sequences_of_records(tmp_path: Path) -> None:
    loaded = spec(
        'field es = "e.entries" as seq[Entry, max 4]',
        "on All(node: Server, es): put_all(node, es) then last[node] == 2",
    )
    line = {"event": "All", "node": "a", "e": {"entries": [{"Term": 2, "index": 1, "more": 1.5}]}}
    assert verdict(tmp_path, loaded, line)[0] is TraceVerdict.CONSISTENT


def test_fields_that_no_rule_names_may_hold_anything(tmp_path: Path) -> None:
    line = '{"event": "Put", "n": 1, "load": 0.5, "load": 0.7, "deep": ' + "[" * 90 + "]" * 90 + "}"
    assert verdict(tmp_path, spec('event = "event"', PUT), line) == (TraceVerdict.CONSISTENT, None)


@pytest.mark.parametrize(
    "line",
    [{"event": "Put"}, {"event": "Put", "n": None}, {"event": "Put", "n": 1.5}, '{"event": "Put", "n": 1, "n": 2}'],
)
def test_a_line_that_a_rule_needs_and_that_cannot_be_read_is_told_with_its_place(tmp_path: Path, line: object) -> None:
    found, reason = verdict(tmp_path, spec('event = "event"', PUT), {"event": "Put", "n": 1}, line)
    assert found is TraceVerdict.INCONCLUSIVE
    assert reason is not None
    assert "log.jsonl:2" in reason
    assert "`n`" in reason


def test_a_line_of_a_slice_that_does_not_name_it_is_told_too(tmp_path: Path) -> None:
    text = COUNTER.format(
        source='event = "event"',
        rules="slice Server by server\n    on All(server: Server, es: seq[Entry, max 4]): put_all(server, es)",
    )
    loaded = load_text(text)
    es = [{"term": 1, "index": 1}]
    found, reason = verdict(tmp_path, loaded, {"event": "All", "server": "a", "es": es}, {"event": "All", "es": es})
    assert found is TraceVerdict.INCONCLUSIVE
    assert "names its slice" in str(reason)


def test_lines_without_the_named_key_are_other_lines(tmp_path: Path) -> None:
    lines = {"ev": "Put", "n": 1}, {"msg": "hello"}, {"ev": "Put", "n": 2}
    assert verdict(tmp_path, spec('event = "ev"', PUT), *lines) == (TraceVerdict.CONSISTENT, None)


def test_lines_that_may_be_events_leave_the_answer_open(tmp_path: Path) -> None:
    found, reason = verdict(
        tmp_path, spec('node = "node"; time = "t"', PUT), {"event": "Put", "node": "a", "n": 1}, '{"event": "Put", "no'
    )
    assert found is TraceVerdict.INCONCLUSIVE
    assert "log.jsonl:2" in str(reason)


def test_lines_of_all_nodes_are_in_the_order_of_the_file(tmp_path: Path) -> None:
    lines = [
        {"event": "Put", "node": name, "n": n, "time": START - 60_000 * n} for n, name in ((1, "a"), (2, "b"), (3, "a"))
    ]
    assert verdict(tmp_path, spec('event = "event"', PUT, "order: lines"), *lines)[0] is TraceVerdict.CONSISTENT
    assert (
        verdict(tmp_path, spec('event = "event"', PUT, "order: lines"), *reversed(lines))[0]
        is TraceVerdict.INCONSISTENT
    )


@pytest.mark.parametrize("order", ["order: sequence", "order: file"])
def test_numbers_give_the_order_whatever_that_of_the_lines_is(tmp_path: Path, order: str) -> None:
    lines = [{"event": "Put", "node": "a", "n": n, "at": 10 * n} for n in (3, 1, 2)]
    assert verdict(tmp_path, spec('sequence = "at"', PUT, order), *lines)[0] is TraceVerdict.CONSISTENT
    wrong = [{**line, "at": -line["at"]} for line in lines]  # type: ignore[operator]
    assert verdict(tmp_path, spec('sequence = "at"', PUT, order), *wrong)[0] is TraceVerdict.INCONSISTENT


def test_what_has_no_value_in_the_language_says_why() -> None:
    assert str(Opaque("because")) == "because"


def test_events_of_another_system_never_ask_for_logs_of_a_broker(tmp_path: Path) -> None:
    line = "2026-11-21 10:00:0{n}.123 INFO n7 became leader at term {n} (raft)"
    shape = tmp_path / "shapes.toml"
    shape.write_text(
        "[[shape]]\nname = 'leads'\nkind = 'BecameLeader'\nloggers = ['raft']\nliteral = 'became leader'\n"
        "pattern = '\\w+ became leader at term (?P<n>\\d+)'\nfields = { n = 'int' }\nmeaning = 'leads {n}'\n"
        "example = '2026-11-21 10:00:00.123 INFO n7 became leader at term 3 (raft)'\n",
        encoding="utf-8",
    )
    (tmp_path / "db.log").write_text("\n".join(line.format(n=n) for n in (1, 2)) + "\n", encoding="utf-8")
    text = COUNTER.format(source='event = "event"', rules="on BecameLeader(n: N): put(n)")
    loaded = load_text(text.replace("from events:", "from text:"))
    reading = read_logs([tmp_path / "db.log"], ReadOptions(pattern_files=(shape,)))
    found = validate_in_scope(loaded, reading, DEFAULT_OPTIONS)
    assert (found.verdict, found.reason) == (TraceVerdict.CONSISTENT, None)
