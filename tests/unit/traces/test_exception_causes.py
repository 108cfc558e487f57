"""The first screen explains the Java exception below a line in words."""

from __future__ import annotations

import pytest

from assay.traces.patterns.rule_files import rule_file
from assay.traces.trouble.causes import cause_of

TRACE = "\n\tat kafka.Kafka$.main(Kafka.scala:1)"


@pytest.mark.parametrize(
    ("below", "words"),
    [
        (
            "org.apache.zookeeper.KeeperException$NodeExistsException: KeeperErrorCode = NodeExists",
            "ZooKeeper already has an entry of that name; for a broker, another process is registered under its id",
        ),
        (
            "org.apache.zookeeper.KeeperException$NoNodeException: KeeperErrorCode = NoNode for /brokers/ids/1",
            "ZooKeeper has no such entry (/brokers/ids/1)",
        ),
        ("java.lang.OutOfMemoryError: Java heap space", "the Java process ran out of memory (Java heap space)"),
        ("java.nio.file.NoSuchFileException: /data/x.log", "there is no such file: /data/x.log"),
        ("java.io.IOException: No space left on device", "No space left on device"),
        ("org.apache.kafka.common.errors.NotLeaderOrFollowerException", "not leader or follower"),
        ("org.apache.kafka.common.errors.SSLConfigMissingException: none", "SSL config missing: none"),
        ("java.lang.RuntimeException", "runtime"),
        ("java.io.IOException: a\nCaused by: java.net.UnknownHostException: b1", "the host name is not known: b1"),
    ],
)
def test_the_last_cause_counts_and_is_words(below: str, words: str) -> None:
    assert cause_of(f"Fatal error during KafkaServer startup. Prepare to shutdown\n{below}{TRACE}") == words


def test_a_line_without_exception_has_no_cause() -> None:
    assert cause_of("Exiting Kafka.") == ""


def test_every_meaning_is_a_text() -> None:
    assert all(set(entry) == {"words"} for entry in rule_file("causes.toml").values())
