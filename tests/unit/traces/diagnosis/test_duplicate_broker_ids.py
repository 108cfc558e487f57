"""Two processes of one broker id at one time are reported; a broker that starts again, or elsewhere when it has ended, is not."""

from __future__ import annotations

import shutil
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from tests.kafka.recorded import archive

from assay.traces.diagnosis.duplicate_broker_ids import duplicates
from assay.traces.log_reader import read_logs

BEGUN = datetime(2026, 11, 21, 10)


def reported(*paths: Path) -> list[str]:
    return [remark.text for remark in duplicates(read_logs(list(paths)))]


def runs(folder: Path, number: int, *spans: tuple[int, int]) -> None:
    """The log of a directory in which a broker with this id ran from one second to another, so many times."""
    folder.mkdir()
    lines = []
    for first, last in spans:
        lines.append(line(first, f"[KafkaServer id={number}] starting (kafka.server.KafkaServer)"))
        lines += [
            line(second, f"[KafkaServer id={number}] started (kafka.server.KafkaServer)", len(folder.name))
            for second in range(first + 1, last + 1)
        ]
    (folder / "server.log").write_text("".join(lines))


def line(second: int, text: str, milliseconds: int = 0) -> str:
    """A line of a log; the same line in two directories would be one that was copied."""
    return f"[{BEGUN + timedelta(seconds=second):%Y-%m-%d %H:%M:%S},{milliseconds:03}] INFO {text}\n"


@pytest.mark.parametrize("run", ["A6", "B1", "C1"])
def test_the_second_process_of_a_recording_is_told(run: str) -> None:
    (text,) = reported(archive(run))
    assert "-duplicate is started with id" in text


@pytest.mark.parametrize("run", ["A0", "A1", "A4", "C2"])
def test_brokers_that_start_again_are_not_taken_for_two(run: str) -> None:
    assert reported(archive(run)) == []


def test_a_broker_may_be_moved_to_another_directory_when_it_has_ended(tmp_path: Path) -> None:
    runs(tmp_path / "old", 1, (0, 60))
    runs(tmp_path / "new", 1, (58, 120))
    assert reported(tmp_path) == []
    runs(tmp_path / "second", 1, (90, 95))
    assert reported(tmp_path) == ["second is started with id 1, under which new is running"]


def test_two_that_start_within_seconds_may_be_one_whose_clocks_differ(tmp_path: Path) -> None:
    runs(tmp_path / "one", 1, (0, 60))
    runs(tmp_path / "other", 1, (4, 60))
    assert reported(tmp_path) == []
    runs(tmp_path / "latest", 1, (10, 60))
    assert {text.partition(" is ")[0] for text in reported(tmp_path)} == {"latest"}


def test_brokers_of_other_ids_are_nobodys_twin(tmp_path: Path) -> None:
    runs(tmp_path / "a", 1, (0, 60))
    runs(tmp_path / "b", 2, (20, 40))
    assert reported(tmp_path) == []


def test_a_copy_of_a_directory_is_no_second_process(tmp_path: Path) -> None:
    runs(tmp_path / "a", 1, (0, 60), (80, 160))
    shutil.copytree(tmp_path / "a", tmp_path / "copy")
    with (tmp_path / "a" / "server.log").open("a") as log:
        log.write(line(170, "[KafkaServer id=1] started (kafka.server.KafkaServer)"))
    assert reported(tmp_path) == []
