"""One line with another broker's id does not make two brokers of a file; lines of another one, or what it says of itself, do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assay.traces.attribution.outlier_broker_ids import KIND, MAX_OUTLIERS
from assay.traces.log_reader import LogReading, read_logs
from assay.traces.samples import unpack_sample

STARTED = "[2026-11-21 01:45:00,000] INFO [KafkaServer id=7] started (kafka.server.KafkaServer)\n"


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    return unpack_sample("elections", tmp_path)


def changed(logs: Path, times: int) -> Path:
    """Another id in so many lines of one file, each of another time."""
    path = logs / "broker-1" / "state-change.log"
    path.write_text(re.sub(r"(?<=\[Broker id=)1(?=\])", "7", path.read_text(), count=times))
    return path


def strange(reading: LogReading) -> list[str]:
    return [notice.kind for notice in reading.notices if notice.kind in {KIND, "merged nodes", "node unknown"}]


def names(reading: LogReading) -> list[str]:
    return sorted(node.name for node in reading.nodes)


def test_a_line_with_another_id_is_one_of_the_process_that_wrote_the_others(logs: Path) -> None:
    before = names(read_logs([logs]))
    changed(logs, 1)
    reading = read_logs([logs])
    assert (strange(reading), names(reading)) == ([KIND], before)
    (notice,) = [each for each in reading.notices if each.kind == KIND]
    assert notice.place is not None
    assert "broker 7 wrote it" in notice.text
    odd = [event for event in reading.events if event.record.place == notice.place]
    assert {str(event.run) for event in odd} <= {"broker-1", "broker-1#2"}


def test_what_another_broker_says_again_and_again_is_its_own(logs: Path) -> None:
    changed(logs, MAX_OUTLIERS + 1)
    assert "merged nodes" in strange(read_logs([logs]))


def test_one_line_that_only_a_process_says_of_itself_is_its_own(logs: Path) -> None:
    path = logs / "broker-1" / "server.log"
    path.write_text(path.read_text() + STARTED.replace("started", "starting"))
    assert KIND not in strange(read_logs([logs]))
