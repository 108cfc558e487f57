"""Every line shape reads its own example, alone; shape files that cannot be used are reported."""

from __future__ import annotations

import io
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from assay.grammar.diagnostics.diagnostic import Diagnostic, SpecError
from assay.traces.event import Field
from assay.traces.input.lines.line_layout import split_logger
from assay.traces.input.lines.record_scanner import FileCounts, scan
from assay.traces.patterns.catalogue import built_in_contents, checked_patterns, load_catalogue
from assay.traces.patterns.field_types import CONVERSIONS, integer_map, session
from assay.traces.patterns.line_regex import MatchExtent
from assay.traces.patterns.match import PatternMatcher, mask
from assay.traces.patterns.pattern import LinePattern
from assay.traces.patterns.template_fields import field_layouts_of
from assay.traces.store.record_block import RawRecord

CATALOGUE = load_catalogue()


def record_of(example: str) -> RawRecord:
    (record,) = scan(io.BytesIO(example.encode()), "example", FileCounts())
    return record


def message_of(example: str) -> tuple[str, str]:
    head, logger, _ = split_logger(record_of(example).text)
    return head.decode(), logger.decode()


def fields_of(name: str) -> dict[str, Field]:
    pattern = CATALOGUE.pattern(name)
    return pattern.match(message_of(pattern.example)[0])[0]


@pytest.mark.parametrize("pattern", CATALOGUE.patterns, ids=lambda pattern: pattern.name)
def test_a_shape_reads_its_example_with_typed_fields(pattern: LinePattern) -> None:
    message, logger = message_of(pattern.example)
    assert any(fnmatchcase(logger, pattern) for pattern in pattern.loggers)
    found = pattern.match(message)
    assert found
    for fields in found:
        assert set(fields) <= set(pattern.fields) | set(pattern.constants)
    assert "?" not in pattern.explain(dict.fromkeys((*pattern.fields, *pattern.constants, *pattern.unknown), "x"))


@pytest.mark.parametrize("pattern", CATALOGUE.patterns, ids=lambda pattern: pattern.name)
def test_an_example_is_described_by_one_whole_shape(pattern: LinePattern) -> None:
    message, logger = message_of(pattern.example)
    patterns = PatternMatcher(CATALOGUE).patterns_of(logger)
    assert patterns is not None
    hits = [other.name for other in patterns.whole if other.match(message)]
    assert len(hits) == 1
    assert hits == [pattern.name] or pattern.reads is not MatchExtent.WHOLE


def test_the_built_in_patterns_have_no_mistakes() -> None:
    problems: list[Diagnostic] = []
    for name, content in built_in_contents().items():
        checked_patterns(name, content, problems)
    assert problems == []


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("broker-node-created", {"broker": 1, "epoch": 61, "session": hex(72057733190320131)}),
        ("election-refused", {"owner_session": "0x363a34344810003", "session": "0x163a34344770003"}),
        (
            "fetch-refused",
            {"fetcher": 0, "topic": "TopicName", "partition": 0, "leader": 3, "error": "NotLeaderForPartition"},
        ),
        ("stale-stop-replica", {"broker": 2, "controller": 1, "epoch": 3, "latest": 4, "request": "StopReplica"}),
        ("isr-expanding", {"topic": "audit", "partition": 1, "broker": 1, "before": (1,), "after": (1, 2)}),
    ],
)
def test_fields_have_the_values_of_the_line(name: str, fields: dict[str, Field]) -> None:
    assert {key: value for key, value in fields_of(name).items() if key in fields} == fields


def test_no_leader_is_none_and_brokers_are_read_from_either_print() -> None:
    removed = CATALOGUE.pattern("replica-removed")
    text = (
        "[Controller id=1 epoch=2] Partition audit-1 state changed to (Leader:-1,ISR:3,LeaderEpoch:1,ZkVersion:1,ControllerEpoch:2) "
        "after removing replica 2 from the ISR as part of transition to OfflineReplica"
    )
    (fields,) = removed.match(text)
    assert fields["leader"] is None
    assert (fields["isr"], fields["controller_epoch"], fields["removed"]) == ((3,), 2, 2)
    states = "List(BrokerState(brokerId=3, brokerEpoch=-1), BrokerState(brokerId=1, brokerEpoch=7))"
    assert CONVERSIONS["brokers"](states) == (3, 1) == CONVERSIONS["brokers"]("List(3, 1)")
    assert integer_map("HashMap(1 -> 60, 3 -> 58)") == {1: 60, 3: 58}


def test_a_broker_that_has_no_epoch_yet_is_refused_with_minus_one() -> None:
    (refused,) = CATALOGUE.pattern("stale-broker-epoch").match("Broker had a stale broker epoch (-1), retrying.")
    assert refused["epoch"] == -1


@pytest.mark.parametrize("text", ["0x1000011ac790002", "72057669945982978", "0X1000011AC790002"])
def test_a_session_has_one_spelling(text: str) -> None:
    assert session(text) == "0x1000011ac790002"


def test_a_negative_session_is_an_unsigned_number_of_64_bits() -> None:
    assert session("-1") == "0xffffffffffffffff"


def test_a_line_states_its_parts_beside_the_whole() -> None:
    patterns = PatternMatcher(CATALOGUE).patterns_of("state.change.logger")
    assert patterns is not None
    message, _ = message_of(CATALOGUE.pattern("leader-unavailable").example)
    found, whole = patterns.find(message)
    assert whole
    kinds = [finding.pattern.kind for finding in found]
    assert kinds[0] == "LeaderUnavailable"
    assert sorted(kinds[1:]) == ["RequestFromController", "StateControllerEpoch"]


