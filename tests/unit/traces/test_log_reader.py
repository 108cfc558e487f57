"""Whole recordings read: pinned counts, runs, sessions, and bad input that never stops the rest."""

from __future__ import annotations

import shutil
import tarfile
from collections import Counter
from io import BytesIO
from pathlib import Path

import pytest

from assay.grammar.diagnostics.diagnostic import SpecError
from assay.traces.event import Event
from assay.traces.input.lines import record_kinds
from assay.traces.input.lines.record_scanner import ScanLimits
from assay.traces.log_reader import LogReading, ReadOptions, read_events, read_logs
from assay.traces.samples import NAMES, sample, unpack_sample

LINE = "[2026-11-21 01:45:{second:02},000] INFO [Controller id={broker}] Resigned (kafka.controller.KafkaController)\n"
START = "[2026-11-21 01:45:10,000] INFO starting (kafka.server.KafkaServer)\n"


@pytest.fixture(scope="module")
def elections() -> LogReading:
    return read_logs([sample("elections")])


@pytest.fixture(scope="module")
def duplicate() -> LogReading:
    return read_logs([sample("duplicate-broker")])


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack_sample("elections", tmp_path_factory.mktemp("samples"))


def of_kind(reading: LogReading, kind: str) -> list[Event]:
    return [event for event in reading.events if event.kind == kind]


def kinds_of_notices(reading: LogReading) -> Counter[str]:
    return Counter(notice.kind for notice in reading.notices)


def test_the_sample_is_read_whole_and_every_protocol_line_is_mapped(elections: LogReading) -> None:
    assert (elections.files, elections.lines, elections.records) == (14, 7280, 3395)
    assert not elections.unmapped
    assert not elections.notices
    assert elections.versions == ("2.8.2",)


def test_the_elections_are_those_that_zookeeper_recorded(elections: LogReading) -> None:
    elected = sorted(of_kind(elections, "ControllerElected"), key=lambda event: str(event.fields["epoch"]))
    assert [(event.fields["broker"], event.fields["epoch"]) for event in elected] == [
        (2, 1),
        (1, 2),
        (3, 3),
        (2, 4),
        (3, 5),
    ]
    assert [event.fields["session"] for event in elected] == [
        "0x1000016b4ea0003",
        "0x1000016b4ea0002",
        "0x1000016b4ea0001",
        "0x1000016b4ea0005",
        "0x1000016b4ea0007",
    ]
    assert [event.fields["node"] for event in elected] == [
        "broker-2",
        "broker-1",
        "broker-3",
        "broker-2#2",
        "broker-3#2",
    ]


def test_every_line_that_states_a_controller_agrees_with_the_elections(elections: LogReading) -> None:
    winners = {1: 2, 2: 1, 3: 3, 4: 2, 5: 3}
    for kind in ("ControllerLine", "ControllerReady", "RequestFromController"):
        events = of_kind(elections, kind)
        assert events
        assert all(winners[int(str(e.fields["epoch"]))] == e.fields["controller"] for e in events)


def test_the_counts_by_kind_are_those_of_the_recording(elections: LogReading) -> None:
    expected = {
        "BrokerRegistered": 6,
        "BrokerNodeCreated": 6,
        "ProcessStarting": 6,
        "ControllerElected": 5,
        "ControllerReady": 5,
        "ElectionLost": 5,
        "ElectionRaceLost": 3,
        "Resigned": 4,
        "SessionEstablished": 6,
        "SessionExpiredByServer": 2,
        "SessionClosed": 4,
        "ControllerLine": 350,
        "RequestFromController": 409,
        "PartitionState": 43,
        "BecameLeader": 67,
        "ReplicaRemovedFromIsr": 94,
    }
    assert {kind: elections.kinds[kind] for kind in expected} == expected


