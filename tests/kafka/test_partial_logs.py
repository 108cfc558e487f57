"""Whoever has only some of a cluster's logs hears that something is missing, and of no violation."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest

from assay.cli.settings import load
from assay.traces.choice import validated_by_choice
from assay.traces.read import read_logs
from assay.traces.samples import unpack_sample
from assay.traces.validation import TraceVerdict

RECORDINGS = sorted((Path(__file__).resolve().parents[1] / "corpus" / "recordings").glob("[ABC]?.tar.xz"))
IN_PAIRS = frozenset({"B3"})
"""The recordings of which pairs of kinds of files are tried too: one that takes little time."""
NODES = ("broker-*", "controller-*", "zookeeper")


def parts(logs: Path, most: int) -> Iterator[tuple[str, list[Path]]]:
    """Files of one kind, or of up to ``most``, of all nodes and of brokers alone; and the files of each node."""
    files = sorted(path for pattern in NODES for node in logs.glob(pattern) for path in node.rglob("*.log"))
    kinds = sorted({path.name for path in files})
    for chosen in (each for size in range(1, most + 1) for each in combinations(kinds, size)):
        every = [path for path in files if path.name in chosen]
        brokers = [path for path in every if path.parent.name.startswith("broker-")]
        yield f"{' and '.join(chosen)} of all nodes", every
        if brokers and brokers != every:
            yield f"{' and '.join(chosen)} of brokers", brokers
    for node in sorted({path.parent for path in files}):
        yield node.name, [path for path in files if path.parent == node]


def alarms(logs: Path, most: int) -> list[str]:
    """The parts of consistent logs that are said to be inconsistent, with the place of the first mismatch."""
    found = []
    for name, files in parts(logs, most):
        _, answer = validated_by_choice(read_logs(files), None, lambda spec: load(spec, None, {}))
        if answer.verdict is TraceVerdict.INCONSISTENT:
            first = answer.violations[0]
            found.append(f"{name}: {first.place.file.rpartition('/')[2]}:{first.place.line} {first.event.kind}")
    return found


@pytest.mark.slow
def test_some_logs_of_a_cluster_are_no_false_alarm(tmp_path: Path) -> None:
    assert alarms(unpack_sample("elections", tmp_path), 1) == []


@pytest.mark.slow
@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda path: path.name.partition(".")[0])
def test_some_logs_of_a_recorded_run_are_no_false_alarm(recording: Path, tmp_path: Path) -> None:
    with tarfile.open(recording) as packed:
        packed.extractall(tmp_path, filter="data")
    (logs,) = {path.parent for path in tmp_path.rglob("broker-*")}
    assert alarms(logs, 2 if recording.name.partition(".")[0] in IN_PAIRS else 1) == []
