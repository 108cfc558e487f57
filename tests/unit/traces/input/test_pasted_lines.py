"""Log lines as people paste them are read, placed and explained."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.traces.event import Event
from assay.traces.input.lines.pasted_lines import normalise
from assay.traces.log_reader import LogReading, read_logs

CONFLICT = (
    "Error while creating ephemeral at /controller, node already exists and owner '244218314115579907' "
    "does not match current session '100103126039068675' (kafka.zk.KafkaZkClient$CheckedEphemeral)"
)
REFUSED = (
    "[ReplicaFetcherThread-0-3]: Error for partition [TopicName,0] to broker 3:org.apache.kafka.common.errors."
    "NotLeaderForPartitionException: This server is not the leader for that topic-partition. (kafka.server.ReplicaFetcherThread)"
)


def read_text(tmp_path: Path, text: str) -> LogReading:
    path = tmp_path / "pasted.txt"
    path.write_text(text, encoding="utf-8")
    return read_logs([path])


def only_event(reading: LogReading) -> Event:
    (event,) = reading.events
    return event


@pytest.mark.parametrize(
    "text",
    [
        CONFLICT,
        f"[2018-10-12 08:31:07,512] ERROR {CONFLICT}\n",
        CONFLICT.replace("'", "\u2019").replace("owner \u2019", "owner \u2018"),
        CONFLICT.replace(" (kafka.zk.KafkaZkClient$CheckedEphemeral)", ""),
        CONFLICT.replace("kafka.zk.", "kafka. zk. "),
        CONFLICT.replace(" ", "\u00a0"),
        CONFLICT.replace("'", "&#39;"),
        f"> ERROR {CONFLICT}",
        f"What does this mean?\n\n    {CONFLICT}\n\nThanks!\n",
        CONFLICT.replace("and owner", "and\nowner").replace("current", "current\n"),
        f"[2018-10-12 08:31:07,512] ERROR {CONFLICT}".replace("'", "\u201d"),
    ],
)
def test_an_ephemeral_conflict_is_an_election_that_was_lost(tmp_path: Path, text: str) -> None:
    quoted = text.replace("\u201d", "\u2019")
    reading = read_text(tmp_path, quoted)
    event = only_event(reading)
    assert event.kind == "ElectionRefused"
    assert event.fields["owner_session"] == "0x363a34344810003"
    assert event.fields["session"] == "0x163a34344770003"
    said = reading.explain(event)
    assert "another broker, or an earlier session of this very broker" in said
    assert "/controller" in said
    assert quoted[event.record.place.offset :].startswith(quoted.splitlines()[event.record.place.line - 1])


@pytest.mark.parametrize(
    "text",
    [
        REFUSED,
        REFUSED.replace("0-3", "0\u20133"),
        REFUSED.replace("org.apache", "org. apache"),
        REFUSED.replace("broker 3:org", "broker 3: org").replace("0-3", "0\u20133").replace("NotLeader", "NotLeader"),
        REFUSED.replace("NotLeaderForPartition", "NotLeaderOrFollower"),
        REFUSED.replace(" (kafka.server.ReplicaFetcherThread)", ""),
        f"[2018-10-12 08:31:09,004] ERROR {REFUSED}\n".replace("0-3", "0\u20133").replace("org.apache", "org. apache"),
        f"[2018-10-12 08:31:09,004] ERROR {REFUSED}\n",
    ],
)
def test_a_refused_fetch_is_a_follower_whose_leader_has_moved(tmp_path: Path, text: str) -> None:
    reading = read_text(tmp_path, text)
    event = only_event(reading)
    assert event.kind == "FetchRefused"
    assert (event.fields["fetcher"], event.fields["leader"]) == (0, 3)
    assert (event.fields["topic"], event.fields["partition"]) == ("TopicName", 0)
    said = reading.explain(event)
    assert "Fetcher 0 towards broker 3 was refused" in said
    assert "a follower whose leader has moved" in said


def test_the_newer_print_of_a_fetcher_names_its_broker(tmp_path: Path) -> None:
    line = REFUSED.replace("[ReplicaFetcherThread-0-3]:", "[ReplicaFetcher replicaId=1, leaderId=3, fetcherId=0]")
    event = only_event(read_text(tmp_path, line.replace("[TopicName,0]", "TopicName-0")))
    assert (event.fields["broker"], event.fields["fetcher"], event.fields["topic"]) == (1, 0, "TopicName")


def test_several_pasted_lines_are_several_events_at_their_lines(tmp_path: Path) -> None:
    text = f"first\n{CONFLICT}\nthen \u2026\n{REFUSED}\n"
    events = list(read_text(tmp_path, text).events)
    assert [(event.kind, event.record.place.line) for event in events] == [("ElectionRefused", 2), ("FetchRefused", 4)]
    data = text.encode()
    assert [data[event.record.place.offset :][:5] for event in events] == [b"Error", b"[Repl"]


def test_pasted_lines_before_stock_lines_are_read_too(tmp_path: Path) -> None:
    stock = "[2026-11-21 01:45:31,726] INFO [Controller id=2] Resigned (kafka.controller.KafkaController)\n"
    events = list(read_text(tmp_path, f"{CONFLICT}\n{stock}").events)
    assert [event.kind for event in events] == ["ElectionRefused", "Resigned"]


def test_prose_about_the_words_is_no_event(tmp_path: Path) -> None:
    reading = read_text(
        tmp_path, "An Error for partition [T,0] to broker 3 means that ephemeral at /controller exists.\n"
    )
    assert not list(reading.events)
    assert [notice.kind for notice in reading.notices] == ["not understood"]


def test_a_line_as_printed_stays_as_it_is() -> None:
    for line in (CONFLICT, REFUSED):
        assert normalise(line) == line
