"""To which run of its process a line belongs, whatever the order in which parts of logs were put together."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from assay.traces.attribution import process_runs
from assay.traces.log_reader import read_logs
from assay.traces.store.packed_records import PackedRecords

PRELUDE = "Registered kafka:type=kafka.Log4jController MBean (kafka.utils.Log4jControllerRegistration$)"
STARTING = "starting (kafka.server.KafkaServer)"
ELECTED = (
    "[Controller id={broker}] {broker} successfully elected as the controller. "
    "Epoch incremented to 5 and epoch zk version is now 5 (kafka.controller.KafkaController)"
)


def lines(broker: int, *, starts: tuple[int, ...], elected: tuple[int, ...]) -> str:
    """The lines of a broker that starts in some minutes, and is elected in others, in the order of time."""
    texts = dict.fromkeys(starts, (PRELUDE, STARTING)) | dict.fromkeys(elected, (ELECTED,))
    return "".join(
        f"[2021-03-04 09:{minute:02}:0{second},00{broker}] INFO {text.format(broker=broker)}\n"
        for minute in sorted(texts)
        for second, text in enumerate(texts[minute])
    )


def test_a_part_of_a_log_goes_on_in_the_run_that_began_in_another_part(tmp_path: Path) -> None:
    oldest = lines(1, starts=(1, 11), elected=(2, 12))
    middle = lines(1, starts=(30,), elected=(21,))
    newest = lines(1, starts=(50,), elected=(31, 51))
    other = lines(2, starts=(3,), elected=(4,))
    # Times do not go back between the oldest part and the newest, so that these look like one file.
    (tmp_path / "all.log").write_text(middle + oldest + newest + other)
    events = [each for each in read_logs([tmp_path]).events if each.kind == "ControllerElected"]
    runs = {(each.fields["broker"], (each.record.time or 0) // 60_000 % 60): each.run.number for each in events}
    assert runs == {(1, 2): 1, (1, 12): 2, (1, 21): 2, (1, 31): 3, (1, 51): 4, (2, 4): 1}


def test_processes_that_ran_beside_each_other_with_one_id_are_two_nodes(tmp_path: Path) -> None:
    """A second process with the broker's id started and ended while the first one ran on."""
    first, other = lines(1, starts=(1, 30), elected=(2, 12, 31)), lines(2, starts=(3,), elected=(4,))
    ended = "[2021-03-04 09:12:00,000] INFO [KafkaServer id=1] shut down completed (kafka.server.KafkaServer)\n"
    (tmp_path / "all.log").write_text(first + lines(1, starts=(10,), elected=()) + ended + other)
    reading = read_logs([tmp_path])
    events = [each for each in reading.events if each.kind == "ControllerElected"]
    runs = {(each.fields["broker"], (each.record.time or 0) // 60_000 % 60): each.run.number for each in events}
    assert runs == {(1, 2): 1, (1, 12): 1, (1, 31): 2, (2, 4): 1}
    assert [(each.brokers, each.runs) for each in reading.nodes] == [((1,), 2), ((1,), 1), ((2,), 1)]


def test_standard_output_beside_the_log_file_is_the_same_process(tmp_path: Path) -> None:
    """Both tell the same starts; the file of standard output began one run later, and broke off."""
    own, other = lines(1, starts=(1, 30), elected=(2, 12, 31)), lines(2, starts=(3,), elected=(4,))
    printed = lines(1, starts=(10,), elected=(12,))
    (tmp_path / "all.log").write_text(own + printed + other)
    assert [each.brokers for each in read_logs([tmp_path]).nodes] == [(1,), (2,)]


def test_a_thread_that_a_process_starts_once_tells_of_a_run_whose_start_was_not_read(tmp_path: Path) -> None:
    thread = (
        "[2021-03-04 09:{:02}:00,000] INFO [ControllerEventThread controllerId=1] Starting "
        "(kafka.controller.ControllerEventManager$ControllerEventThread)\n"
    )
    lost = [thread.format(2), lines(1, starts=(), elected=(3,)), thread.format(20), lines(1, starts=(), elected=(21,))]
    (tmp_path / "controller.log").write_text("".join(lost))
    (tmp_path / "server.log").write_text(lines(1, starts=(1,), elected=()))
    events = [each for each in read_logs([tmp_path]).events if each.kind == "ControllerElected"]
    assert [each.run.number for each in events] == [1, 2]


def test_a_prelude_long_after_another_one_is_that_of_another_process(tmp_path: Path) -> None:
    """Where lines were searched for, none between the two may say that the first process ran."""
    stamps = ("09:00:00,000", "09:00:03,000", "09:00:32,000")
    text = "".join(f"[2021-03-04 {each}] INFO {PRELUDE}\n" for each in stamps)
    (tmp_path / "server.log").write_text(text)
    runs = [each.run.number for each in read_logs([tmp_path]).events if each.kind == "ProcessPrelude"]
    assert runs == [1, 1, 2]


def test_of_a_process_that_restarts_all_the_time_each_log_is_asked_for_its_ends_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "kafka-1").mkdir()
    for at, name in enumerate(("server.log", "kafkaServer.out"), 1):  # the lines of the two differ by a millisecond
        (tmp_path / "kafka-1" / name).write_text(lines(at, starts=(*range(40),), elected=()))
    asked: list[int] = []
    ends = process_runs._ends

    def counted(logs: Iterable[PackedRecords]) -> set[int]:
        asked.append(1)
        return ends(logs)

    monkeypatch.setattr(process_runs, "_ends", counted)
    assert len({event.run for event in read_logs([tmp_path]).events}) >= 40
    # Once for each start of the other log it was: 1,000 restarts took minutes.
    assert len(asked) <= 6