def test_what_stands_around_the_occurrences_is_a_field_of_each() -> None:
    pattern = CATALOGUE.pattern("replica-offline")
    start = "[Controller id=3] Mark replicas "
    assert pattern.match(f"{start}a-0,b.c-d-11 on broker 2 as offline") == [
        {"topic": "a", "partition": 0, "replica": 2},
        {"topic": "b.c-d", "partition": 11, "replica": 2},
    ]
    many = ",".join(f"orders-{number}" for number in range(5000))
    found = field_layouts_of(pattern, f"{start}{many} on broker 2 as offline")
    assert [field_layout.fields["partition"] for field_layout in found] == list(range(5000))
    assert {field_layout.fields["replica"] for field_layout in found} == {2}
    assert pattern.match(f"{start}{many} on broker 2 as onl") == [] == field_layouts_of(pattern, f"{start}{many}")


def test_what_is_remembered_of_like_messages_does_not_change_what_is_found() -> None:
    patterns = PatternMatcher(CATALOGUE).patterns_of("state.change.logger")
    assert patterns is not None
    start = "[Controller id=1 epoch=2] Changed partition "
    first = start + "a-1 state from NonExistentPartition to NewPartition with assigned replicas 1,2"
    second = start + "a-1 state from OnlinePartition to OfflinePartition"
    for message, kind in [(first, "PartitionCreated"), (second, "PartitionStateChanged"), (first, "PartitionCreated")]:
        assert patterns.find(message)[0][0].pattern.kind == kind
    assert patterns.find(start + "a-1 vanished")[1] is False


@pytest.mark.parametrize(
    ("logger", "known"),
    [
        ("org.apache.kafka.server.BrokerLifecycleManager", "kafka.server.BrokerLifecycleManager"),
        ("org.apache.kafka.common.utils.internals.AppInfoParser", "org.apache.kafka.common.utils.AppInfoParser"),
        ("org.apache.kafka.elsewhere.BrokerServer", "kafka.server.BrokerServer"),
        ("com.example.BrokerServer", "com.example.BrokerServer"),
        ("org.apache.kafka.server.Unheard", "org.apache.kafka.server.Unheard"),
    ],
)
def test_a_class_of_kafka_is_known_in_the_package_that_it_moved_to(logger: str, known: str) -> None:
    assert PatternMatcher(CATALOGUE).full_name(logger) == known


def test_like_lines_count_as_one() -> None:
    assert mask("Session 0x1f for orders-12 took 3 ms\nmore") == mask("Session 0x2e for audit-1 took 45 ms")


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


GOOD = """
protocol = ["my.service.*"]
[[shape]]
name = "mine"
kind = "Mine"
loggers = ["my.service.Leases"]
pattern = 'lease (?P<lease>\\d+) to (?P<owner>\\w+)'
fields = { lease = "int", owner = "text" }
meaning = "{owner} has lease {lease}."
example = '[2026-01-01 00:00:00,000] INFO lease 7 to a (my.service.Leases)'
"""


def test_a_user_adds_shapes_in_a_file(tmp_path: Path) -> None:
    catalogue = load_catalogue([write(tmp_path, GOOD)])
    pattern = catalogue.pattern("mine")
    (fields,) = pattern.match("lease 7 to a")
    assert fields == {"lease": 7, "owner": "a"}
    assert pattern.explain(fields) == "a has lease 7."
    assert "Mine" in catalogue.kinds
    patterns = PatternMatcher(catalogue).patterns_of("my.service.Other")
    assert patterns is not None
    assert patterns.protocol


@pytest.mark.parametrize(
    ("text", "code", "say"),
    [
        ("[[shape]\n", "E701", "cannot be read"),
        ("shape = 3\n", "E701", "a table"),
        ("[[shape]]\nname = 'x'\n", "E702", "`kind` is missing"),
        (GOOD.replace("kind =", "sort ="), "E702", "no key `sort`"),
        (GOOD.replace('"Mine"', "3"), "E702", "`kind` is a text"),
        (GOOD.replace("(?P<lease>", "(?P<lease>("), "E702", "no regular expression"),
        (GOOD.replace('lease = "int"', 'lease = "integer"'), "E702", "no conversion"),
        (GOOD.replace('lease = "int", ', ""), "E702", "has no conversion"),
        (GOOD.replace('lease = "int"', 'rent = "int", lease = "int"'), "E702", "no group `rent`"),
        (GOOD + 'writer = "who"\n', "E702", "no field `who`"),
        (GOOD + 'role = "king"\n', "E702", "`role` is one of"),
        (GOOD + "around = 'x.*'\n", "E702", "`around` goes with"),
        (GOOD + "reads = 'each'\naround = '(x'\n", "E702", "no regular expression"),
        (GOOD + "reads = 'each'\naround = '(?P<rent>x)'\n", "E702", "the group `rent` has no conversion"),
        (GOOD + "reads = 'each'\naround = '(x+)+y'\n", "E702", "doubles with every character"),
        (GOOD + 'reads = "half"\n', "E702", "`reads` is"),
        (GOOD.replace('"mine"', '"controller-line"'), "E702", "two shapes"),
        (GOOD.replace('["my.service.Leases"]', "'x'"), "E702", "`loggers` is a list"),
    ],
)
def test_a_shape_file_that_cannot_be_used_is_reported(tmp_path: Path, text: str, code: str, say: str) -> None:
    with pytest.raises(SpecError) as caught:
        load_catalogue([write(tmp_path, text)])
    assert any(d.code == code and say in d.message for d in caught.value.diagnostics), caught.value


def test_a_missing_shape_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        load_catalogue([tmp_path / "none.toml"])
    assert [d.code for d in caught.value.diagnostics] == ["E701"]
