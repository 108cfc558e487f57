"""Text logs of any system: lines become events by the patterns of a file, and nothing of Kafka is looked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.kernel.event_source import EventSource
from assay.grammar.load import load_spec
from assay.traces.event import Event
from assay.traces.input.containers.tables import head_of
from assay.traces.input.events.pattern_test import described, examples_of, problems_of, text_catalogue
from assay.traces.log_reader import LogReading, ReadOptions, read_logs
from assay.traces.observe.model_size import source_of

TERM = """
[[shape]]
kind = "Term"
literal = "Term"
pattern = 'Term (?P<n>\\d+) of (?P<who>\\w+)'
example = 'Term 1 of db'
"""
SENTINEL = """
[[line]]
pattern = '(?P<pid>\\d+):(?P<role>[XSM]) (?P<time>\\d\\d \\w{3} \\d{4} \\d\\d:\\d\\d:\\d\\d\\.\\d{3}) [#*.-] '
example = '1:X 21 Nov 2026 10:00:00.201 # '
[[shape]]
kind = "NewEpoch"
pattern = '\\+new-epoch (?P<epoch>\\d+)'
example = '1:X 21 Nov 2026 10:00:00.201 # +new-epoch 1'
holds = { epoch = 1, role = "X" }
"""


OF_TEXT = EventSource(catalogue="text")


def read(folder: Path, patterns: str, log: str) -> LogReading:
    (folder / "p.toml").write_text(patterns)
    (folder / "in.log").write_text(log)
    return read_logs([folder / "in.log"], ReadOptions((folder / "p.toml",), source=OF_TEXT))


def events(reading: LogReading) -> list[Event]:
    return list(reading.events)


def test_the_beginning_is_told_that_keeps_a_pattern_from_describing_a_line(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text(TERM)
    lines = ["2026-11-26 10:00:01.12+00:00 [info] <0.5.0> Term 3 of db", "2026-11-26 other"]
    found = described(iter(lines), text_catalogue(tmp_path / "p.toml"))
    assert found.beginnings == {"Term": "2026-11-26 10:00:01.12+00:00 [info] <0.5.0> "}
    assert list(found.others) == ["<n> <n>+<n> [info] <<n>> Term <n> of db", "<n> other"]


def test_an_example_may_be_a_message_alone_where_lines_have_a_beginning(tmp_path: Path) -> None:
    of_message = SENTINEL.replace("00.201 # +new-epoch 1'", "+new-epoch 1'").replace("1:X 21 Nov 2026 10:00:+", "+")
    (tmp_path / "p.toml").write_text(of_message.replace('holds = { epoch = 1, role = "X" }', ""))
    (example,) = examples_of(text_catalogue(tmp_path / "p.toml"))
    assert (example.wrong, [dict(each) for each in example.found]) == ((), [{"epoch": 1}])


def test_a_level_in_brackets_is_no_thread(tmp_path: Path) -> None:
    (event,) = events(read(tmp_path, TERM, "2026-11-26T10:00:06.501Z [WARN]  agent.raft: Term 1 of db\n"))
    assert (event.record.level, event.record.thread, event.record.logger) == ("WARN", None, "")


@pytest.mark.parametrize(
    "line",
    [
        "Term 7 of db",
        "2024-06-12 09:33:30,258 Term 7 of db",
        "2024-06-12 09:33:30,258 INFO: Term 7 of db",
        "2024-06-12T09:33:30.258Z [main] WARN a.b.C - Term 7 of db",
        "2024-06-12 09:33:30,258 - INFO  [main:QuorumPeer@123] - Term 7 of db",
        "[2024-06-12 09:33:30,258] ERROR Term 7 of db (a.b.C)",
        "12:X 12 Jun 2024 09:33:30.258 # Term 7 of db",
        "09:33:30.258 Term 7 of db",
        "db-1  | 2024-06-12 09:33:30,258 INFO: Term 7 of db",
        '{"log":"2024-06-12 09:33:30,258 Term 7 of db\\n","stream":"stdout","time":"2024-06-12T09:33:30.258Z"}',
        "2024-06-12T09:33:30.258000000Z stdout F Term 7 of db",
        "Jun 12 09:33:30 host db[17]: Term 7 of db",
    ],
)
def test_a_line_is_read_whatever_stands_before_its_message(tmp_path: Path, line: str) -> None:
    (event,) = events(read(tmp_path, TERM, line + "\n"))
    assert (event.kind, event.fields["n"], event.fields["who"]) == ("Term", 7, "db")
    if "2024-06-12" in line:
        assert event.record.time == 1_718_184_810_258


def test_what_stands_before_a_message_is_fields_too(tmp_path: Path) -> None:
    (event,) = events(read(tmp_path, SENTINEL, "9:X 21 Nov 2026 10:00:00.123 # +new-epoch 4\n"))
    assert dict(event.fields) == {"epoch": 4, "pid": 9, "role": "X", "node": tmp_path.name}
    assert event.record.time == 1_795_255_200_123


def test_the_clause_names_the_groups_and_the_file(tmp_path: Path) -> None:
    (tmp_path / "lines.toml").write_text(SENTINEL)
    text = (
        'module m\ntype E = 0 .. 3\nstate:\n    x: E = 0\naction a(n: E):\n    x := n\ntrace t:\n    from text "lines.toml":\n'
        '        node = "pid"; time = "time" in "%d %b %Y %H:%M:%S.%f"; zone = "+02:00"\n'
        "    on NewEpoch(epoch: E): a(epoch)\n    order: file\n"
    )
    (tmp_path / "m.assay").write_text(text)
    loaded = load_spec(tmp_path / "m.assay")
    (tmp_path / "in.log").write_text("9:X 21 Nov 2026 10:00:00.123 # +new-epoch 3\n")
    (event,) = read_logs([tmp_path / "in.log"], ReadOptions(source=source_of(loaded, None))).events
    assert str(event.run) == "9"
    assert event.record.time == 1_795_255_200_123 - 2 * 3_600_000


def test_a_line_of_kafka_is_no_event_of_another_system(tmp_path: Path) -> None:
    kafka = "[2022-02-03 10:00:00,100] INFO [KafkaServer id=4] started (kafka.server.KafkaServer)\n"
    reading = read(tmp_path, TERM, kafka + "Term 1 of db\n")
    assert [event.kind for event in reading.events] == ["Term"]
    assert [node.brokers for node in reading.nodes if node.brokers] == []
    assert any(each.text == "1 line: no pattern describes them" for each in reading.notices)


def test_a_line_that_nearly_fits_is_told_with_its_place(tmp_path: Path) -> None:
    reading = read(tmp_path, TERM, "Term 1 of db\nTerm two of db\nTerminated\n")
    (notice,) = [each for each in reading.notices if each.kind == "not an event"]
    assert "`literal` of the pattern `Term`" in notice.text
    assert str(notice.place).endswith("in.log:2")


def test_patterns_that_describe_no_line_are_told(tmp_path: Path) -> None:
    reading = read(tmp_path, TERM, "hello\nworld\n")
    assert any("none of 1 patterns describes any of its 2 lines" in each.text for each in reading.notices)


@pytest.mark.parametrize(
    ("patterns", "say"),
    [
        (TERM.replace("Term (?P<n>\\d+) of (?P<who>\\w+)", "(?P<n>.*)").replace('literal = "Term"', ""), "any line"),
        (TERM.replace("'Term 1 of db'", "'Term x of db'"), "does not describe its example"),
        (TERM.replace("\\w+", "(\\w+)+x.*.*.*"), "third power"),
        (SENTINEL.replace("[#*.-] ", "(?P<x>a+)+ "), "faster than the line"),
        (SENTINEL.replace("'1:X 21", "'1:Y 21"), "does not fit its example"),
        (TERM.replace("kind", "sort"), "no key `sort`"),
        ("[[line]]\nexample = 'x'\n", "`pattern` is missing"),
    ],
)
def test_a_pattern_file_that_cannot_be_used_is_refused(tmp_path: Path, patterns: str, say: str) -> None:
    with pytest.raises(SpecError) as caught:
        read(tmp_path, patterns, "Term 1 of db\n")
    assert any(say in each.message for each in caught.value.diagnostics), caught.value


def test_examples_are_read_by_all_patterns(tmp_path: Path) -> None:
    file = tmp_path / "p.toml"
    file.write_text(TERM + TERM.replace('"Term"\nliteral', '"Again"\nliteral') + "holds = { n = 2 }\n")
    wrong = {each.pattern.name: each.wrong for each in examples_of(text_catalogue(file))}
    assert "is described by `Again` too" in wrong["Term"][-1]
    assert "`n = 2`, and 1 was found" in wrong["Again"][-1]


def test_a_line_separator_in_a_comment_moves_no_place(tmp_path: Path) -> None:
    file = tmp_path / "p.toml"
    file.write_text("# one\u2028two\n" + TERM + "holds = { n = 9 }\n", encoding="utf-8")
    (problem,) = problems_of(examples_of(text_catalogue(file)), file)
    assert problem.span.line == 4


@pytest.mark.parametrize(
    ("form", "field"), [("ints", (7, 8)), ("words", ("7", "8")), ("map", {7: 8})], ids=["ints", "words", "map"]
)
def test_lists_and_maps_of_a_line_are_fields(tmp_path: Path, form: str, field: object) -> None:
    text = "Map(7 -> 8)" if form == "map" else "7, 8"
    pattern = f'[[shape]]\nkind = "Seen"\npattern = "seen (?P<who>.*)"\nexample = "seen {text}"\nfields = {{ who = "{form}" }}\n'
    (event,) = events(read(tmp_path, pattern, f"seen {text}\n"))
    assert event.fields["who"] == field


def test_a_line_with_a_carriage_return_in_it_heads_no_table() -> None:
    assert head_of(b"a,b\rc,d\n") is None