def test_zookeeper_names_the_process_whose_session_it_ended(elections: LogReading) -> None:
    expired = of_kind(elections, "SessionExpiredByServer")
    assert [(e.fields["session"], e.fields["owner"], e.fields["owner_broker"]) for e in expired] == [
        ("0x1000016b4ea0003", "broker-2", 2),
        ("0x1000016b4ea0002", "broker-1", 1),
    ]
    assert "the ephemeral nodes of broker-2 are gone" in elections.explain(expired[0])


def test_processes_are_divided_alike_in_all_files_of_a_node(elections: LogReading) -> None:
    streams = [(str(stream.run), stream.file.rpartition("/")[2]) for stream in elections.streams]
    for node in ("broker-1", "broker-2", "broker-3"):
        for file in ("server.log", "controller.log", "state-change.log"):
            assert (node, file) in streams
            assert (f"{node}#2", file) in streams
    assert [(node.name, node.brokers, node.runs) for node in elections.nodes] == [
        ("broker-1", (1,), 2),
        ("broker-2", (2,), 2),
        ("broker-3", (3,), 2),
        ("zookeeper", (), 1),
    ]
    for stream in elections.streams:
        kinds = [event.kind for event in stream.events]
        assert kinds.count("ProcessStarting") == (stream.file.endswith("server.log") and "broker" in stream.file)


def test_a_second_process_with_the_id_of_a_broker_is_a_node_of_its_own(duplicate: LogReading) -> None:
    brokers = {node.name: node.brokers for node in duplicate.nodes}
    assert brokers["broker-1"] == brokers["broker-1-duplicate"] == (1,)
    (refused,) = of_kind(duplicate, "RegistrationRefused")
    assert refused.fields["owner"] == "broker-1"
    assert refused.fields["node"] == "broker-1-duplicate"
    assert (refused.fields["owner_session"], refused.fields["session"]) == ("0x1000011ac790002", "0x1000011ac790006")
    assert "broker 1 (process broker-1) already holds /brokers/ids/1" in duplicate.explain(refused)


def test_a_stale_controller_is_refused_with_both_epochs(duplicate: LogReading) -> None:
    refused = of_kind(duplicate, "StaleController")
    assert len(refused) == 4
    assert all(int(str(e.fields["epoch"])) < int(str(e.fields["latest"])) for e in refused)


@pytest.mark.parametrize("name", NAMES)
def test_the_bytes_at_the_offset_are_the_record(name: str, tmp_path: Path) -> None:
    data: dict[str, bytes] = {}
    for event in read_events([unpack_sample(name, tmp_path)]):
        place, record = event.record.place, event.record
        content = data.setdefault(place.file, Path(place.file).read_bytes())
        assert content[: place.offset].count(b"\n") == place.line - 1
        text = content[place.offset :][: len(record.message) + 200].decode()
        assert text.startswith("[2026-11-21 ")
        assert text[26:].startswith(f"{record.level} {record.message.partition(chr(10))[0]}")


def test_archive_and_directory_give_the_same_events(elections: LogReading, unpacked: Path) -> None:
    again = read_logs([unpacked])
    assert (again.kinds, again.nodes, again.lines) == (elections.kinds, elections.nodes, elections.lines)
    assert [event.fields for event in again.events] == [event.fields for event in elections.events]


def test_a_copied_directory_is_read_once_and_said(unpacked: Path, tmp_path: Path) -> None:
    shutil.copytree(unpacked, tmp_path / "copy")
    reading = read_logs([unpacked, tmp_path / "copy"])
    assert reading.kinds == read_logs([unpacked]).kinds
    assert kinds_of_notices(reading) == {"duplicated input": 14}


def test_a_copy_of_one_file_is_no_further_node(unpacked: Path, elections: LogReading, tmp_path: Path) -> None:
    """A folder whose name comes before that of the broker is read first."""
    copied = min(unpacked.rglob("state-change.log"))
    backup = tmp_path / "backup" / copied.parent.name
    logs = shutil.copytree(unpacked, tmp_path / "logs")
    backup.mkdir(parents=True)
    shutil.copy(copied, backup)
    reading = read_logs([tmp_path])
    assert (reading.kinds, len(reading.nodes)) == (elections.kinds, len(elections.nodes))
    assert [notice.place.file for notice in reading.notices if notice.place] == [str(backup / copied.name)], logs


