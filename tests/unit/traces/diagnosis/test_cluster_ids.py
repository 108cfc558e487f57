"""Which cluster a process names as its own, whatever others ask of it."""

from __future__ import annotations

from pathlib import Path

from assay.traces.diagnosis.cluster_ids import logged_clusters
from assay.traces.log_reader import read_logs

OWN, OTHER = "MkU3OEVBNTcwNTJENDM2Qg", "Zk9fB2nXS5Gh7jUeWvC4yQ"
VOTE = (
    "[RaftManager id=101] Vote request VoteRequestData(clusterId='{}', voterId=101, topics=[TopicData(topicName="
    "'__cluster_metadata', partitions=[PartitionData(partitionIndex=0, candidateEpoch=4, candidateId=103, "
    "candidateDirectoryId=hNnQKpIKuTAK61idmr8RJQ, voterDirectoryId=AAAAAAAAAAAAAAAAAAAAAA, lastOffsetEpoch=3, "
    "lastOffset=53)])]) with epoch 4 is rejected (org.apache.kafka.raft.KafkaRaftClient)"
)
CREATED = (
    "[QuorumController id=101] Creating new QuorumController with clusterId {}. "
    "(org.apache.kafka.controller.QuorumController)"
)


def named(folder: Path, *lines: str) -> list[tuple[str, int]]:
    """The clusters that processes name as their own, with the line that names each first."""
    text = "".join(f"[2026-11-21 01:48:{second:02},101] INFO {line}\n" for second, line in enumerate(lines))
    (folder / "controller.log").write_text(text)
    return [(each.name, each.place.line) for each in logged_clusters(read_logs([folder])).values()]


def test_requests_of_another_cluster_do_not_outweigh_the_own_line(tmp_path: Path) -> None:
    requests = [VOTE.format(OTHER)] * 5
    assert named(tmp_path, *requests, CREATED.format(OWN), *requests) == [(OWN, 6)]
    assert named(tmp_path, *requests, VOTE.format(OWN)) == [(OTHER, 1)]
