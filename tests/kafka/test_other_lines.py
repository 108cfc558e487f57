"""Lines of versions that no recording is of, a few at a time, as clusters of these versions wrote them."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.cli.settings import load
from assay.traces.log_reader import LogReading, read_logs
from assay.traces.result import TraceVerdict, Validation
from assay.traces.spec_selection import validate_with_selection

RAFT = "(org.apache.kafka.raft.QuorumState)"
VOTERS = "voters=[101, 102, 103], electionTimeoutMs=1500"
CONTROLLER = "(kafka.controller.KafkaController)"


def opens(session: str) -> str:
    """A broker has a session of ZooKeeper."""
    return f"INFO Session establishment complete on server 127.0.0.1/127.0.0.1:47843, sessionid = {session}, negotiated timeout = 6000 (org.apache.zookeeper.ClientCnxn)"


def answer(folder: Path, logs: dict[str, str]) -> tuple[LogReading, Validation]:
    """Of the lines of each node, which are given without the date."""
    for name, lines in logs.items():
        (folder / name).mkdir()
        dated = "".join(f"[2026-11-22 {line.strip()}\n" for line in lines.strip().splitlines())
        (folder / name / "server.log").write_text(dated)
    reading = read_logs([folder])
    return reading, validate_with_selection(reading, None, lambda spec: load(spec, None, {}))[1]


@pytest.mark.everyday(1)
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
    """Controller 101 is elected with the vote of 102, and its lines follow. ``first`` is the broker epoch, and
    ``offset`` what a broker catches up with.
    """
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


def is_alright(found: Validation) -> bool:
    """Whether nothing is wrong; with the logs of controllers alone it is supposed what became of partitions."""
    reason = "no log of a broker was read: what became of partitions after they were created is supposed"
    return reason in found.rests_on and (found.verdict, found.violations) == (TraceVerdict.CONSISTENT, ())


def remarks(found: Validation) -> list[str]:
    return [remark.text.partition(":")[0] for remark in found.remarks]


@pytest.mark.slow
def test_a_registration_in_a_batch_of_records_is_known_by_the_last_of_them(tmp_path: Path) -> None:
    _, found = answer(tmp_path, elected(4, 5))
    assert (is_alright(found), found.counts.unmapped) == (True, 0)
    assert remarks(found) == ["Kafka before 3.6"]


@pytest.mark.slow
def test_a_registration_by_itself_is_known_by_its_own_offset(tmp_path: Path) -> None:
    _, found = answer(tmp_path, elected(4, 4))
    assert (is_alright(found), remarks(found)) == (True, [])


@pytest.mark.slow
def test_nobody_catches_up_with_what_is_before_its_registration(tmp_path: Path) -> None:
    _, found = answer(tmp_path, elected(4, 3))
    assert [each.action for each in found.violations] != []


@pytest.mark.slow
def test_a_voter_that_starts_with_an_empty_disk_is_a_risk_and_no_violation(tmp_path: Path) -> None:
    logs = elected(4, 4)
    logs["controller-102"] += f"""
        04:31:37,554] INFO [RaftManager nodeId=102] Completed transition to Unattached(epoch=0, {VOTERS}) {RAFT}
    """
    _, found = answer(tmp_path, logs)
    assert (is_alright(found), found.properties) == (True, ())
    assert remarks(found) == ["a controller starts with an empty disk"]


STARTS = "04:30:08,100] INFO [SharedServer id=102] Starting SharedServer (kafka.server.SharedServer)"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("start", "verdict"),
    [
        pytest.param(STARTS, TraceVerdict.INCONSISTENT, id="one process"),
        pytest.param("", TraceVerdict.INCONCLUSIVE, id="perhaps another process, of another cluster"),
    ],
)
def test_a_voter_that_goes_back_to_an_epoch_that_it_knew_is_a_violation(
    start: str, verdict: TraceVerdict, tmp_path: Path
) -> None:
    logs = elected(4, 4)
    logs["controller-102"] = (
        start
        + logs["controller-102"].replace("epoch=1", "epoch=2").replace("votedId=101, ", "")
        + f"""
        04:31:37,554] INFO [RaftManager nodeId=102] Completed transition to Unattached(epoch=1, {VOTERS}) {RAFT}
    """
    )
    _, found = answer(tmp_path, logs)
    assert (found.verdict, found.violations != ()) == (verdict, verdict is TraceVerdict.INCONSISTENT)


@pytest.mark.slow
def test_a_controller_apart_from_brokers_is_known_by_the_lines_of_the_quorum(tmp_path: Path) -> None:
    reading, _ = answer(tmp_path, elected(4, 4))
    assert {node.name: node.brokers for node in reading.nodes} == {"controller-101": (101,), "controller-102": (102,)}


@pytest.mark.slow
def test_a_broker_before_1_1_resigns_when_it_has_its_next_session_and_lives_on(tmp_path: Path) -> None:
    """A follower's line then names the controller of the request, and the epoch in which the partition was last written: not that of a request."""
    client, zkclient = "(org.apache.zookeeper.ClientCnxn)", "(org.I0Itec.zkclient.ZkClient)"
    registered = "Registered broker 1 at path /brokers/ids/1 with addresses: EndPoint(127.0.0.1,47697,ListenerName(PLAINTEXT),PLAINTEXT) (kafka.utils.ZkUtils)"
    lines = f"""
        08:05:43,611] INFO starting (kafka.server.KafkaServer)
        08:05:43,912] {opens("0x1a2024a1f010003")}
        08:05:45,827] INFO {registered}
        08:06:00,016] INFO [Controller 1]: 1 successfully elected as the controller {CONTROLLER}
        08:06:00,029] INFO [Controller 1]: Controller 1 incremented epoch to 1 {CONTROLLER}
        08:06:18,931] WARN Unable to reconnect to ZooKeeper service, session 0x1a2024a1f010003 has expired {client}
        08:06:18,931] INFO zookeeper state changed (Expired) {zkclient}
        08:06:18,950] {opens("0x1a2024a1f010005")}
        08:06:18,958] INFO [Controller 1]: Broker 1 resigned as the controller {CONTROLLER}
        08:06:18,971] INFO {registered}
        08:06:22,016] INFO [Controller 1]: 1 successfully elected as the controller {CONTROLLER}
        08:06:22,029] INFO [Controller 1]: Controller 1 incremented epoch to 2 {CONTROLLER}
        08:06:23,002] ERROR Broker 1 received LeaderAndIsrRequest with correlation id 1 from controller 1 epoch 1 for partition audit-1 but cannot become follower since the new leader 3 is unavailable. (state.change.logger)
        08:06:23,003] INFO Broker 1 skipped the become-follower state change after marking its partition as follower with correlation id 1 from controller 1 epoch 1 for partition audit-2 since the new leader 3 is the same as the old leader (state.change.logger)
        08:06:23,104] TRACE Broker 1 stopped fetchers as part of become-follower request from controller 1 epoch 2 with correlation id 1 for partition audit-0 (state.change.logger)
    """
    reading, found = answer(tmp_path, {"broker-1": lines})
    assert (found.violations, found.counts.unmapped) == ((), 0)
    assert [event.fields["epoch"] for event in reading.events if event.kind == "StateControllerEpoch"] == [1, 1]
    assert [event.fields["epoch"] for event in reading.events if event.kind == "RequestFromController"] == [2]
    steps = [step.action for step in found.execution.steps] if found.execution is not None else []
    assert "controller.resign_meanwhile" in steps
    assert "controller.stop" not in steps


