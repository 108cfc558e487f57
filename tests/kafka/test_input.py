"""What is no log of this protocol, what was copied twice, and single lines pasted from a web page: each gets an honest answer."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from assay.cli.main import invoke
from assay.traces.samples import sample

from .recorded import unpack

NGINX = '127.0.0.1 - - [21/Nov/2026:01:45:28 +0000] "GET /brokers/ids/1 HTTP/1.1" 200 612 "-" "curl/8.5.0"\n'
PYTHON = "2026-11-21 01:45:28,383 INFO worker.pool: controller elected, epoch 3 (pid 17)\n"
BRACKETED = "[2026-11-21 01:45:28,383] INFO Registered worker 1 at path /pool, epoch: 61 (com.example.Pool)\n"
SYSLOG = "Nov 21 01:45:28 host systemd[1]: Started Apache Kafka.\n"

CLAIM = (
    "Error while creating ephemeral at /controller, node already exists and owner '244218314115579907' "
    "does not match current session '100103126039068675' (kafka.zk.KafkaZkClient$CheckedEphemeral)"
)
FETCH = (
    "[ReplicaFetcherThread-0-3]: Error for partition [TopicName,0] to broker 3:org.apache.kafka.common.errors."
    "NotLeaderForPartitionException: This server is not the leader for that topic-partition. "
    "(kafka.server.ReplicaFetcherThread)"
)


def validate(capsys: pytest.CaptureFixture[str], *paths: Path) -> tuple[int, Any]:
    code = invoke(["validate", *map(str, paths), "--json"])
    return code, json.loads(capsys.readouterr().out)


def explained(capsys: pytest.CaptureFixture[str], folder: Path, line: str) -> str:
    """What the answer says about a file that holds one line; the answer itself is that nothing was checked."""
    path = folder / "pasted.txt"
    path.write_text(line + "\n", encoding="utf-8")
    code, answer = validate(capsys, path)
    assert (code, answer["verdict"]) == (4, "vacuous")
    assert answer["events"] == {"read": 1, "used": 0, "ignored": 1, "unmapped": 0}
    (explanation,) = answer["explanations"]
    assert (explanation["file"], explanation["line"]) == (str(path), 1)
    assert invoke(["validate", str(path)]) == 4
    assert explanation["text"] in capsys.readouterr().out
    return str(explanation["text"])


def curly(text: str) -> str:
    """With the quotes of a word processor: opening before a word, closing after it."""
    return text.replace(" '", " \u2018").replace("'", "\u2019")


def test_an_empty_directory_is_vacuous(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, answer = validate(capsys, tmp_path)
    assert (code, answer["verdict"]) == (4, "vacuous")
    assert answer["reason"].startswith("no file was found")
    assert answer["events"] == {"read": 0, "used": 0, "ignored": 0, "unmapped": 0}


@pytest.mark.parametrize("line", [NGINX, PYTHON, BRACKETED, SYSLOG], ids=["nginx", "python", "log4j", "syslog"])
def test_logs_of_something_else_are_vacuous(capsys: pytest.CaptureFixture[str], tmp_path: Path, line: str) -> None:
    (tmp_path / "server.log").write_text(line * 200)
    code, answer = validate(capsys, tmp_path)
    assert (code, answer["verdict"]) == (4, "vacuous")
    assert answer["events"]["used"] == 0
    assert answer["violations"] == []


@pytest.mark.slow
def test_logs_of_something_else_beside_a_recording_change_nothing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    _, alone = validate(capsys, sample("elections"))
    (tmp_path / "access.log").write_text(NGINX * 200)
    code, answer = validate(capsys, sample("elections"), tmp_path)
    assert (code, answer["events"]) == (0, alone["events"])


@pytest.mark.slow
def test_a_copied_directory_is_noticed_and_read_once(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    logs = unpack("A1", tmp_path)
    _, once = validate(capsys, logs)
    shutil.copytree(logs / "broker-2", logs / "broker-2-copy")
    code, answer = validate(capsys, logs)
    assert (code, answer["verdict"]) == (0, "consistent")
    assert answer["events"] == once["events"]
    copies = [notice for notice in answer["notices"] if notice["kind"] == "duplicated input"]
    files = {Path(notice["file"]).relative_to(logs).as_posix() for notice in copies}
    assert {f"broker-2-copy/{name}.log" for name in ("controller", "server", "state-change")} <= files
    assert all("the same content as" in notice["text"] for notice in copies)


@pytest.mark.parametrize(
    "line",
    [
        CLAIM,
        f"[2018-10-12 08:31:07,512] ERROR {CLAIM}",
        curly(CLAIM),
        curly(CLAIM).replace("kafka.zk.", "kafka. zk. "),
        CLAIM.replace("'", "&#39;"),
        f"\u201c{curly(CLAIM)}\u201d",
    ],
    ids=["plain", "with its time", "typographic quotes", "split name", "entities", "quoted"],
)
def test_a_refused_claim_of_the_controller_node_is_explained(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, line: str
) -> None:
    """Who holds the node is another broker, or this broker's own earlier session: the line alone does not tell which."""
    text = explained(capsys, tmp_path, line)
    assert "another broker, or an earlier session of this very broker" in text
    assert f"session {244218314115579907:#x}, own session {100103126039068675:#x}" in text


@pytest.mark.parametrize(
    "line",
    [
        FETCH,
        f"[2017-03-01 10:00:00,001] ERROR {FETCH}",
        FETCH.replace("-0-3", "-0\u20133"),
        FETCH.replace("org.apache", "org. apache"),
        FETCH.replace("-0-3", "-0\u20133").replace("org.apache", "org. apache"),
        FETCH.replace("NotLeaderForPartition", "NotLeaderOrFollower"),
        FETCH.replace("NotLeaderForPartition", "NotLeaderOrFollower").replace("-0-3", "-0\u20133"),
    ],
    ids=["plain", "with its time", "en dash", "split name", "both", "from 2.6", "from 2.6, en dash"],
)
def test_a_refused_fetch_is_explained_as_a_follower_whose_leader_has_moved(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, line: str
) -> None:
    text = explained(capsys, tmp_path, line)
    assert text.startswith("Fetcher 0 towards broker 3 was refused: broker 3 does not lead TopicName-0")
    assert "follower whose leader has moved" in text
