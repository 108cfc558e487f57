"""A metadata quorum of which logs are missing: what is supposed of its voters."""

from __future__ import annotations

import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.kafka.recorded import archive

from assay.traces.inference.zookeeper_events import supposed_events
from assay.traces.log_reader import read_logs

SILENT = "CommandsUnread"
LED = "controller-102"
"""A controller that was elected, and commanded nothing before the next one was."""


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    with tarfile.open(archive("kraft-3.7.2")) as content:
        content.extractall(tmp_path, filter="data")
    return tmp_path / "kraft-3.7.2"


def silent(logs: Path) -> list[object]:
    return [event.fields["voter"] for event in supposed_events(read_logs([logs]), {"QuorumFound", SILENT})]


def test_who_led_and_commanded_nothing_is_known_where_its_log_was_read(logs: Path) -> None:
    assert silent(logs) == []


def removed(path: Path) -> None:
    path.unlink()


def begun_late(path: Path) -> None:
    path.write_text("".join(path.read_text().splitlines(keepends=True)[-5:]))


def ended_early(path: Path) -> None:
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:15]))


@pytest.mark.parametrize("change", [removed, begun_late, ended_early])
def test_what_a_leader_commanded_is_not_known_where_that_log_lacks_the_time(
    logs: Path, change: Callable[[Path], None]
) -> None:
    change(logs / LED / "controller.log")
    assert silent(logs) == [102]