@pytest.mark.slow
@pytest.mark.parametrize("version", ["1.1.1", "3.4.1"])
def test_a_broker_may_end_its_resignation_in_its_next_session(version: str, tmp_path: Path) -> None:
    """All lines of a broker in one file, as on its standard output: the order of the two threads is then told."""
    before, after = "0x100002640ab0004", "0x100002640ab0007"

    def registers(session: str, epoch: int) -> str:
        return f"INFO Stat of the created znode at /brokers/ids/3 is: {epoch},{epoch},1795573401782,1795573401782,1,0,0,{int(session, 16)},204,0,{epoch} (kafka.zk.KafkaZkClient)"

    won = "3 successfully elected as the controller. Epoch incremented to {0} and epoch zk version is now {0}"
    lines = f"""
        02:21:38,700] INFO Kafka version: {version} (org.apache.kafka.common.utils.AppInfoParser)
        02:21:38,745] INFO starting (kafka.server.KafkaServer)
        02:21:38,912] {opens(before)}
        02:21:39,827] {registers(before, 27)}
        02:21:40,016] INFO [Controller id=3] {won.format(1)} {CONTROLLER}
        02:23:21,665] WARN Unable to reconnect to ZooKeeper service, session {before} has expired (org.apache.zookeeper.ClientCnxn)
        02:23:21,771] DEBUG [Controller id=3] Resigning {CONTROLLER}
        02:23:21,772] INFO [ZooKeeperClient Kafka server] Initializing a new session to 127.0.0.1:60443. (kafka.zookeeper.ZooKeeperClient)
        02:23:21,779] {opens(after)}
        02:23:21,781] INFO [Controller id=3] Resigned {CONTROLLER}
        02:23:21,783] {registers(after, 329)}
        02:23:21,784] INFO [Controller id=3] {won.format(2)} {CONTROLLER}
    """
    _, found = answer(tmp_path, {"broker-3": lines})
    assert (found.violations, found.counts.unmapped, found.remarks) == ((), 0, ())
    steps = [step.action for step in found.execution.steps] if found.execution is not None else []
    assert "controller.resign_meanwhile" in steps


