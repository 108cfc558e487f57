"""A finding names what waits without an end, and for whom; what went on again is no finding."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.traces.log_reader import read_logs
from assay.traces.trouble.assembly import trouble_of
from assay.traces.trouble.families import TroubleLines
from assay.traces.trouble.finding import Gravity, TroubleFinding
from assay.traces.trouble.waiting import waiting

CONTROLLER = "org.apache.kafka.controller.ReplicationControlManager"
TOPIC = "with topic ID smRuOl6HR0OTTzFy02xKqA"


def found_in(lines: list[str], folder: Path) -> list[TroubleFinding]:
    """The findings in lines of one hour, each with its minute and second in front."""
    path = folder / "server.log"
    path.write_text("".join(f"[2025-02-03 10:{line[:5]},100]{line[5:]}\n" for line in lines), encoding="utf-8")
    return list(trouble_of(read_logs([path])).findings)


def change(time: str, what: str) -> str:
    return f"{time} INFO [QuorumController id=101] partition change for {what} ({CONTROLLER})"


GONE = change(
    "00:10", f"pay-3 {TOPIC}: isr: [1, 2] -> [2], leader: 1 -> 2, leaderEpoch: 1 -> 2, partitionEpoch: 2 -> 3"
)
LOST = change("01:10", f"pay-3 {TOPIC}: leader: 2 -> -1, leaderEpoch: 2 -> 3, partitionEpoch: 3 -> 4")
ELSEWHERE = change(
    "02:10", f"pay-4 {TOPIC}: isr: [1, 3] -> [3], leader: 1 -> 3, leaderEpoch: 1 -> 2, partitionEpoch: 2 -> 3"
)
BACK = change("01:40", f"pay-3 {TOPIC}: leader: -1 -> 2, leaderEpoch: 3 -> 4, partitionEpoch: 4 -> 5")


def test_a_partition_without_leader_in_kraft_mode_waits_for_those_who_may_lead_it(tmp_path: Path) -> None:
    (found,) = found_in([GONE, LOST, ELSEWHERE], tmp_path)
    assert (found.gravity, found.partitions, found.nodes) == (Gravity.STUCK, ("pay-3",), ("broker 2",))
    assert found.text == "pay-3: no leader to the end of the logs; only brokers [2] may lead them."


REPLAYED = (
    f"02:05 INFO [QuorumController id=102] Replayed PartitionRecord for existing partition pay-3 {TOPIC} and "
    "PartitionRegistration(replicas=[1, 2], isr=[2], removingReplicas=[], addingReplicas=[], leader=-1, "
    f"leaderRecoveryState=RECOVERED, leaderEpoch=3, partitionEpoch=4). ({CONTROLLER})"
)


def test_a_partition_waits_from_its_first_line_without_leader_on(tmp_path: Path) -> None:
    """Another controller replays the record five seconds before the last event."""
    (found,) = found_in([GONE, LOST, REPLAYED, ELSEWHERE], tmp_path)
    assert (found.partitions, found.lines[0].place.line) == (("pay-3",), 2)


@pytest.mark.parametrize("lines", [[GONE, LOST], [GONE, LOST, BACK, ELSEWHERE]], ids=["all stop", "led again"])
def test_a_partition_that_is_led_again_or_stops_with_all_others_waits_for_nobody(
    lines: list[str], tmp_path: Path
) -> None:
    assert found_in(lines, tmp_path) == []


OFFLINE = "00:10 ERROR Controller 5 epoch 7 failed to change state for partition pay-3 from OfflinePartition to OnlinePartition (state.change.logger)"
STOPS = "00:20 INFO Terminating process due to signal SIGTERM (org.apache.kafka.common.utils.LoggingSignalHandler)"


@pytest.mark.parametrize(("end", "gravity"), [("00:25", Gravity.WARNING), ("02:10", Gravity.STUCK)])
def test_a_partition_that_no_replica_may_lead_is_stuck_where_the_cluster_lives_on(
    end: str, gravity: Gravity, tmp_path: Path
) -> None:
    later = f"{end} INFO [Controller id=4] 4 successfully elected as the controller. Epoch incremented to 3 and epoch zk version is now 3 (kafka.controller.KafkaController)"
    (found,) = found_in([OFFLINE, later], tmp_path)
    assert (found.gravity, found.partitions) == (gravity, ("pay-3",))


def test_a_partition_without_leader_in_a_cluster_that_is_shut_down_waits_for_nobody(tmp_path: Path) -> None:
    assert found_in([OFFLINE, STOPS], tmp_path) == []


DELETED = "00:40 INFO [Controller id=4] Starting topic deletion for topics tmp,pay (kafka.controller.KafkaController)"
ELECTED = "02:10 INFO [Controller id=4] 4 successfully elected as the controller. Epoch incremented to 3 and epoch zk version is now 3 (kafka.controller.KafkaController)"


def test_a_partition_of_a_topic_that_is_deleted_needs_no_leader(tmp_path: Path) -> None:
    assert found_in([OFFLINE, DELETED, ELECTED], tmp_path) == []


def test_of_what_brokers_say_of_an_isr_the_latest_counts_whichever_log_is_read_last(tmp_path: Path) -> None:
    isr = "INFO [Partition pay-3 broker={0}] ISR updated to {1} and version updated to {0} (kafka.cluster.Partition)"
    logs = {1: [f"00:05 {isr.format(1, '1')}", OFFLINE, ELECTED], 2: [f"00:02 {isr.format(2, '1,2')}"]}
    for broker, lines in logs.items():
        (tmp_path / f"kafka-{broker}").mkdir()
        found_in(lines, tmp_path / f"kafka-{broker}")
    (found,) = trouble_of(read_logs([tmp_path])).findings
    assert found.nodes == ("broker 1",)


def assigned(time: str, replicas: str, adding: str, removing: str) -> str:
    record = f"PartitionChangeRecord(partitionId=3, topicId=smRuOl6HR0OTTzFy02xKqA, isr=null, leader=-2, replicas=[{replicas}], removingReplicas={removing}, addingReplicas={adding}, leaderRecoveryState=-1, directories=null, eligibleLeaderReplicas=null, lastKnownElr=null)"
    return f"{time} INFO [QuorumController id=101] Replayed partition assignment change {record} for topic pay ({CONTROLLER})"


@pytest.mark.parametrize(("end", "gravity"), [("04:00", Gravity.WARNING), ("30:00", Gravity.STUCK)])
def test_a_reassignment_that_does_not_end_names_the_replica_that_lags(
    end: str, gravity: Gravity, tmp_path: Path
) -> None:
    lines = [
        assigned("00:10", "1, 2, 4, 5", "[4, 5]", "[1]"),
        change("00:50", f"pay-3 {TOPIC}: isr: [1, 2] -> [1, 2, 4], partitionEpoch: 2 -> 3"),
        ELSEWHERE.replace("02:10", end),
    ]
    (found,) = found_in(lines, tmp_path)
    assert (found.gravity, found.heading) == (gravity, "the reassignment of pay-3 does not end")
    assert "brokers [5] are not in sync" in found.text


def test_a_reassignment_that_ended_is_not_told(tmp_path: Path) -> None:
    lines = [
        assigned("00:10", "1, 2, 4", "[4]", "[1]"),
        f"01:00 INFO [QuorumController id=101] AlterPartition request from node 2 for pay-3 completed the ongoing partition reassignment. ({CONTROLLER})",
        ELSEWHERE.replace("02:10", "30:00"),
    ]
    assert found_in(lines, tmp_path) == []


def test_a_reassignment_whose_new_replicas_are_all_in_sync_waits_for_nobody(tmp_path: Path) -> None:
    lines = [
        assigned("00:10", "1, 2, 4", "[4]", "[1]"),
        change("00:50", f"pay-3 {TOPIC}: isr: [1, 2] -> [1, 2, 4], partitionEpoch: 2 -> 3"),
        ELSEWHERE.replace("02:10", "30:00"),
    ]
    assert found_in(lines, tmp_path) == []


def test_a_reassignment_of_an_older_controller_names_who_has_to_catch_up(tmp_path: Path) -> None:
    step = "INFO [Controller id=4] 0/2 replicas have caught up with the leader for partition audit-0 being reassigned. Replica(s) 1,4 still need to catch up (kafka.controller.KafkaController)"
    later = "30:00 INFO [Controller id=4] 4 successfully elected as the controller. Epoch incremented to 3 and epoch zk version is now 3 (kafka.controller.KafkaController)"
    (found,) = (each for each in found_in([f"00:10 {step}", later], tmp_path) if "reassignment" in each.heading)
    assert "brokers [1, 4] are not in sync" in found.text
    done = "05:00 INFO [Controller id=4] Removing partitions Set(audit-0) from the list of reassigned partitions in zookeeper (kafka.controller.KafkaController)"
    assert [each for each in found_in([f"00:10 {step}", done, later], tmp_path) if "reassignment" in each.heading] == []


def test_a_controlled_shutdown_that_is_given_up_says_what_the_broker_still_led(tmp_path: Path) -> None:
    server = "(kafka.server.KafkaServer)"
    lines = [
        f"00:10 INFO [KafkaServer id=4] Remaining partitions to move: [pay-3] {server}",
        f"00:20 WARN [KafkaServer id=4] Retrying controlled shutdown after the previous attempt failed... {server}",
        f"00:30 WARN [KafkaServer id=4] Proceeding to do an unclean shutdown as all the controlled shutdown attempts failed {server}",
    ]
    later = "03:00 INFO [Controller id=5] 5 successfully elected as the controller. Epoch incremented to 3 and epoch zk version is now 3 (kafka.controller.KafkaController)"
    (found,) = (each for each in found_in([*lines, later], tmp_path) if "controlled shutdown" in each.heading)
    assert found.text == "Broker 4 stopped without handing over its partitions: it still led [pay-3]."
    done = f"00:40 INFO [KafkaServer id=4] Controlled shutdown request returned successfully after 300ms {server}"
    for others in ([*lines[:2], done, later], lines):
        assert [each for each in found_in(others, tmp_path) if "cannot move leaders" in each.heading] == []


@pytest.mark.parametrize(("tries", "findings"), [(2, 0), (3, 1)])
def test_a_controlled_shutdown_is_stuck_if_it_was_tried_often(tries: int, findings: int, tmp_path: Path) -> None:
    again = "WARN [KafkaServer id=4] Retrying controlled shutdown after the previous attempt failed... (kafka.server.KafkaServer)"
    found = found_in([*(f"00:{20 + at} {again}" for at in range(tries)), ELECTED], tmp_path)
    assert [(each.gravity, each.text) for each in found] == [
        (Gravity.STUCK, "Broker 4 tries in vain handing over its partitions.")
    ] * findings


def test_a_broker_that_is_refused_is_told_by_whom(tmp_path: Path) -> None:
    begins = "INFO Registered kafka:type=kafka.Log4jController MBean (kafka.utils.Log4jControllerRegistration$)"
    session = "INFO Session establishment complete on server zk/10.0.0.1:2181, sessionid = 0x30041c8b7da000{}, negotiated timeout = 18000 (org.apache.zookeeper.ClientCnxn)"
    refused = "ERROR Error while creating ephemeral at /brokers/ids/4, node already exists and owner '0x30041c8b7da0002' does not match current session '0x30041c8b7da0009' (kafka.zk.KafkaZkClient$CheckedEphemeral)"
    for name, lines in (("old", [begins, session.format(2)]), ("new", [begins, session.format(9), refused])):
        (tmp_path / name).mkdir()
        text = "".join(f"[2025-02-03 10:0{n}:0{len(lines)},100] {line}\n" for n, line in enumerate(lines))
        (tmp_path / name / "server.log").write_text(text, encoding="utf-8")
    (found,) = trouble_of(read_logs([tmp_path])).findings
    assert (found.gravity, found.nodes) == (Gravity.STUCK, ("new", "old"))
    assert found.text == "new may not register as broker 4: the id belongs to old (session 0x30041c8b7da0002)."


@pytest.mark.parametrize(("retries", "findings"), [(0, 0), (2, 1)])
def test_the_candidate_of_an_excerpt_waits_if_it_has_tried_often(retries: int, findings: int, tmp_path: Path) -> None:
    """The names of votes are those of Kafka 2.8 to 3.8."""
    votes = "voteStates={1=UNRECORDED, 2=UNRECORDED, 3=GRANTED}"
    line = f"CandidateState(localId=3, epoch=41, retries={retries}, {votes}, highWatermark=Optional.empty, electionTimeoutMs=1500)"
    text = f"[2024-02-11 07:30:13,000] INFO [RaftManager id=3] Completed transition to {line} from Unattached(epoch=40, voters=[1, 2, 3], electionTimeoutMs=1200) (org.apache.kafka.raft.QuorumState)\n"
    (tmp_path / "pasted.log").write_text(text)
    reading = read_logs([tmp_path / "pasted.log"])
    found = list(waiting(reading, TroubleLines(reading)))
    assert [each.heading for each in found] == ["the metadata quorum has no majority"] * findings
    assert all("[1, 2]" in each.text for each in found)


def test_a_partition_of_a_topic_that_was_removed_and_made_again_waits_as_a_new_one(tmp_path: Path) -> None:
    removed = f"01:20 INFO [QuorumController id=101] Removed topic pay with ID smRuOl6HR0OTTzFy02xKqA. ({CONTROLLER})"
    assert found_in([GONE, LOST, removed, ELSEWHERE], tmp_path) == []
    again = change("01:30", f"pay-3 {TOPIC}: leader: 2 -> -1, leaderEpoch: 2 -> 3, partitionEpoch: 3 -> 4")
    (found,) = found_in([GONE, LOST, removed, again, ELSEWHERE], tmp_path)
    assert found.partitions == ("pay-3",)
