"""Lines of one partition that contradict each other are rejected and named, whatever is missing; healthy ones are not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from assay.api.log_answers import validate
from assay.traces.observe.partial_order import OrderedObservation
from assay.traces.result import TraceVerdict
from assay.traces.slices.versions import ask_slice
from assay.traces.windows.window_model import LogPart

LEADER = (
    "[2026-11-21 01:54:{at},124] INFO [Broker id={broker}] Leader audit-1 with topic id Some(fzFNa-HhRjCamjRexivRfA) starts "
    "at leader epoch {epoch} from offset 279 with partition epoch {version}, high watermark 278, ISR [{isr}], adding replicas [] "
    "and removing replicas [] . Previous leader Some(2) and previous leader epoch was {before}. (state.change.logger)\n"
)
FOLLOWER = (
    "[2026-11-21 01:54:{at},305] INFO [Broker id={broker}] Follower orders-4 starts at leader epoch {epoch} from offset 400 "
    "with high watermark 400. Previous leader epoch was {before}. (state.change.logger)\n"
)


def said(folder: Path, lines: dict[int, str]) -> tuple[TraceVerdict, list[list[str]]]:
    """The verdict on what brokers wrote, and the lines that each finding names."""
    for broker, text in lines.items():
        place = folder / "logs" / f"broker-{broker}" / "state-change.log"
        place.parent.mkdir(parents=True)
        place.write_text(text, encoding="utf-8")
    answer = validate([str(folder / "logs")])
    named = [each.contradiction for each in answer.mismatches if each.contradiction is not None]
    return answer.verdict, [[event.run.node for event in each.events] for each in named]


@pytest.mark.slow
def test_a_leader_that_says_an_isr_without_itself(tmp_path: Path) -> None:
    line = LEADER.format(at="56", broker=3, epoch=2, isr="2", before=1, version=3)
    assert said(tmp_path, {3: line}) == (TraceVerdict.INCONSISTENT, [["broker-3"]])


def two_leaders(folder: Path, epoch: int, seconds: int) -> tuple[TraceVerdict, list[list[str]]]:
    """What is said of two brokers that lead in one leader epoch, one so many seconds after the other."""
    fields = {"epoch": epoch, "isr": "2,3", "before": epoch - 1}
    lines = {
        broker: LEADER.format(at=at, broker=broker, version=max(epoch, 1) + broker - 2, **fields)
        for broker, at in ((2, 10), (3, 10 + seconds))
    }
    return said(folder, lines)


@pytest.mark.slow
@pytest.mark.parametrize(("epoch", "seconds"), [(2, 13), (0, 1)])
def test_two_leaders_in_one_leader_epoch(tmp_path: Path, epoch: int, seconds: int) -> None:
    assert two_leaders(tmp_path, epoch, seconds) == (TraceVerdict.INCONSISTENT, [["broker-2", "broker-3"]])


@pytest.mark.slow
def test_two_leaders_of_the_first_leader_epoch_of_a_topic_that_may_be_created_again(tmp_path: Path) -> None:
    """The line that would tell of the creation is in a log that is missing."""
    assert two_leaders(tmp_path, 0, 13) == (TraceVerdict.INCONCLUSIVE, [])


@pytest.mark.slow
def test_a_broker_that_begins_an_older_leader_epoch(tmp_path: Path) -> None:
    line = FOLLOWER.format(at="50", broker=3, epoch=3, before=4)
    assert said(tmp_path, {3: line})[0] is TraceVerdict.INCONSISTENT


@pytest.mark.slow
def test_a_broker_of_kraft_that_begins_an_older_leader_epoch_by_its_own_line(tmp_path: Path) -> None:
    """No log of a controller was read."""
    line = LEADER.format(at="50", broker=3, epoch=3, isr="2,3", before=4, version=7)
    assert said(tmp_path, {3: line})[0] is TraceVerdict.INCONSISTENT


UNFENCED = (
    "[2026-11-21 01:54:05,100] INFO [BrokerLifecycleManager id=3] The broker has been unfenced. Transitioning from RECOVERY "
    "to RUNNING. (kafka.server.BrokerLifecycleManager)\n"
)
APPLIED = (
    "[2026-11-21 01:54:{at},305] INFO [Broker id=3] Follower orders-4 starts at leader epoch {epoch} from offset 400 with "
    "partition epoch {version} and high watermark 400. Current leader is {leader}. Previous leader Some(1) and previous "
    "leader epoch was {held}. (state.change.logger)\n"
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("epoch", "version", "wrong"), [(3, 118, True), (5, 118, False), (6, 118, True), (6, 119, False)]
)
def test_a_leader_epoch_of_kraft_falls_or_rises_by_more_than_the_version(
    tmp_path: Path, epoch: int, version: int, *, wrong: bool
) -> None:
    first = APPLIED.format(at=10, epoch=4, version=117, leader=1, held=4)
    second = APPLIED.format(at=23, epoch=epoch, version=version, leader=2, held=epoch)
    verdict, named = said(tmp_path, {3: UNFENCED + first + second})
    assert (verdict is TraceVerdict.INCONSISTENT) is wrong
    assert named == ([["broker-3", "broker-3"]] if wrong else [])


@pytest.mark.slow
def test_a_follower_holds_a_later_leader_epoch_than_it_begins(tmp_path: Path) -> None:
    line = APPLIED.format(at=10, epoch=3, version=117, leader=1, held=4)
    assert said(tmp_path, {3: UNFENCED + line})[0] is TraceVerdict.INCONSISTENT


@pytest.mark.slow
@pytest.mark.parametrize("epochs", [(2, 3), (5, 20)])
def test_leaders_of_different_leader_epochs_contradict_nothing(tmp_path: Path, epochs: tuple[int, int]) -> None:
    lines = {
        broker: LEADER.format(at=50 + broker, broker=broker, epoch=epoch, isr="2,3", before=1, version=epoch + 1)
        for broker, epoch in zip((2, 3), epochs, strict=True)
    }
    verdict, named = said(tmp_path, lines)
    assert verdict is not TraceVerdict.INCONSISTENT
    assert named == []


@pytest.mark.slow
def test_the_chain_that_slices_share_decides_as_a_window_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three partitions are asked about one after the other: the second one contradicts itself."""
    asked: list[tuple[bool, bool]] = []

    def compared(log: LogPart, lines: Sequence[OrderedObservation]) -> ask_slice.SliceWindowAnswer:
        alone = ask_slice.refuted_lines(log, lines, 1, in_turn=True, together=True)
        asked.append((ask_slice.is_explained_in_turn(log, lines), alone is None))
        return ask_slice.UNANSWERED

    monkeypatch.setattr(ask_slice, "ask_slice", compared)
    said(
        tmp_path,
        {
            broker: "".join(
                LEADER.format(
                    at=50 + broker, broker=broker, epoch=epoch, isr="2,3", before=1, version=epoch + broker
                ).replace("audit-1", f"audit-{at}")
                for at, epoch in enumerate(epochs)
            )
            for broker, epochs in {2: (2, 2, 5), 3: (3, 2, 9)}.items()
        },
    )
    assert asked == [(True, True), (False, False), (True, True)]