@pytest.mark.slow
@pytest.mark.parametrize("version", ["1.0.2", "2.0.1"])
def test_a_broker_that_is_not_controller_resigns_nothing_and_lives_on(version: str, tmp_path: Path) -> None:
    """As Kafka 1.0 says at each shutdown; it is not told as known behaviour."""
    registered = "Registered broker {} at path /brokers/ids/{} with addresses: EndPoint(127.0.0.1,47697,ListenerName(PLAINTEXT),PLAINTEXT) (kafka.utils.ZkUtils)"
    started = f"INFO Kafka version : {version} (org.apache.kafka.common.utils.AppInfoParser)"
    logs = {
        "broker-1": f"""
            08:05:43,600] {started}
            08:05:43,611] INFO starting (kafka.server.KafkaServer)
            08:05:43,912] {opens("0x1a2024a1f010003")}
            08:05:45,827] INFO {registered.format(1, 1)}
            08:06:00,016] INFO [Controller id=1] 1 successfully elected as the controller {CONTROLLER}
            08:06:00,029] INFO [Controller id=1] Epoch incremented to 1 {CONTROLLER}
        """,
        "broker-2": f"""
            08:06:10,600] {started}
            08:06:10,611] INFO starting (kafka.server.KafkaServer)
            08:06:10,912] {opens("0x1a2024a1f010004")}
            08:06:11,827] INFO {registered.format(2, 2)}
            08:06:12,381] DEBUG [Controller id=2] Broker 1 has been elected as the controller, so stopping the election process. {CONTROLLER}
            08:06:13,000] INFO [Controller id=2] Resigned {CONTROLLER}
            08:06:14,381] DEBUG [Controller id=2] Broker 1 has been elected as the controller, so stopping the election process. {CONTROLLER}
        """,
    }
    _, found = answer(tmp_path, logs)
    assert (found.violations, found.remarks, found.counts.unmapped) == ((), (), 0)
    steps = [step.action for step in found.execution.steps] if found.execution is not None else []
    assert "controller.resign_nothing" in steps
    assert "controller.resign_late" not in steps


