"""Whoever has only some of a cluster's logs hears that something is missing, and of no violation."""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest
from benchmarks.cuts import answer, cuts, lines
from tests.stages import everyday, slow

from assay.traces.diagnosis.missing_logs import UNLOGGED_BROKER
from assay.traces.result import TraceVerdict, Validation
from assay.traces.samples import unpack_sample
from assay.traces.validate import INFERRED_BEFORE

FOLDER = Path(__file__).resolve().parents[1] / "corpus" / "recordings"
RECORDINGS = sorted(FOLDER.glob("[ABC]?.tar.xz"))
IN_PAIRS = frozenset({"B3"})
"""The recordings of which pairs of kinds of files are tried too: one that takes little time."""
LATE = ("all files from 25% on", "all files from 50% on", "all files from 75% on")
NO_ALARM = (TraceVerdict.CONSISTENT, TraceVerdict.INCONCLUSIVE)
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
        said = answer(files)
        if said.verdict is TraceVerdict.INCONSISTENT:
            first = said.violations[0]
            found.append(f"{name}: {first.place.file.rpartition('/')[2]}:{first.place.line} {first.event.kind}")
    return found


def unpacked(recording: str, folder: Path) -> Path:
    with tarfile.open(FOLDER / f"{recording}.tar.xz") as packed:
        packed.extractall(folder, filter="data")
    return folder / recording


@pytest.mark.slow
def test_controllers_in_kraft_mode_tell_too_little_of_partitions(tmp_path: Path) -> None:
    """They number the writes that they refuse, and say nothing else of them."""
    found = answer(sorted(unpacked("C2", tmp_path).glob("controller-*")))
    assert (found.verdict, found.violations, found.properties) == (TraceVerdict.CONSISTENT, (), ())
    supposed = "no log of a broker was read: what became of partitions after they were created is supposed"
    assert any(each.startswith(supposed) for each in found.rests_on)
    assert found.held > 0
    assert "leadership.touch" not in found.hidden


@pytest.mark.slow
def test_what_a_missing_broker_did_is_no_mismatch(tmp_path: Path) -> None:
    """Broker 1 led a partition and finished its move; without its lines the others name a leader whose election no line shows."""
    logs = unpacked("C2", tmp_path)
    found = answer([node for node in logs.iterdir() if node.name != "broker-1"])
    assert (found.verdict, found.violations, found.properties) == (TraceVerdict.INCONCLUSIVE, (), ())
    assert [result.name for result in found.slices if result.verdict is not TraceVerdict.CONSISTENT] == ["audit-0"]


@pytest.mark.parametrize(
    ("recording", "cut"),
    everyday(
        [
            *((zookeeper, cut) for zookeeper in ("A0", "A4", "A6") for cut in (*LATE, "broker-1 only")),
            *(
                (kraft, cut)
                for kraft in ("C1", "C2", "kraft-4.1.1", "kraft-4.4.0")
                for cut in (*LATE[:2], "broker-2 only")
            ),
            *((each, "last third of every file") for each in ("A9", "B1")),
        ],
        1,
    ),
)
def test_logs_that_begin_in_mid_life_or_are_of_one_broker_are_checked(recording: str, cut: str, tmp_path: Path) -> None:
    """What came before, and what the other brokers did, is supposed; every line then has an explanation."""
    logs, part = unpacked(recording, tmp_path), tmp_path / "part"
    dict(cuts(logs))[cut](logs, part)
    found = answer([part])
    assert (found.verdict in NO_ALARM, found.violations, found.properties) == (True, (), ())
    assert INFERRED_BEFORE in found.rests_on
    assert found.slices


def edited(paths: list[Path], before: str, after: str) -> tuple[Validation, set[str]]:
    """The answer once the first match of a pattern is replaced, and its inconsistent slices."""
    path = next(each for each in paths if re.search(before, each.read_text()))
    path.write_text(re.sub(before, after, path.read_text(), count=1))
    found = answer(paths)
    return found, {each.name for each in found.slices if each.verdict is TraceVerdict.INCONSISTENT}


def of_brokers(recording: str, kind: str, folder: Path) -> list[Path]:
    """The logs of brokers alone of a KRaft cluster, and of these one kind of file."""
    return sorted(unpacked(recording, folder).glob(f"broker-*/{kind}.log"))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["state-change", "server"])
