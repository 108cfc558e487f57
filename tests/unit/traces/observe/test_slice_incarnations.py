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


def lives(folder: Path, *lines: tuple[int, str, str, int, int]) -> list[list[int]]:
    """The broker of each line of each life of again-1. A line is given by its broker, time, text, and both epochs."""
    for broker, time, text, epoch, before in lines:
        log = folder / f"broker-{broker}" / "state-change.log"
        log.parent.mkdir(exist_ok=True)
        with log.open("a") as file:
            file.write((HEAD + text).format(time=time, broker=broker, epoch=epoch, before=before))
    slicing = Slicing(Sort("Partition", ("p",), symmetric=False), ("topic", "partition"), "PartitionCreated")
    found = sliced(slicing, read_logs([folder]).events, {}).slices
    return [[event.fields["broker"] for event in found[name]] for name in sorted(found)]  # type: ignore[misc]


def test_a_process_to_which_a_partition_is_new_again_shows_that_it_was_created_again(tmp_path: Path) -> None:
    """No line tells of the deletion nor of the creation. Lines of other brokers shortly before are of the new life."""
    first = (2, "09,807", LEADER, 0, -1)
    again = ((1, "35,370", LEADER, 0, -1), (2, "35,527", FOLLOWER, 0, -1), (2, "59,000", LEADER, 1, 0))
    assert lives(tmp_path, first, *again) == [[2], [1, 2, 2]]


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
