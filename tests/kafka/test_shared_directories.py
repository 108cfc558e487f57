"""Directories of logs as Kafka's own scripts leave them: ZooKeeper and brokers in one, rotated by each of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.cli.settings import load
from assay.traces.log_reader import LogReading, read_logs
from assay.traces.result import TraceVerdict, Validation
from assay.traces.spec_selection import validate_with_selection

from .test_other_lines import CONTROLLER, opens

NODE = "67,67,1795417021627,1795417021627,1,0,0,{owner},190,0,67"
KEEPER_STARTS = """
    INFO Reading configuration from: config/zookeeper.properties (org.apache.zookeeper.server.quorum.QuorumPeerConfig)
    INFO Starting server (org.apache.zookeeper.server.ZooKeeperServerMain)
"""
REFUSED = "ERROR Error while creating ephemeral at /brokers/ids/0, node already exists and owner '{owner}' does not match current session '{own}' (kafka.zk.KafkaZkClient$CheckedEphemeral)"
LOST = "WARN Session {session} for sever 127.0.0.1/127.0.0.1:47843, Closing socket connection. Attempting reconnect except it is a SessionExpiredException. (org.apache.zookeeper.ClientCnxn)"
FIRST, SECOND = "0x1000012ab340000", "0x1000012cd560000"
MISSING = "several processes wrote this log, and each rotated it: what one puts by replaces what another has, so that lines may be missing"


def starts(session: str) -> str:
    """A broker starts and registers in a session."""
    owner = int(session, 16)
    return f"""
        INFO Registered kafka:type=kafka.Log4jController MBean (kafka.utils.Log4jControllerRegistration$)
        INFO starting (kafka.server.KafkaServer)
        {opens(session)}
        INFO Creating /brokers/ids/0 (is it secure? false) (kafka.zk.KafkaZkClient)
        INFO Stat of the created znode at /brokers/ids/0 is: {NODE.format(owner=owner)} (kafka.zk.KafkaZkClient)
        INFO [ControllerEventThread controllerId=0] Starting (kafka.controller.ControllerEventManager$ControllerEventThread)
        INFO [KafkaServer id=0] started (kafka.server.KafkaServer)
    """


def ends(session: str) -> str:
    return f"""
        INFO [KafkaServer id=0] shutting down (kafka.server.KafkaServer)
        INFO Session: {session} closed (org.apache.zookeeper.ZooKeeper)
        INFO [KafkaServer id=0] shut down completed (kafka.server.KafkaServer)
    """


def written(folder: Path, **files: str) -> LogReading:
    """The reading of files in which each line is a second after the one before. Files are named by their hour,
    ``at_10`` and so on, or ``server``.
    """
    for name, text in files.items():
        hour = name.removeprefix("at_") if name.startswith("at_") else "23"
        lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
        dated = [f"[2026-11-22 {hour}:{at // 60:02}:{at % 60:02},000] {line}" for at, line in enumerate(lines)]
        base = f"server.log.2026-11-22-{hour}" if name.startswith("at_") else f"{name}.log"
        (folder / base).write_text("\n".join(dated) + "\n")
    return read_logs([folder])


def answer(reading: LogReading) -> Validation:
    return validate_with_selection(reading, None, lambda spec: load(spec, None, {}))[1]


@pytest.mark.slow
def test_zookeeper_that_starts_again_is_no_start_of_the_broker_beside_it(tmp_path: Path) -> None:
    reading = written(tmp_path, server=KEEPER_STARTS + starts(FIRST) + KEEPER_STARTS + ends(FIRST))
    assert {node.name: node.runs for node in reading.nodes} == {tmp_path.name: 1, f"{tmp_path.name}/zookeeper": 2}
    assert answer(reading).verdict is TraceVerdict.CONSISTENT


def test_a_zookeeper_server_alone_stays_the_node_that_its_directory_is(tmp_path: Path) -> None:
    reading = written(tmp_path, server=KEEPER_STARTS)
    assert [node.name for node in reading.nodes] == [tmp_path.name]


@pytest.mark.slow
def test_lines_after_the_end_of_a_process_are_of_another_run_whose_start_is_missing(tmp_path: Path) -> None:
    """The file of the hour in which it began was replaced by that of ZooKeeper."""
    later = "INFO [KafkaServer id=0] Starting controlled shutdown (kafka.server.KafkaServer)"
    found = answer(reading := written(tmp_path, at_10=starts(FIRST) + ends(FIRST), at_14=later + ends(SECOND)))
    assert [node.runs for node in reading.nodes] == [2]
    late = f"the logs of {tmp_path.name}#2 begin after its start"
    assert late in [each.text for each in found.notices]
    assert (found.verdict, found.violations) == (TraceVerdict.CONSISTENT, ())
    assert "what came before the logs was supposed" in found.rests_on
    assert any(late in each for each in found.rests_on)


def test_what_is_written_right_after_the_last_line_is_of_the_same_run(tmp_path: Path) -> None:
    last = f"INFO [Controller id=0] Resigned {CONTROLLER}"
    reading = written(tmp_path, server=starts(FIRST) + ends(FIRST) + last)
    assert [node.runs for node in reading.nodes] == [1]


@pytest.mark.parametrize(("name", "reported"), [("at_10", True), ("server", False)])
def test_of_a_rotated_log_of_several_processes_lines_may_be_missing(name: str, reported: bool, tmp_path: Path) -> None:
    reading = written(tmp_path, **{name: KEEPER_STARTS + starts(FIRST)})
    assert (MISSING in [notice.text for notice in reading.notices]) is reported


def refused(*before: str) -> str:
    """A broker's session, which it closes; and the next one of the broker, which finds the node of the first there."""
    again = f"""
        INFO Registered kafka:type=kafka.Log4jController MBean (kafka.utils.Log4jControllerRegistration$)
        INFO starting (kafka.server.KafkaServer)
        {opens(SECOND)}
        INFO Creating /brokers/ids/0 (is it secure? false) (kafka.zk.KafkaZkClient)
        {REFUSED.format(owner=int(FIRST, 16), own=int(SECOND, 16))}
    """
    elected = f"INFO [Controller id=0] 0 successfully elected as the controller. Epoch incremented to 1 and epoch zk version is now 1 {CONTROLLER}"
    resigned = f"INFO [Controller id=0] Resigned {CONTROLLER}"
    return "\n".join((starts(FIRST), elected, *before, resigned, ends(FIRST), again))


