"""Partitions that are moved in ways that operators seldom take: one move upon another, moves that are cancelled."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.traces.result import Validation

from .test_other_lines import CONTROLLER, answer, opens

STATE = "(state.change.logger)"


def registers(broker: int, zxid: int, session: str) -> str:
    """A broker begins."""
    owner = int(session, 16)
    return f"""
        08:00:0{broker},100] INFO starting (kafka.server.KafkaServer)
        08:00:0{broker},200] {opens(session)}
        08:00:0{broker},300] INFO Creating /brokers/ids/{broker} (is it secure? false) (kafka.zk.KafkaZkClient)
        08:00:0{broker},400] INFO Stat of the created znode at /brokers/ids/{broker} is: {zxid},{zxid},1795417021627,1795417021627,1,0,0,{owner},190,0,{zxid} (kafka.zk.KafkaZkClient)
        08:00:0{broker},450] INFO [ControllerEventThread controllerId={broker}] Starting (kafka.controller.ControllerEventManager$ControllerEventThread)
        08:00:0{broker},500] INFO Kafka version: 3.4.1 (org.apache.kafka.common.utils.AppInfoParser)
    """


def assigned(replicas: str, adding: str = "", removing: str = "") -> str:
    assignment = f"ReplicaAssignment(replicas={replicas}, addingReplicas={adding}, removingReplicas={removing})"
    return f"INFO [Controller id=2] Successfully updated assignment of partition big-0 to {assignment} {CONTROLLER}"


def moved(cancelled: str, isr: str = "2,3") -> dict[str, str]:
    """Controller 2 leads big-0 and moves it to 3 and 1, until it is told something else."""
    written = f"Leader:2,ISR:{isr},LeaderRecoveryState:RECOVERED,LeaderEpoch:1,ZkVersion:1,ControllerEpoch:1"
    return {
        "broker-1": registers(1, 74, "0x10000ecbb7b0003"),
        "broker-2": f"""
            {registers(2, 76, "0x10000ecbb7b0004")}
            08:00:05,005] INFO [Controller id=2] 2 successfully elected as the controller. Epoch incremented to 1 and epoch zk version is now 1 {CONTROLLER}
            08:00:05,166] INFO [Controller id=2] Initialized broker epochs cache: HashMap(1 -> 74, 2 -> 76, 3 -> 78) {CONTROLLER}
            08:00:22,006] INFO [Controller id=2 epoch=1] Changed partition big-0 state from NonExistentPartition to NewPartition with assigned replicas {isr} {STATE}
            08:00:22,019] INFO [Controller id=2 epoch=1] Changed partition big-0 from NewPartition to OnlinePartition with state LeaderAndIsr(leader=2, leaderEpoch=0, isr=List({isr}), leaderRecoveryState=RECOVERED, partitionEpoch=0) {STATE}
            08:00:28,462] {assigned("3,1,2", "1", "2")}
            08:00:28,487] INFO [Controller id=2] Updated leader epoch for partition big-0 to 1, zkVersion=1 {CONTROLLER}
            08:00:28,495] INFO [Controller id=2 epoch=1] Sent LeaderAndIsr request ({written}) with new replica assignment ReplicaAssignment(replicas=3,1,2, addingReplicas=1, removingReplicas=2) to leader 2 for partition being reassigned big-0 {STATE}
            {cancelled}
        """,
        "broker-3": registers(3, 78, "0x10000ecbb7b0005"),
    }


def stays(isr: str) -> str:
    """The replica that was being added is taken away."""
    written = f"Leader:2,ISR:{isr},LeaderRecoveryState:RECOVERED,LeaderEpoch:1,ZkVersion:1,ControllerEpoch:1"
    return f"""
            08:00:30,486] INFO [Controller id=2 epoch=1] Partition big-0 state changed to ({written}) after removing replica 1 from the ISR as part of transition to OfflineReplica {STATE}
            08:00:30,502] INFO [Controller id=2] Leader 2 for partition big-0 being reassigned, is already in the new list of replicas 2,3 and is alive {CONTROLLER}
    """


def found_in(tmp_path: Path, logs: dict[str, str]) -> Validation:
    _, found = answer(tmp_path, logs)
    assert found.counts.unmapped == 0
    return found


def actions(found: Validation) -> list[str]:
    return [each.action for each in found.violations]


@pytest.mark.slow
def test_a_cancelled_move_takes_the_replica_away_that_was_being_added(tmp_path: Path) -> None:
    found = found_in(tmp_path, moved(f"08:00:30,460] {assigned('2,3')}" + stays("2,3")))
    assert actions(found) == []
    assert len(found.slices) == 1


@pytest.mark.slow
def test_a_replica_that_lives_and_stays_assigned_is_not_taken_away(tmp_path: Path) -> None:
    assert "observe" in actions(found_in(tmp_path, moved(stays("2,3"))))


@pytest.mark.slow
def test_who_goes_back_to_where_it_was_need_not_have_caught_up(tmp_path: Path) -> None:
    back = f"08:00:30,460] {assigned('2,3')}" + stays("2")
    assert actions(found_in(tmp_path, moved(back, "2"))) == []


@pytest.mark.slow
def test_who_goes_on_to_somewhere_else_must_have_caught_up(tmp_path: Path) -> None:
    on = f"08:00:30,460] {assigned('2,3', '3')}" + stays("2")
    assert actions(found_in(tmp_path, moved(on, "2"))) == ["leadership.assign"]