@pytest.mark.parametrize("recording", ["kraft-3.7.2", "kraft-4.1.1"])
def test_one_kind_of_file_of_brokers_in_kraft_mode_is_no_false_alarm(recording: str, kind: str, tmp_path: Path) -> None:
    """What they tell is checked, with registrations supposed, and in server.log with the states that its lines leave out."""
    found = answer(of_brokers(recording, kind, tmp_path))
    assert (found.verdict in NO_ALARM, found.violations, found.properties) == (True, (), ())
    explained = [result for result in found.slices if result.verdict is TraceVerdict.CONSISTENT]
    assert len(explained) in (len(found.slices) - (kind == "state-change"), len(found.slices))
    assert kind == "state-change" or all(result.rests_on for result in explained)


@pytest.mark.slow
def test_a_broker_is_there_before_a_line_tells_that_it_registered(tmp_path: Path) -> None:
    found = answer(of_brokers("kraft-3.7.2", "state-change", tmp_path))
    told = [notice.text for notice in found.notices if notice.kind == UNLOGGED_BROKER]
    assert told == [f"broker {each} is there, and no line before tells that it registered" for each in (1, 2, 3)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "after"),
    [
        slow((r"(Leader orders-0 .* starts at leader epoch 1) ", r"\g<1>7 ")),
        slow((r"(Leader orders-0 .* with partition epoch 1, .* ISR \[)", r"\g<1>9,")),
        (r"(Follower orders-0 starts at leader epoch 1 .* Current leader is )\d", r"\g<1>9"),
    ],
    ids=["leader epoch", "ISR", "leader"],
)
def test_what_one_kind_of_file_does_tell_is_checked(before: str, after: str, tmp_path: Path) -> None:
    paths = of_brokers("kraft-3.7.2", "state-change", tmp_path)
    assert edited(paths, before, after)[1] == {"orders-0#2"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            r"(orders-0 broker=1\] ISR updated to )1,3  and version updated to 1 ",
            r"\g<1>3,2  and version updated to 1 ",
        ),
        (r"(orders-0 broker=1\] ISR updated to 1,2  and version updated to )3 ", r"\g<1>1 "),
        (r"(orders-0 broker=1\] ISR updated to 1,3,2  and version updated to )2 ", r"\g<1>1 "),
    ],
    ids=["a leader leaves itself out", "a version goes back", "two in-sync replica sets of one version"],
)
def test_what_server_log_tells_is_checked(before: str, after: str, tmp_path: Path) -> None:
    paths = of_brokers("kraft-3.7.2", "server", tmp_path)
    assert edited(paths, before, after)[1] == {"orders-0"}


def state_changes(recording: str, folder: Path) -> list[Path]:
    """state-change.log of each broker of a cluster in ZooKeeper mode."""
    return sorted(unpacked(recording, folder).glob("broker-*/state-change.log*"))


@pytest.mark.everyday(1)
@pytest.mark.parametrize(
    "recording",
    [
        *("A0", "zookeeper-1.1.1"),
        *(
            pytest.param(each, marks=pytest.mark.slow)
            for each in ("A4", "A9", "B1", "disks-zookeeper-2.8.2", "zookeeper-0.11.0.3", "zookeeper-3.0.2")
        ),
    ],
)
def test_state_changes_alone_of_zookeeper_mode_are_no_false_alarm(recording: str, tmp_path: Path) -> None:
    """Who was elected is supposed, and writes that server.log would tell of are missing: some partitions are explained, the others open."""
    found = answer(state_changes(recording, tmp_path))
    assert (found.verdict in NO_ALARM, found.violations, found.properties) == (True, (), ())
    assert INFERRED_BEFORE in found.rests_on
    explained = [result.name for result in found.slices if result.verdict is TraceVerdict.CONSISTENT]
    assert len(explained) >= len(found.slices) // 4 > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "after", "partition"),
    [
        slow((r"(audit-0 from OnlinePartition to OnlinePartition .*isr=List\(2)\)", r"\g<1>, 3)", "audit-0")),
        slow((r"(orders-0 from OnlinePartition to OnlinePartition .*isr=List\(3, 2)", r"\g<1>, 9", "orders-0")),
        (r"(orders-0 from OnlinePartition to OnlinePartition .*leaderEpoch=)1", r"\g<1>0", "orders-0"),
        slow((r"(orders-0 from OnlinePartition to OnlinePartition .*leader=)3", r"\g<1>1", "orders-0")),
    ],
    ids=["a replica from nowhere in the ISR", "a broker that is no replica in the ISR", "leader epoch", "leader"],
)
def test_what_state_changes_alone_do_tell_is_checked(before: str, after: str, partition: str, tmp_path: Path) -> None:
    paths = state_changes("A0", tmp_path)
    found, wrong = edited(paths, before, after)
    assert wrong == {partition}
    assert [violation.event.kind for violation in found.violations] == ["PartitionState"]


