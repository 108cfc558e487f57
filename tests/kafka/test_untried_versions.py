"""Lines of versions that clusters were recorded of to try them, each set shortened to what was once a false alarm or had no shape."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.traces.result import TraceVerdict, Validation

from .test_other_lines import CONTROLLER, RAFT, answer, is_alright, opens

QUORUM = "(org.apache.kafka.controller.QuorumController)"
CLUSTER = "(org.apache.kafka.controller.ClusterControlManager)"
REPLICATION = "(org.apache.kafka.controller.ReplicationControlManager)"
VOTERS = "voters=[101, 102, 103]"
BROKER = "brokerId=2, incarnationId=rVLPP2fDTiON46Wqb2clBw, brokerEpoch=4"


def candidate(voter: int, epoch: int) -> str:
    return f"INFO [RaftManager id={voter}] Completed transition to CandidateState(localId={voter}, localDirectoryId=4igxJ6XFto7_7YmimW3pnQ,epoch={epoch}, retries=1, electionTimeoutMs=1540) {RAFT}"


def leads(voter: int, epoch: int) -> str:
    return f"INFO [RaftManager id={voter}] Completed transition to Leader(localId={voter}, epoch={epoch}, epochStartOffset=0, highWatermark=Optional.empty) {RAFT}"


def votes(voter: int, epoch: int, candidate: int) -> str:
    key = f"ReplicaKey(id={candidate}, directoryId=Optional.empty)"
    return f"INFO [RaftManager id={voter}] Completed transition to Voted(epoch={epoch}, votedKey={key}, {VOTERS}, electionTimeoutMs=1500, highWatermark=Optional.empty) {RAFT}"


def follows(voter: int, epoch: int, leader: int) -> str:
    """Of Kafka 3.8."""
    return f"INFO [RaftManager id={voter}] Completed transition to FollowerState(fetchTimeoutMs=2000, epoch={epoch}, leader=127.0.0.1:54069 (id: {leader} rack: null) {VOTERS}, highWatermark=Optional.empty, fetchingSnapshot=Optional.empty) from Unattached(epoch={epoch}, {VOTERS}, electionTimeoutMs=1500) {RAFT}"


def active(voter: int, epoch: int) -> str:
    return f"INFO [QuorumController id={voter}] Becoming the active controller at epoch {epoch}, next write offset 9. {QUORUM}"


def with_broker_2() -> dict[str, str]:
    """Controller 101 is elected by 102 and 103, and broker 2 is registered and unfenced."""
    registered = f"RegisterBrokerRecord({BROKER}, endPoints=[], features=[], rack=null, fenced=true, inControlledShutdown=false, logDirs=[])"
    caught_up = "The request from broker 2 to unfence has been granted because it has caught up with the offset of its register broker record 4."
    return {
        "controller-101": f"""
            06:23:08,000] {candidate(101, 1)}
            06:23:09,000] {leads(101, 1)}
            06:23:09,100] {active(101, 1)}
            06:23:09,848] INFO [QuorumController id=101] Replayed initial RegisterBrokerRecord for broker 2: {registered} {CLUSTER}
            06:23:10,365] INFO [QuorumController id=101] {caught_up} (org.apache.kafka.controller.BrokerHeartbeatManager)
        """,
        "controller-102": f"""
            06:23:08,500] {votes(102, 1, 101)}
            06:23:09,200] {follows(102, 1, 101)}
        """,
        "controller-103": f"""
            06:23:08,500] {votes(103, 1, 101)}
            06:23:09,200] {follows(103, 1, 101)}
        """,
    }


@pytest.mark.slow
def test_a_follower_of_3_8_names_its_leader_with_the_address(tmp_path: Path) -> None:
    reading, found = answer(tmp_path, with_broker_2())
    assert [event.fields["leader"] for event in reading.events if event.kind == "QuorumFollower"] == [101, 101]
    assert (is_alright(found), found.counts.unmapped) == (True, 0)


FENCING = f"""
            06:23:26,604] INFO [QuorumController id=101] Fencing broker 2 because its session has timed out. {REPLICATION}
            06:23:26,605] INFO [QuorumController id=101] handleBrokerFenced: changing 9 partition(s) {REPLICATION}
            06:23:26,606] INFO [QuorumController id=101] Replayed BrokerRegistrationChangeRecord modifying the registration for broker 2: BrokerRegistrationChangeRecord(brokerId=2, brokerEpoch=4, fenced=1, inControlledShutdown=0, logDirs=[]) {CLUSTER}
            06:23:26,621] INFO [QuorumController id=101] maybeFenceReplicas: event failed with NotLeaderException (treated as NotControllerException) at epoch 1 in 15869 microseconds. Renouncing leadership and reverting to the last committed offset 342. Exception message: Append failed because the replica is not the current leader {QUORUM}
