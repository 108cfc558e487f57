"""Lines of versions that no recording is of, a few at a time, as clusters of these versions wrote them."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.cli.settings import load
from assay.traces.choice import validated_by_choice
from assay.traces.read import LogReading, read_logs
from assay.traces.validation import TraceVerdict, Validation

RAFT = "(org.apache.kafka.raft.QuorumState)"
VOTERS = "voters=[101, 102, 103], electionTimeoutMs=1500"


def answer(folder: Path, logs: dict[str, str]) -> tuple[LogReading, Validation]:
    """Of the lines of each node, which are given without the date."""
    for name, lines in logs.items():
        (folder / name).mkdir()
        dated = "".join(f"[2026-11-22 {line.strip()}\n" for line in lines.strip().splitlines())
        (folder / name / "server.log").write_text(dated)
    reading = read_logs([folder])
    return reading, validated_by_choice(reading, None, lambda spec: load(spec, None, {}))[1]


@pytest.mark.parametrize(
    "sender",
    ["BrokerToControllerChannelManager broker=3 name=forwarding", "broker-3-to-controller-forwarding-channel-manager"],
)
def test_a_broker_that_names_its_controller_may_have_zookeeper(sender: str, tmp_path: Path) -> None:
    known = "Recorded new controller, from now on will use broker 127.0.0.1:50313 (id: 3 rack: null)"
    _, found = answer(
        tmp_path, {"broker-3": f"04:50:16,205] INFO [{sender}]: {known} (kafka.server.BrokerToControllerRequestThread)"}
    )
    assert found.kernel.name == "kafka.cluster"
    assert found.counts.unmapped == 0


def elected(first: int, offset: int) -> dict[str, str]:
    """Controller 101 is elected with the vote of 102; lines of it follow, by ``first`` the broker epoch and ``offset`` what a broker catches up with."""
    record = f"RegisterBrokerRecord(brokerId=2, incarnationId=rVLPP2fDTiON46Wqb2clBw, brokerEpoch={first}, endPoints=[], features=[], rack=null, fenced=true)"
    return {
        "controller-101": f"""
            04:30:08,000] INFO [RaftManager nodeId=101] Completed transition to CandidateState(localId=101, epoch=1, retries=1, electionTimeoutMs=1717) {RAFT}
            04:30:09,000] INFO [RaftManager nodeId=101] Completed transition to Leader(localId=101, epoch=1, epochStartOffset=0, highWatermark=Optional.empty) {RAFT}
            04:30:09,100] INFO [Controller 101] Becoming the active controller at epoch 1, committed offset -1, committed epoch -1 (org.apache.kafka.controller.QuorumController)
            04:30:09,848] INFO [Controller 101] Registered new broker: {record} (org.apache.kafka.controller.ClusterControlManager)
            04:30:10,365] INFO [Controller 101] The request from broker 2 to unfence has been granted because it has caught up with the offset of it's register broker record {offset}. (org.apache.kafka.controller.BrokerHeartbeatManager)
        """,
        "controller-102": f"""
            04:30:08,500] INFO [RaftManager nodeId=102] Completed transition to Voted(epoch=1, votedId=101, {VOTERS}) {RAFT}
        """,
    }


def remarks(found: Validation) -> list[str]:
    return [remark.text.partition(":")[0] for remark in found.remarks]


def test_a_registration_in_a_batch_of_records_is_known_by_the_last_of_them(tmp_path: Path) -> None:
    _, found = answer(tmp_path, elected(4, 5))
    assert (found.verdict, found.violations, found.counts.unmapped) == (TraceVerdict.CONSISTENT, (), 0)
    assert remarks(found) == ["Kafka before 3.6"]


def test_a_registration_by_itself_is_known_by_its_own_offset(tmp_path: Path) -> None:
    _, found = answer(tmp_path, elected(4, 4))
    assert (found.verdict, remarks(found)) == (TraceVerdict.CONSISTENT, [])


def test_nobody_catches_up_with_what_is_before_its_registration(tmp_path: Path) -> None:
    _, found = answer(tmp_path, elected(4, 3))
    assert [each.action for each in found.violations] != []


def test_a_voter_that_starts_with_an_empty_disk_is_a_risk_and_no_violation(tmp_path: Path) -> None:
    logs = elected(4, 4)
    logs["controller-102"] += f"""
        04:31:37,554] INFO [RaftManager nodeId=102] Completed transition to Unattached(epoch=0, {VOTERS}) {RAFT}
    """
    _, found = answer(tmp_path, logs)
    assert (found.verdict, found.violations, found.properties) == (TraceVerdict.CONSISTENT, (), ())
    assert remarks(found) == ["a controller starts with an empty disk"]


def test_a_voter_that_goes_back_to_an_epoch_that_it_knew_is_a_violation(tmp_path: Path) -> None:
    logs = elected(4, 4)
    logs["controller-102"] = (
        logs["controller-102"].replace("epoch=1", "epoch=2").replace("votedId=101, ", "")
        + f"""
        04:31:37,554] INFO [RaftManager nodeId=102] Completed transition to Unattached(epoch=1, {VOTERS}) {RAFT}
    """
    )
    _, found = answer(tmp_path, logs)
    assert [each.action for each in found.violations] != []


def test_a_controller_apart_from_brokers_is_known_by_the_lines_of_the_quorum(tmp_path: Path) -> None:
    reading, _ = answer(tmp_path, elected(4, 4))
    assert {node.name: node.brokers for node in reading.nodes} == {"controller-101": (101,), "controller-102": (102,)}