def test_brokers_that_share_a_directory_are_told_apart_by_their_lines(tmp_path: Path) -> None:
    for broker in (1, 2):
        (tmp_path / f"controller-{broker}.log").write_text(LINE.format(second=broker, broker=broker))
    (tmp_path / "gc.log").write_text(
        "[2026-11-21 01:45:00,000] INFO Session: 0x1 closed (org.apache.zookeeper.ZooKeeper)\n"
    )
    reading = read_logs([tmp_path])
    name = tmp_path.name
    assert {node.name: node.brokers for node in reading.nodes} == {f"{name}/1": (1,), f"{name}/2": (2,), name: ()}
    assert kinds_of_notices(reading) == {"node unknown": 1}


def test_a_file_that_several_brokers_wrote_is_dealt_out_and_the_rest_is_unknown(tmp_path: Path) -> None:
    unknown = "[2026-11-21 01:45:09,000] INFO Session: 0x1 closed (org.apache.zookeeper.ZooKeeper)\n"
    (tmp_path / "all.log").write_text(LINE.format(second=1, broker=1) + LINE.format(second=2, broker=2) + unknown)
    reading = read_logs([tmp_path / "all.log"])
    name = tmp_path.name
    assert {(event.kind, event.run.node) for event in reading.events} == {
        ("Resigned", f"{name}/1"),
        ("Resigned", f"{name}/2"),
        ("SessionClosed", f"{name}/?"),
    }
    assert "for 1 of its records" in reading.notices[0].text


def test_logs_of_the_very_same_name_whose_times_overlap_are_all_read(tmp_path: Path) -> None:
    """An archive may hold two members of one name: one log must not take the place of another."""
    line = "[2026-11-21 01:45:{0:02},000] INFO [Controller id=1] 1 successfully elected as the controller. Epoch incremented to {0} and epoch zk version is now {0} (kafka.controller.KafkaController)\n"
    with tarfile.open(tmp_path / "logs.tar", "w") as packed:
        for first in range(3):
            content = "".join(line.format(at) for at in range(1 + first, 40, 3)).encode()
            member = tarfile.TarInfo("kafka/server.log")
            member.size = len(content)
            packed.addfile(member, BytesIO(content))
    reading = read_logs([tmp_path])
    assert [len(stream.events) for stream in reading.streams] == [13, 13, 13]
    assert len({event.stream for event in reading.events}) == 3
    assert [node.runs for node in reading.nodes] == [1]


def test_directories_of_one_name_are_told_apart_by_their_parents(tmp_path: Path) -> None:
    for cluster in ("east", "west"):
        (tmp_path / cluster / "broker-1").mkdir(parents=True)
        line = LINE.format(second=len(cluster) + (cluster == "west"), broker=1)
        (tmp_path / cluster / "broker-1" / "controller.log").write_text(line)
    assert [node.name for node in read_logs([tmp_path]).nodes] == ["east/broker-1", "west/broker-1"]


def test_logs_that_begin_in_the_middle_of_a_process_count_it_as_the_first_run(tmp_path: Path) -> None:
    (tmp_path / "server.log").write_text(
        "[2026-11-21 01:45:05,000] INFO Session: 0x1 closed (org.apache.zookeeper.ZooKeeper)\n" + START
    )
    (tmp_path / "controller.log").write_text(LINE.format(second=9, broker=1) + LINE.format(second=11, broker=1))
    runs = [(event.kind, event.run.number) for event in read_events([tmp_path])]
    assert runs == [("Resigned", 1), ("SessionClosed", 1), ("Resigned", 2), ("ProcessStarting", 2)]