@pytest.mark.slow
def test_what_brokers_and_controllers_of_kraft_say_of_a_leader_that_is_away_is_known(tmp_path: Path) -> None:
    away = "Unable to start fetching audit-3 with topic ID Some(aeAX_ptFTpS8CpugsrxSXw)"
    logs = {
        **elected(5, 5),
        "broker-1": f"""
            08:48:00,248] TRACE [Broker id=1] {away} from leader Some(-1) because it is not alive. (state.change.logger)
            08:48:00,249] TRACE [Broker id=1] {away} from leader None because it is not alive. (state.change.logger)
            08:48:00,250] TRACE [Broker id=1] {away} because the replica manager is shutting down. (state.change.logger)
        """,
        "controller-103": """
            08:42:34,063] INFO [QuorumController id=103] registerBroker: event failed with NotControllerException in 559 microseconds. (org.apache.kafka.controller.QuorumController)
        """,
    }
    reading, _ = answer(tmp_path, logs)
    assert reading.unmapped == ()
    kinds = [event.kind for event in reading.events]
    assert (kinds.count("FetchError"), kinds.count("ControllerRequestRefused")) == (3, 1)


ISR = "[Partition orders-0 broker=1] ISR updated from AlterIsr to 1,2 and version updated to [2]"
SENDER = "[broker-1-to-controller-send-thread]: Recorded new controller, from now on will use broker 3"


@pytest.mark.slow
def test_what_leaders_of_2_7_hear_of_their_isr_is_read(tmp_path: Path) -> None:
    lines = f"""
        23:03:20,760] INFO {SENDER} (kafka.server.BrokerToControllerRequestThread)
        23:03:43,488] INFO {ISR} (kafka.cluster.Partition)
    """
    reading, found = answer(tmp_path, {"broker-1": lines})
    assert reading.kinds == {"NewControllerKnown": 1, "IsrUpdated": 1}
    known, updated = reading.events
    assert (known.fields["broker"], known.fields["controller"]) == (1, 3)
    assert (updated.fields["isr"], updated.fields["version"]) == ((1, 2), 2)
    assert found.counts.unmapped == 0


def test_kraft_before_3_3_has_no_model(tmp_path: Path) -> None:
    """Brokers do not say there which change of a partition they have heard of."""
    line = "[Controller 2] Unfenced broker: UnfenceBrokerRecord(id=2, epoch=0)"
    _, found = answer(
        tmp_path, {"broker-2": f"23:09:59,008] INFO {line} (org.apache.kafka.controller.ClusterControlManager)"}
    )
    assert found.verdict is TraceVerdict.INCONCLUSIVE
    assert "before Kafka 3.3" in str(found.reason)
    assert found.violations == ()


def purgatory(event: str) -> str:
    return f"04:30:10,500] INFO [QuorumController id=101] failAll(NotControllerException): failing {event}. (org.apache.kafka.controller.ControllerPurgatory)"


def test_what_a_deposed_controller_gives_up_is_routine(tmp_path: Path) -> None:
    reading, _ = answer(tmp_path, {"controller-101": purgatory("maybeFenceReplicas(1795388391)")})
    assert reading.kinds == {"Routine": 1}


FETCH = "fetchTimeoutMs=2000"
LIFE = "(kafka.server.BrokerLifecycleManager)"