@pytest.mark.slow
def test_what_came_before_the_first_known_write_rests_on_writes_without_lines(tmp_path: Path) -> None:
    """A follower begins an epoch that no line names; later a line gives the partition's state in full."""
    place = tmp_path / "broker-3" / "state-change.log"
    place.parent.mkdir()
    before = FOLLOWER.format(at="50", broker=3, epoch=2, before=1).replace("orders-4", "audit-1")
    place.write_text(before + LEADER.format(at="56", broker=3, epoch=5, isr="2,3", before=4, version=9))
    answer = validate([str(tmp_path)])
    assert answer.verdict in (TraceVerdict.CONSISTENT, TraceVerdict.VACUOUS)
    assert any("explained by writes of which no line tells" in each for each in answer.validation.rests_on)


STATED = (
    "[2026-11-21 01:54:20,124] INFO [Controller id=1 epoch=4] Changed partition orders-4 from OnlinePartition to "
    "OnlinePartition with state LeaderAndIsr(leader=3, leaderEpoch=5, isr=List({isr}), zkVersion=7) (state.change.logger)\n"
)


@pytest.mark.slow
@pytest.mark.parametrize(("isr", "wrong"), [("2, 1", True), ("3, 2", False)])
def test_a_first_write_that_no_cluster_can_be_in(tmp_path: Path, isr: str, *, wrong: bool) -> None:
    """A slice begins with the state that its first line gives, and that is held against the lemmas by a window, too."""
    assert (said(tmp_path, {1: STATED.format(isr=isr)})[0] is TraceVerdict.INCONSISTENT) == wrong


UPDATED = (
    "[2026-11-21 01:54:10,124] INFO [Partition audit-1 broker=3] ISR updated to {isr}  and version updated to 7 "
    "(kafka.cluster.Partition)\n"
)


@pytest.mark.slow
@pytest.mark.parametrize(("isr", "wrong"), [("3,1", True), ("3,1,2", False)])
def test_two_states_with_one_version(tmp_path: Path, isr: str, *, wrong: bool) -> None:
    """A leader's line states the ISR of the version that it names, and not of some version."""
    lines = UPDATED.format(isr=isr) + LEADER.format(at=20, broker=3, epoch=5, isr="3,1,2", before=4, version=7)
    assert (said(tmp_path, {3: lines})[0] is TraceVerdict.INCONSISTENT) == wrong
