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