def one_of_three(votes: str) -> dict[str, str]:
    """Of three nodes that are broker and controller the logs of the first: 2 leads, what it commands is not read, and then 1 does."""
    replayed = "RegisterBrokerRecord(brokerId=1, incarnationId=rVLPP2fDTiON46Wqb2clBw, brokerEpoch=4, endPoints=[], features=[], rack=null, fenced=true)"
    two = "voters=[1, 2, 3], highWatermark=Optional.empty, fetchingSnapshot=Optional.empty"
    return {
        "broker-1": f"""
            04:30:08,500] INFO [RaftManager nodeId=1] Completed transition to Voted(epoch=1, votedId=2, voters=[1, 2, 3], electionTimeoutMs=1500) {RAFT}
            04:30:08,900] INFO [RaftManager nodeId=1] Completed transition to FollowerState({FETCH}, epoch=1, leaderId=2, {two}) {RAFT}
            04:30:09,848] INFO [Controller 1] Registered new broker: {replayed} (org.apache.kafka.controller.ClusterControlManager)
            04:30:09,900] INFO [BrokerLifecycleManager id=1] Successfully registered broker 1 with broker epoch 4 {LIFE}
            04:30:10,400] INFO [BrokerLifecycleManager id=1] The broker has been unfenced. Transitioning from RECOVERY to RUNNING. {LIFE}
            04:30:18,000] INFO [RaftManager nodeId=1] Completed transition to CandidateState(localId=1, epoch=2, retries=1, electionTimeoutMs=1717) {RAFT}
            04:30:19,000] INFO [RaftManager nodeId=1] Completed transition to Leader(localId=1, epoch=2, epochStartOffset=9, highWatermark=Optional.empty) {RAFT}
            04:30:19,100] INFO [Controller 1] Becoming the active controller at epoch 2, committed offset 8, committed epoch 1 (org.apache.kafka.controller.QuorumController)
            04:30:25,000] INFO [Controller 1] Fencing broker 1 because its session has timed out. (org.apache.kafka.controller.ReplicationControlManager)
            {votes}
        """
    }


def test_votes_and_commands_of_voters_without_logs_are_supposed(tmp_path: Path) -> None:
    later = f"""
            04:30:28,500] INFO [RaftManager nodeId=1] Completed transition to Voted(epoch=3, votedId=3, voters=[1, 2, 3], electionTimeoutMs=1500) {RAFT}
    """
    _, found = answer(tmp_path, one_of_three(later))
    assert (found.verdict, found.violations, found.properties) == (TraceVerdict.CONSISTENT, (), ())
    assert any("logs are missing" in each for each in found.rests_on)


@pytest.mark.slow
def test_a_voter_that_votes_twice_is_found_where_others_have_no_logs(tmp_path: Path) -> None:
    twice = f"""
            04:30:28,500] INFO [RaftManager nodeId=1] Completed transition to Voted(epoch=3, votedId=3, voters=[1, 2, 3], electionTimeoutMs=1500) {RAFT}
            04:30:28,600] INFO [RaftManager nodeId=1] Completed transition to Voted(epoch=3, votedId=2, voters=[1, 2, 3], electionTimeoutMs=1500) {RAFT}
    """
    _, found = answer(tmp_path, one_of_three(twice))
    assert [(each.event.kind, each.event.fields["voted"]) for each in found.violations] == [("QuorumUnattached", 2)]


@pytest.mark.slow
def test_who_wins_needs_the_votes_of_those_whose_logs_are_there(tmp_path: Path) -> None:
    logs = elected(4, 4)
    logs["controller-102"] = logs["controller-102"].replace("votedId=101, ", "")
    _, found = answer(tmp_path, logs)
    assert "win" in {each.action for each in found.violations}