@pytest.mark.slow
def test_a_session_that_is_closed_without_a_connection_lives_on(tmp_path: Path) -> None:
    """As when ZooKeeper is stopped before the broker."""
    reading = written(tmp_path, server=refused(LOST.format(session=FIRST)))
    assert answer(reading).verdict is TraceVerdict.CONSISTENT


@pytest.mark.slow
@pytest.mark.parametrize("before", [(), (LOST.format(session=FIRST), opens(FIRST))])
def test_and_not_one_that_has_a_connection(before: tuple[str, ...], tmp_path: Path) -> None:
    found = answer(written(tmp_path, server=refused(*before)))
    assert [violation.action for violation in found.violations] == ["controller.refuse_registration"]


@pytest.mark.slow
def test_a_refusal_without_any_line_before_it_is_no_contradiction(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    refused = REFUSED.format(owner=int("0x300001017eb76d2", 16), own=int("0x300001017eb773f", 16))
    log.write_text(
        "[2026-11-21 21:40:11,518] INFO Creating /brokers/ids/0 (is it secure? false) (kafka.zk.KafkaZkClient)\n"
        f"[2026-11-21 21:40:11,528] {refused}\n",
        encoding="utf-8",
    )
    found = validate_with_selection(read_logs([log]), None, lambda spec: load(spec, None, {}))[1]
    assert found.verdict is not TraceVerdict.INCONSISTENT
    assert found.violations == ()