def test_lines_of_something_else_are_not_a_log(tmp_path: Path) -> None:
    (tmp_path / "access.log").write_text('127.0.0.1 - - [21/Nov/2026:01:45:00 +0000] "GET / HTTP/1.1" 200 12\n' * 50)
    (tmp_path / "events.jsonl").write_text('{"a": 1}\n' * 50)
    reading = read_logs([tmp_path])
    assert (reading.files, reading.records, list(reading.events)) == (0, 0, [])
    assert kinds_of_notices(reading) == {"not understood": 2}
    assert reading.lines == 100


def test_lines_with_times_that_name_no_logger_are_not_a_log(tmp_path: Path) -> None:
    (tmp_path / "timeline.txt").write_text("what was done\n" + "2026-11-21 01:45:00,000 killed broker 1\n" * 5)
    reading = read_logs([tmp_path])
    assert (reading.files, reading.kinds) == (0, {})
    assert [notice.kind for notice in reading.notices] == ["not understood"]


def test_stock_lines_of_another_program_are_other(tmp_path: Path) -> None:
    (tmp_path / "app.log").write_text("[2026-11-21 01:45:00,000] INFO order 7 shipped (com.shop.Orders)\n" * 5)
    reading = read_logs([tmp_path])
    assert (reading.records, reading.other, reading.kinds, reading.unmapped) == (5, 5, {}, ())


def test_a_first_word_of_a_message_is_no_logger_where_the_line_ends_with_one(tmp_path: Path) -> None:
    """Times without milliseconds are no stock layout, and `controller` abbreviates a logger of ZooKeeper mode."""
    logger = "kafka.server.ClientQuotaManager$ThrottledChannelReaper"
    log = tmp_path / "server.log"
    log.write_text(f"[2026-11-21 01:48:36] INFO [controller-101-ThrottledChannelReaper-Fetch]: Starting ({logger})\n")
    assert set(read_logs([log]).loggers) == {logger}


def test_unmapped_protocol_lines_are_counted_by_their_shape_with_a_place(tmp_path: Path) -> None:
    line = "[2026-11-21 01:45:0{0},000] INFO [Controller id=1] Invented step {0} (kafka.controller.KafkaController)\n"
    (tmp_path / "controller.log").write_text("".join(line.format(n) for n in range(3)))
    (lines,) = read_logs([tmp_path]).unmapped
    assert (lines.count, lines.logger, lines.place.line) == (3, "kafka.controller.KafkaController", 1)
    assert lines.text == "[Controller id=<n>] Invented step <n>"


def test_a_prefix_counts_even_where_the_rest_of_the_line_is_unmapped(tmp_path: Path) -> None:
    line = "[2026-11-21 01:45:00,000] INFO [Controller id=1 epoch=7] Invented step (state.change.logger)\n"
    (tmp_path / "state-change.log").write_text(line)
    reading = read_logs([tmp_path])
    assert [(event.kind, event.fields["epoch"]) for event in reading.events] == [("ControllerLine", 7)]
    assert reading.unmapped[0].count == 1


def test_who_holds_the_controller_node_is_told_where_sessions_are_known(tmp_path: Path) -> None:
    session = (
        "[2026-11-21 01:45:0{0},000] INFO Session establishment complete on server h/1.2.3.4:2181, sessionid = {1}, "
    )
    session += "negotiated timeout = 6000 (org.apache.zookeeper.ClientCnxn)\n"
    conflict = "[2026-11-21 01:45:05,000] ERROR Error while creating ephemeral at /controller, node already exists and owner '{0}' "
    conflict += "does not match current session '17' (kafka.zk.KafkaZkClient$CheckedEphemeral)\n"
    for node, broker, text in (
        ("n1", 1, session.format(1, "0x10") + session.format(2, "0x11") + conflict.format(16)),
        ("n2", 2, session.format(3, "0x12") + conflict.format(18).replace("'17'", "'19'")),
        ("n3", 3, conflict.format(18).replace("'17'", "'20'")),
        ("n4", 4, conflict.format(99).replace("'17'", "'21'")),
    ):
        (tmp_path / node).mkdir()
        (tmp_path / node / "server.log").write_text(LINE.format(second=0, broker=broker) + text)
    reading = read_logs([tmp_path])
    said = {event.run.node: reading.explain(event) for event in of_kind(reading, "ElectionRefused")}
    assert "an earlier session of this very process holds the node /controller" in said["n1"]
    assert "an earlier session of this very process holds" in said["n2"]
    assert "broker 2 (process n2) holds" in said["n3"]
    assert "another broker, or an earlier session of this very broker that has not expired, holds" in said["n4"]