def joining(first: int) -> dict[str, str]:
    """Controller 101 is the only voter; 102 is an observer, joins, and stands for the first time in epoch ``first`` (KIP-853)."""
    states = "{101=ReplicaState(replicaKey=ReplicaKey(id=101, directoryId=Optional.empty), endOffset=Optional.empty, lastFetchTimestamp=-1)}"
    waiting, watching = (
        "electionTimeoutMs=1500, highWatermark=Optional.empty",
        "voters=[], highWatermark=Optional.empty",
    )
    return {
        "controller-101": f"""
            04:30:08,000] INFO [RaftManager id=101] Completed transition to Unattached(epoch=0, votedKey=null, voters=[101], {waiting}) from null {RAFT}
            04:30:08,100] INFO [RaftManager id=101] Completed transition to CandidateState(localId=101, localDirectoryId=Ed6DNJWLR3iO3-3bQMZ_Rg,epoch=1, retries=1, electionTimeoutMs=1717) {RAFT}
            04:30:09,000] INFO [RaftManager id=101] Completed transition to Leader(localReplicaKey=ReplicaKey(id=101, directoryId=Optional.empty), epoch=1, epochStartOffset=0, highWatermark=Optional.empty, voterStates={states}) from CandidateState {RAFT}
        """,
        "controller-102": f"""
            04:30:09,500] INFO [RaftManager id=102] Completed transition to Unattached(epoch=0, votedKey=null, voters=[], {waiting}) from null {RAFT}
            04:30:09,600] INFO [RaftManager id=102] Completed transition to FollowerState({FETCH}, epoch=1, leader=101, {watching}, fetchingSnapshot=Optional.empty) {RAFT}
            04:30:20,000] INFO [RaftManager id=102] Completed transition to CandidateState(localId=102, localDirectoryId=WzQUh8FVN_1uagWgfi1Xfg,epoch={first}, retries=1, electionTimeoutMs=1717) {RAFT}
        """,
    }


@pytest.mark.slow
def test_the_only_voter_wins_alone_and_observers_join_later(tmp_path: Path) -> None:
    reading, found = answer(tmp_path, joining(2))
    assert [event.fields.get("voters") for event in reading.events if event.kind == "QuorumLeader"] == [(101,)]
    assert (found.violations, found.counts.unmapped) == ((), 0)


@pytest.mark.slow
def test_an_observer_stands_in_no_epoch_but_the_next(tmp_path: Path) -> None:
    _, found = answer(tmp_path, joining(3))
    assert [each.event.kind for each in found.violations] == ["QuorumCandidate"]


def alone(*lines: str) -> dict[str, str]:
    """Broker 2 is fenced, and comes back before it has applied that. It has the only replica of a partition, and
    ``lines`` are what it logs about it.
    """
    record = "RegisterBrokerRecord(brokerId=2, incarnationId=rVLPP2fDTiON46Wqb2clBw, brokerEpoch=4, endPoints=[], features=[], rack=null, fenced=true)"
    control, life = (
        "(org.apache.kafka.controller.ClusterControlManager)",
        "(org.apache.kafka.controller.BrokerHeartbeatManager)",
    )
    replicated = "(org.apache.kafka.controller.ReplicationControlManager)"
    granted = "The request from broker 2 to unfence has been granted because it has caught up with the offset of its register broker record 4."
    created = "Replayed PartitionRecord for new partition solo-2 with topic ID m1QygnyXS-SM8_3gvETl8A and PartitionRegistration(replicas=[2], isr=[2], removingReplicas=[], addingReplicas=[], leader=2, leaderRecoveryState=RECOVERED, leaderEpoch=0, partitionEpoch=0)."
    return {
        "controller-101": f"""
            04:30:08,000] INFO [RaftManager id=101] Completed transition to CandidateState(localId=101, epoch=1, retries=1, electionTimeoutMs=1717) {RAFT}
            04:30:09,000] INFO [RaftManager id=101] Completed transition to Leader(localId=101, epoch=1, epochStartOffset=0, highWatermark=Optional.empty) {RAFT}
            04:30:09,100] INFO [QuorumController id=101] Becoming the active controller at epoch 1, committed offset -1, committed epoch -1 (org.apache.kafka.controller.QuorumController)
            04:30:09,848] INFO [QuorumController id=101] Registered new broker: {record} {control}
            04:30:10,365] INFO [QuorumController id=101] {granted} {life}
            04:30:11,000] INFO [QuorumController id=101] {created} {replicated}
            04:30:30,000] INFO [QuorumController id=101] Fencing broker 2 because its session has timed out. {replicated}
            04:30:34,000] INFO [QuorumController id=101] {granted} {life}
        """,
        "broker-2": "\n".join(lines),
    }


