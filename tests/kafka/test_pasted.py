"""Two error lines that operators paste from tickets and web pages are read and explained, and are no verdict about a cluster."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.checker.report import ExitCode
from assay.cli.main import invoke

CONFLICT = (
    "Error while creating ephemeral at /controller, node already exists and owner '244218314115579907' does not match current "
    "session '100103126039068675' (kafka.zk.KafkaZkClient$CheckedEphemeral)"
)
REFUSED = (
    "[ReplicaFetcherThread-0-3]: Error for partition [TopicName,0] to broker 3:org.apache.kafka.common.errors."
    "NotLeaderForPartitionException: This server is not the leader for that topic-partition. (kafka.server.ReplicaFetcherThread)"
)


@pytest.mark.parametrize(
    ("line", "meaning"),
    [
        (CONFLICT, "another broker, or an earlier session of this very broker"),
        (
            CONFLICT.replace(" '", " \u2018").replace("' ", "\u2019 "),
            "another broker, or an earlier session of this very broker",
        ),
        (REFUSED, "Fetcher 0 towards broker 3 was refused"),
        (REFUSED.replace("0-3", "0\u20133"), "Fetcher 0 towards broker 3 was refused"),
        (REFUSED.replace("org.apache", "org. apache"), "Fetcher 0 towards broker 3 was refused"),
        (REFUSED.replace("NotLeaderForPartition", "NotLeaderOrFollower"), "Fetcher 0 towards broker 3 was refused"),
    ],
    ids=["conflict", "typographic quotes", "refused", "en dash", "blank in a name", "from 2.6 on"],
)
def test_a_pasted_line_is_explained_and_checks_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str, meaning: str
) -> None:
    pasted = tmp_path / "pasted.log"
    pasted.write_text(line + "\n", encoding="utf-8")
    assert invoke(["validate", str(pasted)]) == ExitCode.VACUOUS
    assert meaning in capsys.readouterr().out
    invoke(["validate", str(pasted), "--json"])
    assert json.loads(capsys.readouterr().out)["verdict"] == "vacuous"


ELECTED = (
    "[2024-05-14 03:12:0{at},412] INFO [Controller id={broker}] {broker} successfully elected as the controller. Epoch "
    "incremented to 17 and epoch zk version is now 17 (kafka.controller.KafkaController)"
)
UPDATED = (
    "[2024-05-14 03:12:{at},034] INFO [Partition orders-0 broker=1] ISR updated to {isr} and version updated to [8] "
    "(kafka.cluster.Partition)"
)


@pytest.mark.slow
def test_two_controllers_of_one_epoch_are_a_finding_beside_one_of_a_later_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "pasted.log"
    lines = [ELECTED.format(at=7, broker=2), ELECTED.format(at=8, broker=3)]
    lines += [UPDATED.format(at="09", isr="1,2"), UPDATED.format(at=10, isr="1,2,3")]
    log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert invoke(["validate", str(log)]) == ExitCode.VIOLATED
    answer = capsys.readouterr().out
    assert "Two controllers with epoch 17: broker 2 at 03:12:07" in answer
    assert "pasted.log:4" in answer


OBEYED = (
    "[2026-11-21 01:45:{at},100] INFO [Broker id=3] Stopped fetchers as part of become-follower request from controller "
    "{controller} epoch {epoch} with correlation id 3 for 1 partitions (state.change.logger)\n"
)


@pytest.mark.slow
@pytest.mark.parametrize(("at", "code"), [("00", ExitCode.VIOLATED), ("20", ExitCode.INCONCLUSIVE)])
def test_a_broker_obeys_an_older_controller_unless_it_may_have_started_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], at: str, code: ExitCode
) -> None:
    """The line of a start may be missing, but no start takes less than a second."""
    log = tmp_path / "state-change.log"
    log.write_text(OBEYED.format(at="00", controller=2, epoch=5) + OBEYED.format(at=at, controller=1, epoch=4), "utf-8")
    assert invoke(["validate", str(log)]) == code
    assert "state-change.log:2" in capsys.readouterr().out


VOTED = (
    "[2026-11-21 01:45:{at},100] INFO [RaftManager id=103] Completed transition to Voted(epoch={epoch}, votedId={voted}, "
    "voters=[101, 102, 103], electionTimeoutMs=1999) from Unattached(epoch={epoch}, voters=[101, 102, 103], "
    "electionTimeoutMs=0) (org.apache.kafka.raft.QuorumState)\n"
)


@pytest.mark.slow
@pytest.mark.parametrize(("epoch", "code"), [(5, ExitCode.VIOLATED), (6, ExitCode.OK)])
def test_a_voter_votes_once_in_an_epoch(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], epoch: int, code: ExitCode
) -> None:
    """A line of a voter is one of a controller, whatever else was read."""
    log = tmp_path / "server.log"
    log.write_text(VOTED.format(at="00", epoch=5, voted=101) + VOTED.format(at="10", epoch=epoch, voted=102), "utf-8")
    assert invoke(["validate", str(log)]) == code
    assert (f"{log.name}:2" in capsys.readouterr().out) == (code == ExitCode.VIOLATED)


LED = (
    "[2026-11-21 01:45:10,100] INFO [Broker id=1] Leader orders-0 with topic id Some(2Vur0vKKSued75y-XmIPhA) starts at "
    "leader epoch 3 from offset 356 with partition epoch 5, high watermark 355, ISR [3,1], adding replicas [] and "
    "removing replicas [] . Previous leader Some(2) and previous leader epoch was {previous}. (state.change.logger)\n"
)


@pytest.mark.slow
@pytest.mark.parametrize(("previous", "code"), [(1, ExitCode.INCONCLUSIVE), (4, ExitCode.VIOLATED)])
def test_a_broker_begins_a_later_epoch_than_the_one_before_in_kraft_mode_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], previous: int, code: ExitCode
) -> None:
    log = tmp_path / "server.log"
    log.write_text(VOTED.format(at="00", epoch=5, voted=101) + LED.format(previous=previous), encoding="utf-8")
    assert invoke(["validate", str(log)]) == code
    assert ("previous is 4 here" in capsys.readouterr().out) == (code == ExitCode.VIOLATED)


EXPIRED = (
    "[2026-11-21 01:4{at}:49,478] WARN Unable to reconnect to ZooKeeper service, session 0x1000011fc3b000{session} has "
    "expired (org.apache.zookeeper.ClientCnxn)\n"
)


@pytest.mark.slow
def test_warnings_alone_contradict_nothing_that_a_lower_level_would_tell(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A broker had two sessions, one after another. A line of level INFO would report the second one."""
    log = tmp_path / "server.log"
    log.write_text(EXPIRED.format(at=0, session=2) + EXPIRED.format(at=1, session=5), encoding="utf-8")
    assert invoke(["validate", str(log)]) == ExitCode.INCONCLUSIVE
    assert "nothing of a lower level" in capsys.readouterr().out
