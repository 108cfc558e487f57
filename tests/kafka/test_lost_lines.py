"""A healthy recording that lacks one line is never inconsistent, whichever line it is; and what was lost is named."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.windows.cases import make
from benchmarks.windows.recordings import load_recordings

from assay.cli.settings import load
from assay.traces.log_reader import read_logs
from assay.traces.options import DEFAULT_OPTIONS
from assay.traces.result import TraceVerdict, Validation
from assay.traces.scoped_validate import validate_in_scope
from assay.traces.spec_selection import select_spec

from .recorded import archive, unpack

pytestmark = pytest.mark.slow


def without(run: str, folder: Path, file: str, text: str) -> Validation:
    """The answer about a recording without the first line of a file that has a text in it."""
    path = unpack(run, folder) / file
    lines = path.read_text().splitlines(keepends=True)
    lost = next(at for at, line in enumerate(lines) if text in line)
    path.write_text("".join(lines[:lost] + lines[lost + 1 :]))
    reading = read_logs([folder / run])
    choice = select_spec(reading.kinds, None)
    return validate_in_scope(load(choice.spec, None, {}), reading, DEFAULT_OPTIONS, choice.clause)


def test_a_line_of_what_slices_share_is_named(tmp_path: Path) -> None:
    found = without("A0", tmp_path, "broker-3/controller.log", "01:57:33,157] INFO [Controller id=3] Shutting down")
    assert found.verdict is TraceVerdict.INCONCLUSIVE
    assert found.reason is not None
    assert "ShutdownRequested(node broker-3, target 2)" in found.reason


def test_a_line_about_a_topic_is_named(tmp_path: Path) -> None:
    lost = "Starting topic deletion for topics again"
    found = without("zookeeper-2.6.3", tmp_path, "broker-3/controller.log", lost)
    assert found.verdict is TraceVerdict.INCONCLUSIVE
    assert found.reason is not None
    assert "TopicDeletion(topic again)" in found.reason


def test_a_topic_that_was_created_again_needs_no_line_of_each_broker(tmp_path: Path) -> None:
    lost = "Creating new partition again-0 with topic id 2Vur0vKKSued75y-XmIPhA"
    found = without("kraft-3.3.2", tmp_path, "broker-1/state-change.log", lost)
    assert found.verdict is TraceVerdict.CONSISTENT


@pytest.mark.parametrize(
    ("run", "kind", "number", "seed"),
    [
        pytest.param("A3", "m", 33, 9001, id="lines of the first minute"),
        pytest.param("zookeeper-2.2.2", "m", 34, 9001, id="the line that a process started"),
        pytest.param("zookeeper-3.0.2", "l", 30, 9001, id="the second half of a file"),
        pytest.param("A1", "l", 60, 9001, id="the middle of each file"),
        pytest.param("zookeeper-2.6.3", "l", 39, 601, id="the middle of each file, of two clusters"),
        pytest.param("zookeeper-2.6.3", "h", 22, 601, id="all but the lines with one word, of two clusters"),
        pytest.param("zookeeper-1.0.2", "f", 3, 611, id="all but one kind of file, of a topic that was created again"),
        pytest.param("C1", "o", 12, 611, id="all but two stretches"),
        pytest.param("zookeeper-1.1.1", "o", 19, 620, id="all but two stretches, of a topic that was created again"),
        pytest.param("A1", "m", 9, 620, id="the first write of a partition, and a topic's deletion"),
        pytest.param("disks-zookeeper-2.8.2", "l", 30, 1301, id="the second half of server.log"),
        pytest.param("zookeeper-1.0.2", "d", 59, 1301, id="two nodes, and a topic's deletion and creation"),
        pytest.param("zookeeper-2.6.3", "m", 74, 1301, id="the first writes, of two clusters"),
        pytest.param("zookeeper-2.6.3", "f", 55, 1301, id="all but controller.log, of two", marks=pytest.mark.slow),
    ],
)
def test_many_lost_lines_are_no_contradiction(run: str, kind: str, number: int, seed: int, tmp_path: Path) -> None:
    (recording,) = load_recordings(archive(run))
    case = make(recording, kind, number, seed)
    assert case is not None
    case.write(tmp_path)
    reading = read_logs([tmp_path])
    choice = select_spec(reading.kinds, None)
    found = validate_in_scope(load(choice.spec, None, {}), reading, DEFAULT_OPTIONS, choice.clause)
    assert found.verdict is not TraceVerdict.INCONSISTENT
    assert found.verdict is not TraceVerdict.INCONCLUSIVE or found.reason