def leads(at: str, epoch: int, version: int) -> str:
    return f"{at}] INFO [Broker id=2] Leader solo-2 with topic id Some(m1QygnyXS-SM8_3gvETl8A) starts at leader epoch {epoch} from offset 950 with partition epoch {version}, high watermark 950, ISR [2], adding replicas [] and removing replicas [] . Previous leader Some(2) and previous leader epoch was 0. (state.change.logger)"


@pytest.mark.slow
def test_a_change_of_which_no_line_tells_leaves_its_partition_open(tmp_path: Path) -> None:
    """As where the broker of the only replica is fenced, and back, before it applies either."""
    _, found = answer(tmp_path, alone(leads("04:30:34,500", 2, 2)))
    (of_slice,) = found.slices
    assert (of_slice.verdict, found.violations) == (TraceVerdict.INCONCLUSIVE, ())
    assert of_slice.reason is not None
    assert of_slice.reason.startswith("no line tells of write 1")


@pytest.mark.slow
def test_nobody_is_supposed_to_leave_who_was_not_fenced(tmp_path: Path) -> None:
    _, found = answer(tmp_path, alone(leads("04:30:15,500", 2, 2)))
    (of_slice,) = found.slices
    assert of_slice.verdict is not TraceVerdict.CONSISTENT


@pytest.mark.slow
def test_a_leader_states_what_came_after_changes_that_no_line_explains(tmp_path: Path) -> None:
    """What it obeys later is no mismatch then, however many changes there have been."""
    later = (leads(f"04:30:{34 + n},500", 2 * n, 2 * n) for n in range(2, 6))
    _, found = answer(tmp_path, alone(*later))
    (of_slice,) = found.slices
    assert (of_slice.verdict, found.violations) == (TraceVerdict.INCONCLUSIVE, ())


def elected_again(leader: int, version: str = "2.1.1") -> dict[str, str]:
    """Broker 2 creates a partition as controller, and elects a leader that leads it already."""
    own, state = "[Controller id=2 epoch=2]", "(state.change.logger)"
    changed = f"{own} Changed partition audit-0 from"
    replicas = f"{leader},{3 - leader}"
    return {
        "broker-2": f"""
            23:38:00,000] INFO Kafka version : {version} (org.apache.kafka.common.utils.AppInfoParser)
            23:38:01,000] TRACE {own} Changed partition audit-0 state from NonExistentPartition to NewPartition with assigned replicas 2,1 {state}
            23:38:01,100] TRACE {changed} NewPartition to OnlinePartition with state LeaderAndIsr(leader={leader}, leaderEpoch=0, isr=List({replicas}), zkVersion=0) {state}
            23:38:03,450] TRACE {changed} OnlinePartition to OnlinePartition with state LeaderAndIsr(leader={leader}, leaderEpoch=1, isr=List({replicas}), zkVersion=1) {state}
        """
    }


@pytest.mark.slow
def test_the_preferred_replica_may_be_elected_though_it_leads_before_2_4(tmp_path: Path) -> None:
    _, found = answer(tmp_path, elected_again(2))
    assert (found.verdict in (TraceVerdict.CONSISTENT, TraceVerdict.INCONCLUSIVE), found.violations) == (True, ())
    (result,) = found.slices
    assert result.name == "audit-0"
    assert [remark.text.partition(":")[0] for remark in result.remarks] == ["Kafka 1.1 to 2.3"]


@pytest.mark.slow
@pytest.mark.parametrize(("leader", "version"), [(2, "2.8.2"), (1, "2.1.1")])
def test_no_other_leader_is_elected_again_nor_later(leader: int, version: str, tmp_path: Path) -> None:
    _, found = answer(tmp_path, elected_again(leader, version))
    assert found.violations != ()
