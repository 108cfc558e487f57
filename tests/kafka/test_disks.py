"""Clusters whose brokers have two log directories each, of which one failed while the broker lived: no false alarm, and what was edited is found."""

from __future__ import annotations

import re
import tarfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from benchmarks.cuts import cuts

from assay.cli.settings import load
from assay.traces.log_reader import read_logs
from assay.traces.result import TraceVerdict, Validation
from assay.traces.spec_selection import validate_with_selection

from .recorded import RECORDINGS

ZOOKEEPER = "disks-zookeeper-2.8.2"
KRAFT = "disks-kraft-4.1.0"


def answer(logs: Path) -> Validation:
    return validate_with_selection(read_logs([logs]), None, lambda spec: load(spec, None, {}))[1]


@pytest.mark.slow
@pytest.mark.parametrize(("run", "used"), [(ZOOKEEPER, 3181), (KRAFT, 2055)])
def test_a_directory_that_fails_is_no_false_alarm_and_no_line_of_it_is_unknown(run: str, used: int) -> None:
    found = answer(RECORDINGS / f"{run}.tar.xz")
    assert (found.verdict, found.reason) == (TraceVerdict.CONSISTENT, None)
    assert (found.violations, found.properties) == ((), ())
    assert (found.counts.used, found.counts.unmapped) == (used, 0)


@dataclass(frozen=True)
class Edit:
    """A text that is replaced in the first line of a node's file that holds it, and the slice that is inconsistent then.
    ``lost`` is the line that explains all of it if it was lost."""

    what: str
    run: str
    file: str
    before: str
    after: str
    slice: str
    lost: str | None = None

    def __str__(self) -> str:
        return self.what


CHANGED = "Changed partition audit-0 from OfflinePartition to OnlinePartition with state LeaderAndIsr"
EDITS = [
    Edit(
        "another broker",
        ZOOKEEPER,
        "broker-3/state-change.log",
        "on broker 1 as offline",
        "on broker 2 as offline",
        "audit-1",
    ),
    Edit(
        "one replica is left out",
        ZOOKEEPER,
        "broker-3/state-change.log",
        "replicas audit-1,",
        "replicas ",
        "audit-1",
        lost="ReplicaOffline(node broker-3, topic audit, replica 1)",
    ),
    Edit(
        "no failure",
        ZOOKEEPER,
        "broker-3/state-change.log",
        r"\n[^\n]*Mark replicas[^\n]*",
        "",
        "audit-1",
        lost="ReplicaOffline(node broker-3, topic audit and orders, replica 1)",
    ),
    Edit(
        "it leads without its log",
        ZOOKEEPER,
        "broker-3/state-change.log",
        rf"({CHANGED})\(leader=1,",
        r"\1(leader=3,",
        "audit-0",
    ),
    Edit(
        "it stays in sync",
        ZOOKEEPER,
        "broker-3/state-change.log",
        rf"({CHANGED}.*?)isr=List\(1\)",
        r"\1isr=List(1, 3)",
        "audit-0",
    ),
    Edit(
        "another broker in KRaft",
        KRAFT,
        "broker-3/controller.log",
        r"handleDirectoriesOffline\[1:(.*\n.*)in broker 1",
        r"handleDirectoriesOffline[2:\1in broker 2",
        "orders-0",
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize("edit", EDITS, ids=str)
def test_what_does_not_fit_the_failure_is_found(edit: Edit, tmp_path: Path) -> None:
    with tarfile.open(RECORDINGS / f"{edit.run}.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    file = tmp_path / edit.run / edit.file
    text, count = re.subn(edit.before, edit.after, file.read_text(), count=1)
    assert count == 1
    file.write_text(text)
    found = answer(tmp_path)
    assert found.verdict is (TraceVerdict.INCONSISTENT if edit.lost is None else TraceVerdict.INCONCLUSIVE)
    assert edit.lost is None or (found.reason is not None and found.reason.endswith(f"was lost: {edit.lost}"))
    wrong = {result.name for result in found.slices if result.verdict is TraceVerdict.INCONSISTENT}
    assert edit.slice in wrong


@pytest.mark.slow
@pytest.mark.parametrize("cut", ["at level INFO", "with prefixes of docker"])
def test_it_is_found_in_the_logs_as_operators_have_them(cut: str, tmp_path: Path) -> None:
    """What was broken stands in lines of level INFO."""
    edit = next(each for each in EDITS if each.what == "it leads without its log")
    with tarfile.open(RECORDINGS / f"{edit.run}.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    logs, target = tmp_path / edit.run, tmp_path / "cut"
    text, count = re.subn(edit.before, edit.after, (logs / edit.file).read_text(), count=1)
    assert count == 1
    (logs / edit.file).write_text(text)
    dict(cuts(logs))[cut](logs, target)
    found = answer(target)
    assert found.verdict is TraceVerdict.INCONSISTENT
    assert edit.slice in {result.name for result in found.slices if result.verdict is TraceVerdict.INCONSISTENT}
