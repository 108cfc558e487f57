"""Which of several brokers wrote a line of one file, where the line names a session or a start, and no broker."""

from __future__ import annotations

from pathlib import Path

from tests.unit.traces.attribution.zookeeper_lines import PRELUDE, START, begins, expires, registers, written

from assay.traces.event import Event
from assay.traces.log_reader import read_logs


def events(tmp_path: Path, texts: list[str]) -> tuple[list[Event], set[str]]:
    """The events of one file with a line every second, and the kinds of notices."""
    found = read_logs([written(tmp_path / "console.log", texts)])
    return list(found.events), {each.kind for each in found.notices}


def nodes(found: list[Event], kind: str) -> list[str | None]:
    """The brokers and runs of the events of one kind, in the order of the lines."""
    ordered = sorted((each for each in found if each.kind == kind), key=lambda each: each.record.place.line)
    return [None if (node := each.fields["node"]) is None else str(node).rpartition("/")[2] for each in ordered]


def test_sessions_and_starts_are_those_of_the_brokers_that_register_in_them(tmp_path: Path) -> None:
    texts = [PRELUDE, PRELUDE, START, START, begins(1), begins(2), registers(7, 1), registers(8, 2)]
    found, notices = events(tmp_path, texts)
    assert nodes(found, "SessionEstablished") == ["7", "8"]
    assert nodes(found, "ProcessStarting") == ["7", "8"]
    assert "merged nodes" in notices


def test_a_broker_that_starts_again_has_another_run_and_one_whose_session_expires_has_not(tmp_path: Path) -> None:
    first = [PRELUDE, PRELUDE, START, START, begins(1), begins(2), registers(7, 1), registers(8, 2)]
    later = [expires(2), begins(3), registers(8, 3), PRELUDE, START, begins(4), registers(7, 4)]
    found, _ = events(tmp_path, first + later)
    assert nodes(found, "ProcessStarting") == ["7", "8", "7#2"]
    assert nodes(found, "SessionEstablished") == ["7", "8", "8", "7#2"]
    assert nodes(found, "SessionExpired") == ["8"]


def test_a_session_in_which_nobody_registers_is_nobody_s(tmp_path: Path) -> None:
    found, notices = events(tmp_path, [begins(1), registers(7, 1), registers(8, 2), begins(9)])
    assert nodes(found, "SessionEstablished") == ["7", None]
    assert "interleaved nodes" in notices


SERVER = "[SharedServer id={}] Starting SharedServer (kafka.server.SharedServer)"
ROLE = "[ControllerServer id={}] Starting controller (kafka.server.ControllerServer)"
LED = "[QuorumController id={}] Becoming the active controller at epoch 2, next write offset 9. (org.apache.kafka.controller.QuorumController)"
FOLLOWS = "[RaftManager id={}] High watermark set to Optional[LogOffsetMetadata(offset=1, metadata=Optional.empty)] for the first time for epoch 1 based on indexOfHw 1 and voters [] (org.apache.kafka.raft.LeaderState)"


def test_the_id_with_which_a_message_begins_is_that_of_its_writer(tmp_path: Path) -> None:
    """Both nodes are controllers only, and one starts again; the parts of a node start in any order."""
    first = [PRELUDE, PRELUDE, ROLE.format(101), SERVER.format(102), SERVER.format(101), LED.format(102)]
    found, notices = events(tmp_path, [*first, PRELUDE, ROLE.format(101), LED.format(101)])
    assert nodes(found, "ActiveControllerClaimed") == ["102", "101#2"]
    assert nodes(found, "ProcessPrelude") == ["102", "101", "101#2"]
    assert "merged nodes" in notices


def test_lines_of_one_time_from_different_files_are_in_no_order(tmp_path: Path) -> None:
    path = written(tmp_path / "all.log", [SERVER.format(101), SERVER.format(102), LED.format(101), FOLLOWS.format(101)])
    reading = read_logs([path])
    files = {each.file for each in reading.streams if each.run.node.endswith("101")}
    assert len(files) == 2
