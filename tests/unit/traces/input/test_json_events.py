"""Events stated as JSON lines: every key has the meaning that docs/events.md gives it, and what is no event is counted with its place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.traces.event import Event, ProcessRun
from assay.traces.log_reader import LogReading, read_logs

START = 1795225522705


def read(folder: Path, *lines: object, name: str = "events.jsonl") -> LogReading:
    folder.mkdir(exist_ok=True)
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    (folder / name).write_text("\n".join(texts) + "\n", encoding="utf-8")
    return read_logs([folder])


def events(reading: LogReading) -> list[Event]:
    return list(reading.events)


def test_keys_that_are_not_reserved_are_fields(tmp_path: Path) -> None:
    (event,) = events(
        read(
            tmp_path,
            {"event": "E", "a": 1, "b": "x", "c": True, "d": None, "e": [1, [2]], "f": {"g": 3}, "h": 2.0, "node": "n"},
        )
    )
    assert event.kind == "E"
    assert dict(event.fields) == {
        "a": 1,
        "b": "x",
        "c": True,
        "d": None,
        "e": (1, (2,)),
        "f": {"g": 3},
        "h": 2,
        "node": "n",
    }


@pytest.mark.parametrize(
    ("time", "moment", "resolution"),
    [
        (START, START, 1),
        ("2026-11-21T01:45:22.705Z", START, 1),
        ("2026-11-21T01:45:22.705123Z", START, 1),
        ("2026-11-21T02:45:22.705+01:00", START, 1),
        ("2026-11-21 01:45:22,705", START, 1),
        ("2026-11-21T01:45:22Z", START - 705, 1000),
        ("2026-11-21T01:45:22.7Z", START - 5, 100),
        (None, None, 1),
    ],
)
def test_times_are_milliseconds_or_iso(tmp_path: Path, time: object, moment: int | None, resolution: int) -> None:
    (event,) = events(read(tmp_path, {"event": "E", "time": time}))
    assert (event.record.time, event.record.resolution) == (moment, resolution)


def test_a_line_belongs_to_the_run_of_the_node_that_it_names_or_to_the_directory(tmp_path: Path) -> None:
    reading = read(
        tmp_path / "n7",
        {"event": "E"},
        {"event": "E", "node": "a", "run": 2, "thread": "t"},
        {"event": "E", "node": 5, "message": "said", "level": "WARN"},
    )
    first, second, third = events(reading)
    assert [event.run for event in (first, second, third)] == [
        ProcessRun("n7", 1),
        ProcessRun("a", 2),
        ProcessRun("5", 1),
    ]
    assert second.record.thread == "t"
    assert (third.record.message, third.record.level, reading.explain(third)) == ("said", "WARN", "said")
    assert [(node.name, node.runs) for node in reading.nodes] == [("n7", 1), ("a", 2), ("5", 1)]


def test_places_are_those_of_the_lines(tmp_path: Path) -> None:
    reading = read(tmp_path, "", {"event": "Ä"}, "", {"event": "B"})
    content = (tmp_path / "events.jsonl").read_bytes()
    assert [event.record.place.line for event in reading.events] == [2, 4]
    for event in reading.events:
        assert content[event.record.place.offset :].startswith(b'{"event"')
    assert (reading.records, reading.lines, reading.bytes) == (2, 4, len(content))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"event": "E", "a": ', "no JSON, or only the beginning"),
        ("[1]", "no JSON object"),
        ('{"a": 1}', "`event`"),
        ('{"event": 3}', "`event`"),
        ('{"event": "E", "event": "F"}', "the key `event` twice"),
        ('{"event": "E", "time": 1795225522705123456}', "after the year 9999"),
        ('{"event": "E", "time": 1e400}', "`time`"),
        ('{"event": "E", "run": 0}', "`run`"),
        ('{"event": "E", "time": "yesterday"}', "`time`"),
        ('{"event": "E", "time": "01:45:22.705"}', "`time`"),
        ('{"event": "E", "time": true}', "`time`"),
        ('{"event": "E", "node": [1]}', "`node`"),
        ('{"event": "E", "a": ' + "[" * 100_000, "nested too deeply"),
        ('{"event": "E", "a": "' + "x" * 9_000_000 + '"}', "no JSON, or only the beginning"),
    ],
)
def test_what_is_no_event_is_counted_with_its_place_and_the_rest_is_read(tmp_path: Path, line: str, said: str) -> None:
    reading = read(tmp_path, {"event": "A"}, line, line, {"event": "B"})
    assert [event.kind for event in reading.events] == ["A", "B"]
    (notice,) = reading.notices
    assert notice.kind == "not an event"
    assert notice.place is not None
    assert notice.place.line == 2
    assert notice.text.startswith("2 lines: ")
    assert said in notice.text


def test_copied_files_of_events_are_read_once(tmp_path: Path) -> None:
    read(tmp_path, {"event": "A"}, name="a.jsonl")
    reading = read(tmp_path, {"event": "A"}, name="b.jsonl")
    assert [event.kind for event in reading.events] == ["A"]
    assert [notice.kind for notice in reading.notices] == ["duplicated input"]


def test_json_without_events_is_no_log(tmp_path: Path) -> None:
    reading = read(tmp_path, {"a": 1}, {"b": 2})
    assert (events(reading), [notice.kind for notice in reading.notices]) == ([], ["not understood"])


@pytest.mark.parametrize("value", ["1.5", "NaN", "1e400", "[" * 50 + "]" * 50, '{"a": 1, "a": 2}'])
def test_what_the_language_has_no_value_for_stays_in_the_event(tmp_path: Path, value: str) -> None:
    (event,) = events(read(tmp_path, f'{{"event": "E", "b": {value}}}'))
    assert event.kind == "E"


def test_a_time_with_a_fraction_is_that_of_its_millisecond(tmp_path: Path) -> None:
    (event,) = events(read(tmp_path, {"event": "E", "time": START + 0.75}))
    assert event.record.time == START


def test_text_between_events_is_counted_as_other_lines(tmp_path: Path) -> None:
    reading = read(tmp_path, {"event": "A"}, "Starting the service", {"event": "B"})
    assert [event.kind for event in reading.events] == ["A", "B"]
    assert [notice.kind for notice in reading.notices] == ["other lines"]
