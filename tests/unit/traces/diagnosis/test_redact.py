"""No output of a redacted answer holds a name of the user's, whatever kind of line it stands in."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.cli.main import invoke
from assay.traces.diagnosis.redact import Redaction
from assay.traces.log_reader import read_logs

CANARIES = ("canary", "alina", "geheim", "10.11.12.13", "fe80::1ff", "Zm9vYmFyMTIzNDU2Nzg5MA", "тайна")
LINES = r"""
[2020-08-02 21:40:11,518] INFO [Controller id=12] 12 successfully elected as the controller. Epoch incremented to 9 and epoch zk version is now 9 (kafka.controller.KafkaController)
[2020-08-02 21:40:11,618] INFO [Controller id=12 epoch=9] Changed partition canary-orders-0 from NewPartition to OnlinePartition with state LeaderAndIsr(leader=12, leaderEpoch=0, isr=List(12), zkVersion=0) (state.change.logger)
[2020-08-02 21:40:12,002] ERROR [KafkaServer id=12] Fatal error: java.net.UnknownHostException: barehost.canary.example (kafka.server.KafkaServer)
java.net.UnknownHostException: barehost.canary.example
	at java.base/java.net.InetAddress.getAllByName(InetAddress.java:1)
[2020-08-02 21:40:12,003] WARN [Controller id=12 epoch=9] Odd canaryhost at canary-7.example:9092 and 10.11.12.13, [fe80::1ff:fe23:4567:890a]:9092 (kafka.controller.KafkaController)
[2020-08-02 21:40:12,004] WARN [Controller id=12 epoch=9] Odd user CN=alina-geheim,OU=Geheim and User:alina@CANARY.EXAMPLE, тайна (kafka.controller.KafkaController)
[2020-08-02 21:40:12,005] ERROR [Partition canary-orders-0 broker=12] Odd file C:\data\canarydir\kafka and /srv/canary disk/x, \\canaryshare\d (kafka.cluster.Partition)
[2020-08-02 21:40:12,006] INFO Cluster ID = Zm9vYmFyMTIzNDU2Nzg5MA (kafka.server.KafkaServer)
[2020-08-02 21:40:12,007] ERROR Odd znode /brokers/topics/canary.topic/partitions/0/state (kafka.controller.KafkaController)
"""


def test_no_output_holds_a_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "canary-cluster" / "canaryhost-1"
    folder.mkdir(parents=True)
    (folder / "canary-server.log.2020-08-02-21").write_text(LINES.lstrip())
    (folder / "canary.bin").write_bytes(b"\0canary")
    page, junit = tmp_path / "page.html", tmp_path / "junit.xml"
    files = ["--html", str(page), "--junit", str(junit)]
    assert invoke(["validate", str(folder.parent), "--redact", *files]) in {0, 1, 3}
    outputs = [*capsys.readouterr()]
    invoke(["validate", str(folder.parent), "--redact", "--json"])
    outputs += [*capsys.readouterr(), page.read_text(), junit.read_text()]
    text = "\n".join(outputs).lower()
    assert [canary for canary in CANARIES if canary.lower() in text] == []
    assert "java.net.unknownhostexception: word-" in text


def test_words_of_assay_numbers_and_times_stay(tmp_path: Path) -> None:
    (tmp_path / "server.log").write_text(LINES.lstrip())
    names = Redaction(read_logs([tmp_path]))
    kept = "session 0x100aa of broker 12 at 2020-08-02 21:40:11,518 ended after 6000 ms (epoch 9, version 2.8-IV1)"
    assert names.text(kept) == kept
    assert names.text("canary-orders-0") == "topic-1-0"
    assert names.file("here/server.log.2020-08-02-21.gz") == "folder-1/server.log.2020-08-02-21.gz"


def test_a_name_that_begins_with_another_one_has_a_name_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "server.log").write_text(
        LINES.lstrip() + LINES.lstrip().replace("canary-orders-0", "canary-orders-late-0")
    )
    names = Redaction(read_logs([tmp_path]))
    assert names.text("canary-orders-0, canary-orders-late-0") == "topic-1-0, topic-2-0"


def test_a_file_name_with_a_row_of_hyphens_is_redacted_at_once(tmp_path: Path) -> None:
    log = tmp_path / f"canary{'-' * 60}x"
    log.write_text(LINES.lstrip())
    reading = read_logs([log])
    # The rows of a file name were once divided in all ways, which took longer than anybody waits.
    assert Redaction(reading).file(str(log)) == "folder-1/file-1"