"""


def leaving(voter: int) -> str:
    return f"06:23:46,900] INFO [QuorumController id={voter}] Unfenced broker 2 has requested and been granted a controlled shutdown. (org.apache.kafka.controller.BrokerHeartbeatManager)"


def paused(fencing: str) -> dict[str, str]:
    """Controller 101 was paused, and 102 is elected in its place; the broker, which only 101 had not heard of, is shut down later."""
    logs = with_broker_2()
    logs["controller-101"] += fencing
    logs["controller-102"] += f"""
            06:23:20,000] {candidate(102, 2)}
            06:23:20,500] {leads(102, 2)}
            06:23:20,600] {active(102, 2)}
            {leaving(102)}
    """
    logs["controller-103"] += f"""
            06:23:20,200] {votes(103, 2, 102)}
            06:23:20,700] {follows(103, 2, 102)}
    """
    return logs


def actions(found: Validation) -> list[str]:
    return [each.action for each in found.violations]


@pytest.mark.slow
def test_what_a_deposed_controller_writes_before_it_hears_of_it_is_void(tmp_path: Path) -> None:
    _, found = answer(tmp_path, paused(FENCING))
    assert (is_alright(found), found.counts.unmapped) == (True, 0)
    steps = [step.action for step in found.execution.steps] if found.execution is not None else []
    assert "void_write" in steps
    assert "fence" not in steps


@pytest.mark.slow
def test_what_a_controller_writes_whom_nobody_deposed_is_not_void(tmp_path: Path) -> None:
    logs = with_broker_2()
    logs["controller-101"] += "".join(FENCING.splitlines(keepends=True)[:-1]) + leaving(101)
    _, found = answer(tmp_path, logs)
    assert actions(found) == ["begin_shutdown"]


@pytest.mark.slow
def test_a_controller_whose_write_was_void_commits_nothing_more_in_its_epoch(tmp_path: Path) -> None:
    again = "06:23:27,604] INFO [QuorumController id=101] Fencing broker 2 because its session has timed out."
    logs = paused(FENCING + f"            {again} {REPLICATION}\n")
    _, found = answer(tmp_path, logs)
    assert found.verdict is not TraceVerdict.CONSISTENT
    assert actions(found) != []


def looks_early(version: str) -> dict[str, str]:
    """Broker 2 finds that 1 is controller before it has registered."""
    registered = "at path /brokers/ids/{} with addresses: EndPoint(127.0.0.1,47697,ListenerName(PLAINTEXT),PLAINTEXT) (kafka.utils.ZkUtils)"
    started = f"INFO Kafka version : {version} (org.apache.kafka.common.utils.AppInfoParser)"
    return {
        "broker-1": f"""
            08:05:43,600] {started}
            08:05:43,611] INFO starting (kafka.server.KafkaServer)
            08:05:43,912] {opens("0x1a2024a1f010003")}
            08:06:00,016] INFO [Controller id=1] 1 successfully elected as the controller {CONTROLLER}
            08:06:00,029] INFO [Controller id=1] Epoch incremented to 1 {CONTROLLER}
            08:06:00,829] INFO Registered broker 1 {registered.format(1)}
        """,
        "broker-2": f"""
            08:06:10,600] {started}
            08:06:10,611] INFO starting (kafka.server.KafkaServer)
            08:06:10,912] {opens("0x1a2024a1f010004")}
            08:06:11,381] DEBUG [Controller id=2] Broker 1 has been elected as the controller, so stopping the election process. {CONTROLLER}
            08:06:12,827] INFO Registered broker 2 {registered.format(2)}
            08:06:19,104] TRACE [Controller id=1] Changed partition again-1 state from OfflinePartition to NonExistentPartition (state.change.logger)
            08:06:20,372] INFO [KafkaServer id=2] Error code from controller: 0 (kafka.server.KafkaServer)
        """,
    }


def test_a_broker_looks_for_the_controller_before_it_registers_before_1_1(tmp_path: Path) -> None:
    _, found = answer(tmp_path, looks_early("1.0.2"))
    assert (actions(found), found.counts.unmapped) == ([], 0)
    steps = [step.action for step in found.execution.steps] if found.execution is not None else []
    assert "controller.look_unregistered" in steps


@pytest.mark.slow
def test_and_not_later(tmp_path: Path) -> None:
    _, found = answer(tmp_path, looks_early("2.0.1"))
    assert actions(found) != []


def test_a_broker_with_a_chroot_closes_a_first_session_and_goes_on(tmp_path: Path) -> None:
    """As Kafka 2.2 does at each start."""
    keeper = "(org.apache.zookeeper.ZooKeeper)"
    node = "67,67,1795417021627,1795417021627,1,0,0,117664448857702404,190,0,67"
    lines = f"""
        06:56:52,669] INFO starting (kafka.server.KafkaServer)
        06:56:53,280] {opens("0x1a207315cdb0001")}
        06:56:53,585] INFO Created zookeeper path /kafka (kafka.server.KafkaServer)
        06:56:53,599] INFO Session: 0x1a207315cdb0001 closed {keeper}
        06:56:53,660] {opens("0x1a207315cdb0004")}
        06:57:01,627] INFO Creating /brokers/ids/2 (is it secure? false) (kafka.zk.KafkaZkClient)
        06:57:01,640] INFO Stat of the created znode at /brokers/ids/2 is: {node} (kafka.zk.KafkaZkClient)
        06:57:09,599] INFO Session: 0x1a207315cdb0004 closed {keeper}
    """
    _, found = answer(tmp_path, {"broker-2": lines})
    assert (actions(found), found.counts.unmapped) == ([], 0)
    steps = [step.action for step in found.execution.steps] if found.execution is not None else []
    assert steps.count("controller.close_first_session") == 1
    assert steps.count("controller.stop") == 1


@pytest.mark.parametrize(
    "moved",
    [
        "with new replica assignment ReplicaAssignment(replicas=1,3, addingReplicas=1, removingReplicas=3)",
        "with new assigned replica list 1,3",
    ],
)
def test_a_partition_without_a_leader_may_be_moved(moved: str, tmp_path: Path) -> None:
    """Of 2.4 to 2.6, and before: the request goes to leader -1."""
    sent = f"[Controller id=2 epoch=3] Sent LeaderAndIsr request (Leader:-1,ISR:3,LeaderEpoch:5,ControllerEpoch:3) {moved} to leader -1"
    reading, _ = answer(
        tmp_path,
        {"broker-2": f"07:16:55,398] TRACE {sent} for partition being reassigned solo-1 (state.change.logger)"},
    )
    (event,) = (event for event in reading.events if event.kind == "ReassignmentSent")
    assert (event.fields["replicas"], event.fields.get("leader"), event.fields.get("to")) == ((1, 3), None, None)


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (
            "INFO [QuorumController id=101] Replayed UnregisterControllerRecord(controllerId=104) (org.apache.kafka.controller.ClusterControlManager)",
            "Routine",
        ),
        (
            "INFO Recorded new KRaft controller, from now on will use node 127.0.0.1:31053 (id: 103 rack: null isFenced: false) (org.apache.kafka.server.NodeToControllerRequestThread)",
            "QuorumLeaderHeard",
        ),
        (
            "INFO [QuorumController id=101] Unfenced broker 2 has requested and been granted fencing. (org.apache.kafka.controller.BrokerHeartbeatManager)",
            "BrokerFencing",
        ),
        (
            "INFO [RaftManager id=101] The latest computed high watermark 506 is smaller than the current value 507, which should only happen when voter set membership changes. (org.apache.kafka.raft.LeaderState)",
            "Routine",
        ),
        (
            f"INFO [QuorumController id=101] Rejecting AlterPartition request from node 1 for audit-0 because the current partition epoch is 9, not 8. isr: [1] -> [1, 2] {REPLICATION}",
            "AlterPartitionStale",
        ),
        (
            f"INFO [QuorumController id=101] Removing heartbeat tracker entry for unknown broker 3 at epoch 582. {REPLICATION}",
            "Routine",
        ),
    ],
)
def test_lines_of_4_2_to_4_4_have_a_shape(line: str, kind: str, tmp_path: Path) -> None:
    reading, _ = answer(tmp_path, {"controller-101": f"06:23:11,848] {line}"})
    assert (reading.unmapped, [event.kind for event in reading.events]) == ((), [kind])


HEARD = "INFO Recorded new KRaft controller, from now on will use node 127.0.0.1:31053 (id: 101 rack: null isFenced: false) (org.apache.kafka.server.NodeToControllerRequestThread)"
ELECTED = "INFO Setting new leader for topicId DLo4IXx2Tg6gEtsPewjyTQ, partition 0 to 1 using ELR. Previous partition: (none) (org.apache.kafka.controller.PartitionChangeBuilder)"


def test_lines_of_which_no_rule_needs_the_writer_may_be_of_any_node(tmp_path: Path) -> None:
    """Since 4.3 a broker does not name itself where it says which controller it has heard of."""
    merged = f"""
        06:23:08,000] {candidate(101, 1)}
        06:23:08,500] {votes(102, 1, 101)}
        06:23:09,000] {leads(101, 1)}
        06:23:09,200] {follows(102, 1, 101)}
        06:23:09,300] {HEARD}
        06:23:09,400] {ELECTED}
    """
    reading, _ = answer(tmp_path, {"all": merged})
    assert [notice.kind for notice in reading.notices if "nodes" in notice.kind] == ["merged nodes"]


def test_the_topic_of_a_move_is_told_from_what_4_3_says_behind_it(tmp_path: Path) -> None:
    change = "PartitionChangeRecord(partitionId=0, topicId=PyovnnLUQ9ePIQOppRkqbg, isr=null, leader=-2, replicas=[2, 3, 1], removingReplicas=[1], addingReplicas=[2], leaderRecoveryState=-1, directories=[], eligibleLeaderReplicas=null, lastKnownElr=null)"
    behind = "(isr: [1, 3] -> [1, 3], replicaSet: [3, 1] -> [2, 3, 1], partitionEpoch: 8, leaderEpoch: 3)"
    line = f"INFO [QuorumController id=101] Replayed partition assignment change {change} for topic au.dit. {behind} {REPLICATION}"
    reading, _ = answer(tmp_path, {"controller-101": f"06:23:11,848] {line}"})
    assert [event.fields["topic"] for event in reading.events] == ["au.dit"]


def taken_off(voter: int, epoch: int) -> str:
    return (
        f"INFO [QuorumController id={voter}] Replayed UnregisterBrokerRecord(brokerId=2, brokerEpoch={epoch}) {CLUSTER}"
    )


def leads_in(version: int, leader_epoch: int, isr: str) -> str:
    """Broker 1 leads audit-0."""
    return f"INFO [Broker id=1] Leader audit-0 with topic id Some(vZd5T6jHTOuXicciv7JW3g) starts at leader epoch {leader_epoch} from offset 0 with partition epoch {version}, high watermark 0, ISR [{isr}], adding replicas [] and removing replicas [] . Previous leader None and previous leader epoch was -1. (state.change.logger)"


def with_a_partition(taken: dict[str, str]) -> dict[str, str]:
    """Broker 2 leads audit-0, of which 1 is the other replica; then it is gone."""
    registered = "RegisterBrokerRecord(brokerId=1, incarnationId=aVLPP2fDTiON46Wqb2clBw, brokerEpoch=6, endPoints=[], features=[], rack=null, fenced=true, inControlledShutdown=false, logDirs=[])"
    partition = "PartitionRegistration(replicas=[2, 1], directories=[PUhP-HCIhXiJgju-7dCPEw, Nl8j88VJB7tZecyXQfH7iw], isr=[2, 1], removingReplicas=[], addingReplicas=[], elr=[], lastKnownElr=[], leader=2, leaderRecoveryState=RECOVERED, leaderEpoch=0, partitionEpoch=0)"
    logs = with_broker_2()
    logs["controller-101"] += f"""
            06:23:11,848] INFO [QuorumController id=101] Replayed initial RegisterBrokerRecord for broker 1: {registered} {CLUSTER}
            06:23:12,365] INFO [QuorumController id=101] The request from broker 1 to unfence has been granted because it has caught up with the offset of its register broker record 6. (org.apache.kafka.controller.BrokerHeartbeatManager)
            06:23:13,425] INFO [QuorumController id=101] Replayed PartitionRecord for new partition audit-0 with topic ID vZd5T6jHTOuXicciv7JW3g and {partition}. {REPLICATION}
    """
    for voter, lines in taken.items():
        logs[voter] += lines
    logs["broker-1"] = f"""
            06:23:26,800] {leads_in(1, 1, "1")}
    """
    return logs


@pytest.mark.slow
def test_an_operator_takes_a_broker_off_that_runs(tmp_path: Path) -> None:
    taken = {
        "controller-101": f"06:23:26,604] {taken_off(101, 4)}\n",
        "controller-102": f"06:23:26,650] {taken_off(102, 4)}\n",
    }
    _, found = answer(tmp_path, with_a_partition(taken))
    assert (actions(found), found.counts.unmapped) == ([], 0)
    steps = [step.action for step in found.execution.steps] if found.execution is not None else []
    assert (steps.count("unregister"), steps.count("restate_unregistration")) == (1, 1)


@pytest.mark.slow
def test_nobody_takes_over_from_a_broker_that_was_not_taken_off(tmp_path: Path) -> None:
    _, found = answer(tmp_path, with_a_partition({}))
    assert actions(found) != []


@pytest.mark.slow
def test_who_was_taken_off_in_an_earlier_epoch_is_here_in_the_present_one(tmp_path: Path) -> None:
    _, found = answer(tmp_path, with_a_partition({"controller-101": f"06:23:26,604] {taken_off(101, 3)}\n"}))
    assert actions(found) != []


@pytest.mark.slow
def test_who_was_taken_off_is_unfenced_only_when_it_has_registered_again(tmp_path: Path) -> None:
    back = "INFO [QuorumController id=101] The request from broker 2 to unfence has been granted because it has caught up with the offset of its register broker record 4."
    lines = f"06:23:26,604] {taken_off(101, 4)}\n06:23:28,604] {back} (org.apache.kafka.controller.BrokerHeartbeatManager)\n"
    _, found = answer(tmp_path, with_a_partition({"controller-101": lines}))
    assert actions(found) == ["unfence"]


ALTERED = f"INFO [QuorumController id=101] Successfully altered 1 out of 1 partition reassignment(s). {REPLICATION}"


def test_a_replica_that_lives_is_taken_off_when_the_controller_was_asked(tmp_path: Path) -> None:
    _, found = answer(tmp_path, with_a_partition({"controller-101": f"06:23:26,604] {ALTERED}\n"}))
    assert (actions(found), found.counts.unmapped) == ([], 0)
    assert len(found.slices) == 1


def test_nobody_is_taken_off_long_after(tmp_path: Path) -> None:
    """Something else was written since."""
    logs = with_a_partition({})
    logs["controller-101"] = logs["controller-101"].replace("06:23:11,848]", f"06:23:11,000] {ALTERED}\n06:23:11,848]")
    _, found = answer(tmp_path, logs)
    assert actions(found) != []
