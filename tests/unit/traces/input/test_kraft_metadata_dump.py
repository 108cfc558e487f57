"""Dumps of KRaft's metadata log: every record is an event with its data as fields, and what is no record is counted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.traces.event import Event
from assay.traces.log_reader import LogReading, read_logs

BATCH = (
    "baseOffset: {0} lastOffset: {0} count: 1 baseSequence: -1 lastSequence: -1 producerId: -1 producerEpoch: -1 "
    "partitionLeaderEpoch: {1} isTransactional: false isControl: false deleteHorizonMs: OptionalLong.empty position: 0 "
    "CreateTime: 1795225258485 size: 106 magic: 2 compresscodec: none crc: 4109382828 isvalid: {2}"
)
RECORD = "| offset: {0} CreateTime: {1} keySize: -1 valueSize: 31 sequence: -1 headerKeys: [] payload: {2}"
TOPIC = {"type": "TOPIC_RECORD", "version": 0, "data": {"name": "orders", "topicId": "TJJEGWqDSbqJt8el4qpkDQ"}}
PARTITION = {
    "type": "PARTITION_RECORD",
    "version": 1,
    "data": {
        "partitionId": 2,
        "topicId": "TJJEGWqDSbqJt8el4qpkDQ",
        "replicas": [3, 1, 2],
        "isr": [3, 1, 2],
        "leader": 3,
        "leaderEpoch": 0,
        "partitionEpoch": 0,
    },
}
CHANGE = {
    "type": "PARTITION_CHANGE_RECORD",
    "version": 1,
    "data": {"partitionId": 2, "topicId": "TJJEGWqDSbqJt8el4qpkDQ", "isr": [2], "leader": -1},
}
HEAD = ["Dumping /d/__cluster_metadata-0/00000000000000000000.log", "log4j:WARN No appenders", "Log starting offset: 0"]


def read(folder: Path, *lines: str, name: str = "metadata.txt") -> LogReading:
    (folder / "controller-101").mkdir()
    (folder / "controller-101" / name).write_text("\n".join(lines) + "\n")
    return read_logs([folder])


def dump() -> list[str]:
    control = "| offset: 0 CreateTime: 1795225258485 keySize: 4 valueSize: 34 sequence: -1 headerKeys: [] controlType: LEADER_CHANGE(2)"
    return [
        *HEAD,
        BATCH.format(0, 3, "true"),
        control,
        BATCH.format(1, 3, "true"),
        RECORD.format(1, 1795225259634, json.dumps(TOPIC, separators=(",", ":"))),
        RECORD.format(2, 1795225259635, json.dumps(PARTITION, separators=(",", ":"))),
        BATCH.format(3, 5, "true"),
        RECORD.format(3, 1795225288910, json.dumps(CHANGE, separators=(",", ":"))),
    ]


def plain(event: Event) -> dict[str, object]:
    return {name: value for name, value in event.fields.items() if name != "node"}


def test_records_are_events_with_their_data_their_offset_and_the_epoch_of_their_batch(tmp_path: Path) -> None:
    reading = read(tmp_path, *dump())
    events = list(reading.events)
    assert [event.kind for event in events] == [
        "ControlRecord",
        "TopicRecord",
        "PartitionRecord",
        "PartitionChangeRecord",
    ]
    assert plain(events[0]) == {"offset": 0, "raft_epoch": 3, "control": "LEADER_CHANGE"}
    assert plain(events[2]) == {
        "offset": 2,
        "raft_epoch": 3,
        "topic": "orders",
        "topic_id": "TJJEGWqDSbqJt8el4qpkDQ",
        "partition": 2,
        "replicas": (3, 1, 2),
        "isr": (3, 1, 2),
        "leader": 3,
        "leader_epoch": 0,
        "partition_epoch": 0,
    }
    change = events[3].fields
    assert (change["topic"], change["raft_epoch"], change["leader"], change["names_leader"]) == (
        "orders",
        5,
        None,
        True,
    )
    assert (change["isr"], change["replicas"]) == ((2,), None)
    assert {str(event.run) for event in events} == {"controller-101"}
    assert [event.record.time for event in events] == [1795225258485, 1795225259634, 1795225259635, 1795225288910]
    assert [event.record.place.line for event in events] == [5, 7, 8, 10]
    assert not reading.notices


def test_the_same_records_as_json_lines_are_the_same_events(tmp_path: Path) -> None:
    stated = [(1, 3, 1795225259634, TOPIC), (2, 3, 1795225259635, PARTITION), (3, 5, 1795225288910, CHANGE)]
    lines = [json.dumps({"offset": o, "epoch": e, "time": t, **record}) for o, e, t, record in stated]
    (tmp_path / "json").mkdir()
    (tmp_path / "text").mkdir()
    as_json = list(read(tmp_path / "json", *lines, name="metadata.json").events)
    as_text = list(read(tmp_path / "text", *dump()).events)[1:]
    assert [(e.kind, e.fields, e.record.time) for e in as_json] == [(e.kind, e.fields, e.record.time) for e in as_text]


def test_records_of_kafka_before_3_0_have_the_offsets_that_follow_that_of_their_batch(tmp_path: Path) -> None:
    payloads = [f" payload: {json.dumps(each, separators=(',', ':'))}" for each in (TOPIC, PARTITION, CHANGE)]
    events = list(
        read(tmp_path, *HEAD, BATCH.format(1, 3, "true"), *payloads[:2], BATCH.format(7, 5, "true"), payloads[2]).events
    )
    assert [(each.kind, each.fields["offset"], each.fields["raft_epoch"]) for each in events] == [
        ("TopicRecord", 1, 3),
        ("PartitionRecord", 2, 3),
        ("PartitionChangeRecord", 7, 5),
    ]
    assert {each.record.time for each in events} == {1795225258485}


def test_what_is_no_record_is_counted_with_its_place(tmp_path: Path) -> None:
    broken = RECORD.format(4, 1, '{"type":"PARTITION_CHANGE_RECORD","data":{"part')
    reading = read(tmp_path, *dump(), "garbage", broken, broken, BATCH.format(5, 5, "false"), RECORD.format(6, 1, "[]"))
    assert len(list(reading.events)) == 4
    assert {(notice.text, notice.place.line) for notice in reading.notices if notice.place is not None} == {
        ("1 lines: neither a batch nor a record", 11),
        ("2 lines: a payload that is no JSON, or only the beginning of it", 12),
        ("1 lines: a batch whose checksum is wrong", 14),
        ("1 lines: a payload that is no JSON object", 15),
    }
    assert {notice.kind for notice in reading.notices} == {"not an event"}


@pytest.mark.parametrize(
    ("written", "time"),
    [("-1", None), ("9" * 20, None), ("1700000000000", 1_700_000_000_000)],
    ids=["no time", "too large", "a time"],
)
def test_a_number_that_is_no_time_is_none(tmp_path: Path, written: str, time: int | None) -> None:
    record = f'| offset: 0 CreateTime: {written} keySize: -1 payload: {{"type":"FEATURE_LEVEL_RECORD","version":0,"data":{{"name":"metadata.version","featureLevel":7}}}}'
    (event,) = read(tmp_path, record).events
    assert event.record.time == time