@pytest.mark.slow
@pytest.mark.parametrize("broker", ["broker-1", "broker-2", "broker-3"])
@pytest.mark.parametrize("recording", ["A9", "B1", "disks-zookeeper-2.8.2", "zookeeper-1.1.1"])
def test_a_missing_controller_log_is_no_false_alarm(recording: str, broker: str, tmp_path: Path) -> None:
    logs = unpacked(recording, tmp_path)
    for path in (logs / broker).glob("controller.log*"):
        path.unlink()
    found = answer([logs])
    assert (found.verdict in NO_ALARM, found.violations, found.properties) == (True, (), ())


@pytest.mark.slow
def test_a_partition_whose_leader_never_came_to_lead_rests_on_writes_without_a_line(tmp_path: Path) -> None:
    """Of 4.1.1: the broker that was to lead `again-1` was killed, and only one that follows it heard of the partition."""
    found = answer(sorted(unpacked("kraft-4.1.1", tmp_path).glob("broker-*")))
    assert (found.verdict, found.violations, found.properties) == (TraceVerdict.CONSISTENT, (), ())
    supposed = {each.name: each.rests_on for each in found.slices if each.rests_on is not None}
    assert list(supposed) == ["again-1#4"]
    assert "no line tells of its beginning" in supposed["again-1#4"]


@pytest.mark.slow
def test_eligible_replicas_are_supposed_where_nobody_is_in_sync(tmp_path: Path) -> None:
    """Only `controller.log` tells that they are enabled (KIP-966)."""
    logs = unpacked("kraft-4.4.0", tmp_path)
    found = answer([path for path in logs.rglob("*.log") if path.name != "controller.log"])
    assert (found.verdict, found.violations, found.properties) == (TraceVerdict.CONSISTENT, (), ())


@pytest.mark.slow
@pytest.mark.parametrize("recording", ["A0", "kraft-3.7.2"])
def test_no_part_of_healthy_logs_is_a_false_alarm_or_takes_long(recording: str) -> None:
    """Starts in mid-life, files that are missing or end within a line, other levels, prefixes, nothing at all."""
    wrong = ("inconsistent", "traceback", "too long")
    assert [each for each in lines([recording]) if each["verdict"] in wrong] == []


@pytest.mark.slow
def test_topics_that_are_made_while_there_is_no_controller_are_no_mismatch(tmp_path: Path) -> None:
    """Of 0.10: nobody tells that `again` is created, and it is deleted and created again later."""
    found = answer([unpacked("zookeeper-0.10.2.2", tmp_path)])
    assert (found.verdict, found.violations, found.properties) == (TraceVerdict.CONSISTENT, (), ())
    assert {each.verdict for each in found.slices} == {TraceVerdict.CONSISTENT}
    supposed = {result.name: result.rests_on for result in found.slices if result.rests_on is not None}
    beginnings = {name for name, text in supposed.items() if "no line tells of its beginning" in text}
    writes = {name for name, text in supposed.items() if "no line tells of write" in text}
    assert beginnings == {"again-0", "again-1"}
    assert writes >= {"again-0#2", "again-1#2"}


@pytest.mark.slow
def test_what_can_be_explained_without_known_behaviour_is_not_called_such(tmp_path: Path) -> None:
    """At level INFO no line says who wrote an ISR. It was the leader or the controller; in 2.8 the controller may or
    may not have known of the broker by then.
    """
    logs, cut = unpacked("A0", tmp_path), tmp_path / "cut"
    dict(cuts(logs))["at level INFO"](logs, cut)
    found = answer([cut])
    assert found.verdict is TraceVerdict.CONSISTENT
    assert [result.remarks for result in found.slices if result.remarks] == []
    taken = {step.action for result in found.slices if result.execution for step in result.execution.steps}
    assert taken & {"change_isr", "write_isr"}


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