def test_an_empty_directory_gives_nothing(tmp_path: Path) -> None:
    reading = read_logs([tmp_path])
    assert (reading.files, reading.streams, [notice.kind for notice in reading.notices]) == (0, (), ["no file"])


def test_a_missing_path_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SpecError):
        read_logs([tmp_path / "none"])


def test_what_is_wrong_with_a_file_is_said_and_the_rest_is_read(tmp_path: Path) -> None:
    good = LINE.format(second=1, broker=1).encode()
    files = {
        "a-empty.log": b"",
        "b-binary.log": b"\x7fELF\0\0\0" * 100,
        "c-utf8.log": good + LINE.format(second=2, broker=1).encode().replace(b"Resigned", b"Resign\xff\xfe"),
        "d-zeros.log": good.replace(b":01", b":03") + b"\0" * 64 + b"\n" + LINE.format(second=4, broker=1).encode(),
        "e-begin.log": b"\tat x.Y.z(Y.java:1)\n" + LINE.format(second=5, broker=1).encode(),
        "f-end.log": LINE.format(second=6, broker=1).encode() + b"[2026-11-21 01:45:07,000] INFO [Controller id=1] Res",
        "g-time.log": good.replace(b"-11-", b"-14-"),
        "h-utf16.log": good.decode().encode("utf-16"),
        "i-day.log": good.replace(b"-11-21", b"-02-30"),
        "j-script.log": b"===> Configuring ...\n" + START.encode(),
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    reading = read_logs([tmp_path])
    assert reading.kinds["Resigned"] == 8
    found = {
        (notice.place.file.rpartition("/")[2][0], notice.kind) for notice in reading.notices if notice.place is not None
    }
    assert found == {
        ("a", "empty file"),
        ("b", "binary file"),
        ("c", "invalid UTF-8"),
        ("d", "zero bytes"),
        ("e", "beginning cut off"),
        ("f", "end cut off"),
        ("f", "no logger"),
        ("g", "no such time"),
        ("h", "layout"),
        ("i", "no such time"),
    }


def test_a_line_of_100_megabytes_is_cut_and_the_next_line_is_read(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    with path.open("wb") as out:
        out.write(b"[2026-11-21 01:45:00,000] INFO ")
        for _ in range(100):
            out.write(b"x" * 1_000_000)
        out.write(b" (a.B)\n" + LINE.format(second=1, broker=1).encode())
    reading = read_logs([path])
    assert [(event.kind, event.record.place.line) for event in reading.events] == [("Resigned", 2)]
    assert kinds_of_notices(reading) == {"record too long": 1, "no logger": 1}


def test_clocks_that_jump_are_reported_with_the_largest_jump(tmp_path: Path) -> None:
    line = "[2026-11-{0} 01:45:00,000] INFO [Controller id=1] Resigned (kafka.controller.KafkaController)\n"
    (tmp_path / "controller.log").write_text("".join(map(line.format, (20, 21, 21, 19, 20))))
    reading = read_logs([tmp_path])
    assert reading.kinds == {"Resigned": 5}
    said = {n.kind: (n.text, n.place.line) for n in reading.notices if n.place is not None}
    assert said == {
        "gap in time": ("nothing is said 2 times, for 1 d at most, here", 2),
        "clock went back": ("times go back by 2 d, here", 4),
    }


@pytest.mark.parametrize("stamp", ["2026-11-21 01:45:22 UTC", "2026-11-21T01:45:22.05Z", "2026-11-21T02:45:22+0100"])
def test_a_stamp_with_a_zone_is_read_with_it(tmp_path: Path, stamp: str) -> None:
    (tmp_path / "controller.log").write_text(LINE.format(second=22, broker=1).replace("2026-11-21 01:45:22,000", stamp))
    (event,) = read_events([tmp_path])
    assert event.record.time is not None
    assert event.record.time // 1000 == 1795225522


def test_records_with_stack_traces_keep_them(tmp_path: Path) -> None:
    line = LINE.format(second=1, broker=1)
    (tmp_path / "controller.log").write_text((line + "java.lang.Exception: no\n\tat a.B(B.java:1)\n\n") * 2 + line)
    messages = [event.record.message for event in read_events([tmp_path])]
    resigned = "[Controller id=1] Resigned"
    assert messages == [f"{resigned}\njava.lang.Exception: no\n\tat a.B(B.java:1)"] * 2 + [resigned]


def test_a_number_of_a_million_digits_is_no_number(tmp_path: Path) -> None:
    line = LINE.format(second=1, broker="1" * 1_000_000)
    isr = "[2026-11-21 01:45:02,000] INFO [Partition a-0 broker=1] ISR updated to " + "1," * 3 + "7" * 1_000_000
    isr += " and version updated to [7] (kafka.cluster.Partition)\n"
    (tmp_path / "controller.log").write_text(line + isr + LINE.format(second=3, broker=1))
    reading = read_logs([tmp_path])
    assert reading.kinds == {"Resigned": 1}
    assert sum(lines.count for lines in reading.unmapped) == 2


def test_a_hostile_line_takes_no_longer_than_its_length_allows(tmp_path: Path) -> None:
    hostile = "[Controller id=1 epoch=1] Partition " + "a-1 " * 20_000 + "(" * 20_000 + ",1" * 20_000
    loggers = (
        "state.change.logger",
        "kafka.cluster.Partition",
        "kafka.controller.KafkaController",
        "kafka.zk.KafkaZkClient",
    )
    text = "".join(
        f"[2026-11-21 01:45:00,000] INFO {start}{hostile} ({name})\n"
        for name in loggers
        for start in ("", "[Broker id=1] ")
    )
    (tmp_path / "server.log").write_text(text)
    assert read_logs([tmp_path]).records == 8


def test_a_mistake_in_a_reader_costs_its_file_and_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a mistake of ours")

    for number in (1, 2):
        (tmp_path / f"{number}").mkdir()
        (tmp_path / f"{number}" / "controller.log").write_text(
            f"[2026-11-21 01:45:53,082] INFO [Controller id={number}] Resigned (kafka.controller.KafkaController)\n"
        )
    (tmp_path / "1" / "events.json").write_text('{"event": "Anything"}\n')
    monkeypatch.setattr("assay.traces.input.pattern_matcher.read_events", broken)
    reading = read_logs([tmp_path])
    (notice,) = [each for each in reading.notices if each.kind == "unreadable"]
    assert notice.place is not None
    assert notice.place.file.endswith("events.json")
    assert "a mistake of ours" in notice.text
    assert reading.files == 2


def test_a_disk_error_in_the_midst_of_a_file_costs_that_file(tmp_path: Path) -> None:
    (tmp_path / "controller.log").write_text(
        "[2026-11-21 01:45:53,082] INFO [Controller id=1] Resigned (kafka.controller.KafkaController)\n"
    )
    reading = read_logs([Path("/proc/self/mem"), tmp_path])
    assert [each.kind for each in reading.notices if "mem" in str(each.place)] == ["unreadable"]
    assert reading.files == 1


def test_every_logger_is_noted_where_a_file_has_more_than_are_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_kinds, "_ENDINGS", 64)
    names = [f"kafka.server.L{number}" for number in range(200)]
    log = tmp_path / "server.log"
    log.write_text("".join(f"[2022-02-03 10:00:00,{at:03}] INFO up ({name})\n" for at, name in enumerate(names)))
    found = read_logs([log], ReadOptions(scan=ScanLimits(block=1000)))
    assert set(found.loggers) == set(names)
