"""A topic that is deleted and created again has the name of the earlier one: the lines of the two are distinguished."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.grammar.kernel import Slicing
from assay.grammar.kernel.types import Sort
from assay.traces.log_reader import read_logs
from assay.traces.observe.slice_assignment import sliced

HEAD = "[2026-11-21 18:07:{time}] INFO [Broker id={broker}] "
LEADER = (
    "Leader again-1 starts at leader epoch {epoch} from offset 0 with high watermark 0 ISR [1,2] addingReplicas [] "
    "removingReplicas []. Previous leader epoch was {before}. (state.change.logger)\n"
)
FOLLOWER = (
    "Follower again-1 starts at leader epoch {epoch} from offset 0 with high watermark 0. Previous leader epoch was "
    "{before}. (state.change.logger)\n"
)


Line = tuple[int, str, str, int, int]


def lives(folder: Path, *lines: Line, lacking: bool = True) -> list[list[int]]:
    """The broker of each line of each life of again-1. A line is given by its broker, time, text, and both epochs."""
    for broker, time, text, epoch, before in lines:
        log = folder / f"broker-{broker}" / "state-change.log"
        log.parent.mkdir(exist_ok=True)
        with log.open("a") as file:
            file.write((HEAD + text).format(time=time, broker=broker, epoch=epoch, before=before))
    slicing = Slicing(Sort("Partition", ("p",), symmetric=False), ("topic", "partition"), "PartitionCreated")
    found = sliced(slicing, read_logs([folder]).events, {}, lacking=lacking).slices
    return [[event.fields["broker"] for event in found[name]] for name in sorted(found)]  # type: ignore[misc]


def test_a_process_to_which_a_partition_is_new_again_shows_that_it_was_created_again(tmp_path: Path) -> None:
    """No line tells of the deletion nor of the creation. Lines of other brokers shortly before are of the new life."""
    first = (2, "09,807", LEADER, 0, -1)
    again = ((1, "35,370", LEADER, 0, -1), (2, "35,527", FOLLOWER, 0, -1), (2, "59,000", LEADER, 1, 0))
    assert lives(tmp_path, first, *again) == [[2], [1, 2, 2]]


STALE: tuple[Line, ...] = (
    (2, "09,807", FOLLOWER, 0, -1),
    (2, "35,370", FOLLOWER, 1, 0),
    (2, "35,388", FOLLOWER, 0, -1),
)


def test_in_whole_logs_a_stale_epoch_is_no_other_life(tmp_path: Path) -> None:
    """The controller would have said that it created the topic again."""
    assert lives(tmp_path, *STALE, lacking=False) == [[2, 2, 2]]


def test_where_another_broker_goes_on_from_its_epoch_a_stale_one_is_no_other_life(tmp_path: Path) -> None:
    goes_on: tuple[Line, ...] = ((1, "35,371", LEADER, 1, 0), (1, "59,000", LEADER, 2, 1))
    (life,) = lives(tmp_path, *STALE, *goes_on)
    assert sorted(life) == [1, 1, 2, 2, 2]


@pytest.mark.parametrize(
    "later",
    [
        pytest.param((2, "35,527", LEADER, 1, -1), id="moved away and back"),
        pytest.param((2, "35,527", LEADER, 0, 0), id="the same epoch once more"),
        pytest.param((3, "35,527", FOLLOWER, 0, -1), id="new to another broker"),
    ],
)
def test_a_partition_that_moves_or_is_told_again_was_not_created_again(
    tmp_path: Path, later: tuple[int, str, str, int, int]
) -> None:
    assert lives(tmp_path, (2, "09,807", LEADER, 0, -1), later) == [[2, later[0]]]


TOLD = (
    "[2026-11-21 18:07:{time}] TRACE [Broker id=2] Received LeaderAndIsr request PartitionState(controllerEpoch=3, "
    "leader={leader}, leaderEpoch=0, isr={leader},1, zkVersion={version}, replicas=3,2,1, isNew=true) correlation id 35 "
    "from controller 2 epoch 3 for partition again-1 (state.change.logger)\n"
)
STOPPED = (
    "[2026-11-21 18:07:20,000] TRACE [Broker id=2] Finished handling stop replica (delete={}) for partition again-1 "
    "(state.change.logger)\n"
)
DELETED = {
    "stopped": STOPPED.format("true"),
    "forgotten": (
        "[2026-11-21 18:07:20,000] TRACE [Broker id=2] Deleted partition again-1 from metadata cache in response to "
        "UpdateMetadata request sent by controller 2 epoch 3 with correlation id 31 (state.change.logger)\n"
    ),
    "renamed": (
        "[2026-11-21 18:07:20,000] INFO Log for partition again-1 is renamed to /d/again-1.0da8887b-delete and is "
        "scheduled for deletion (kafka.log.LogManager)\n"
    ),
}
KEPT = STOPPED.format("false")


def numbers_of_lives(folder: Path, between: str, version: int, leader: int, identity: str | None = None) -> list[int]:
    """How many lines each life of again-1 has: of a first one with version 1 and leader 1, and of what comes later."""
    lines = (
        TOLD.format(time="09,807", leader=1, version=1),
        between,
        TOLD.format(time="35,370", leader=leader, version=version),
    )
    (folder / "state-change.log").write_text("".join(lines))
    since = None if identity else "PartitionCreated"
    slicing = Slicing(Sort("Partition", ("p",), symmetric=False), ("topic", "partition"), since, identity)
    found = sliced(slicing, read_logs([folder]).events, {}).slices
    return [len(found[name]) for name in sorted(found)]


@pytest.mark.parametrize("identity", [None, "topic_id"])
@pytest.mark.parametrize(("version", "leader"), [(0, 1), (1, 3)])
@pytest.mark.parametrize("line", DELETED)
def test_a_partition_that_a_process_gives_up_and_finds_younger_was_created_again(
    tmp_path: Path, line: str, version: int, leader: int, identity: str | None
) -> None:
    assert numbers_of_lives(tmp_path, DELETED[line], version, leader, identity) == [2, 1]


@pytest.mark.parametrize(
    ("between", "version", "leader"),
    [
        pytest.param(DELETED["stopped"], 2, 1, id="moved away and back"),
        pytest.param(DELETED["stopped"], 1, 1, id="the same once more"),
        pytest.param(KEPT, 0, 3, id="kept"),
        pytest.param("", 1, 3, id="two states with one version"),
    ],
)
def test_a_partition_is_not_created_again_without_a_deletion_and_a_lower_number(
    tmp_path: Path, between: str, version: int, leader: int
) -> None:
    (life,) = numbers_of_lives(tmp_path, between, version, leader)
    assert life == 2 + bool(between)
