"""Rotated files of one log are one sequence, in the order of writing; overlapping ones are logs by themselves."""

from __future__ import annotations

from pathlib import Path

from assay.traces.log_reader import ReadOptions, read_logs

LINE = "[2024-05-01 10:{:02}:00,000] INFO [Controller id=1] {} (kafka.controller.KafkaController)\n"
TEXT = "1 successfully elected as the controller. Epoch incremented to {0} and epoch zk version is now {0}"


def streams(folder: Path) -> list[list[int]]:
    """The minutes of the records of each stream, in the order in which they are read."""
    read = read_logs([folder], ReadOptions())
    found: dict[str, list[int]] = {}
    for event in read.events:
        found.setdefault(event.sequence, []).append(int(event.record.time or 0) // 60_000 % 60)
    return sorted(found.values())


def write(folder: Path, name: str, minutes: range, epoch: int = 1) -> None:
    """A file of a broker with one line a minute."""
    folder.mkdir(exist_ok=True)
    text = "".join(LINE.format(minute, TEXT.format(minute + epoch)) for minute in minutes)
    (folder / name).write_text(text)


def test_parts_of_a_rotated_log_follow_each_other(tmp_path: Path) -> None:
    node = tmp_path / "broker-1"
    write(node, "controller.log", range(20, 23))
    write(node, "controller.log.1", range(10, 13))
    write(node, "controller.log.2", range(3))
    assert streams(tmp_path) == [[0, 1, 2, 10, 11, 12, 20, 21, 22]]


def test_files_that_overlap_in_time_are_no_parts_of_each_other(tmp_path: Path) -> None:
    node = tmp_path / "broker-1"
    write(node, "controller.log", range(5, 15))
    write(node, "controller.log.1", range(2, 9), epoch=100)
    assert len(streams(tmp_path)) == 2


def test_one_overlap_is_enough_to_make_all_files_logs_by_themselves(tmp_path: Path) -> None:
    node = tmp_path / "broker-1"
    write(node, "controller.log", range(11, 20), epoch=100)
    write(node, "controller.log.1", range(10, 13))
    write(node, "controller.log.2", range(3))
    assert len(streams(tmp_path)) == 3


def test_a_few_lines_with_the_newest_first_are_turned_around(tmp_path: Path) -> None:
    write(tmp_path / "broker-1", "pasted.log", range(2, -1, -1))
    assert streams(tmp_path) == [[0, 1, 2]]


def test_of_parts_within_one_time_the_one_with_the_higher_number_was_written_first(tmp_path: Path) -> None:
    node = tmp_path / "broker-1"
    for name, epoch in (("controller.log", 3), ("controller.log.1", 2), ("controller.log.2", 1)):
        write(node, name, range(1), epoch)
    assert [event.fields["epoch"] for event in read_logs([tmp_path], ReadOptions()).events] == [1, 2, 3]


def test_of_a_line_that_the_copy_of_a_log_holds_twice_one_is_kept(tmp_path: Path) -> None:
    write(tmp_path / "broker-1", "controller.log", range(10))
    write(tmp_path / "copy", "controller.log", range(10))
    with (tmp_path / "copy" / "controller.log").open("a") as file:
        file.write(LINE.format(9, TEXT.format(10)))
    assert len(read_logs([tmp_path], ReadOptions()).events) == 11


def test_a_file_whose_records_two_others_hold_has_none_left_for_the_second(tmp_path: Path) -> None:
    # The third file lies within the second, and shares a few records with the first, which the second has too.
    for name, parts in (("a", [(9, 30), (7, 3)]), ("b", [(8, 20), (7, 3)]), ("c", [(8, 10), (7, 3)])):
        lines = [
            f"[2024-01-01 10:00:{at:02},{ms:03}] INFO [Partition t-{at} broker=1] ISR updated to 1,2 and version updated to {at + 1} (kafka.cluster.Partition)\n"
            for ms, count in parts
            for at in range(count)
        ]
        (tmp_path / name).mkdir()
        (tmp_path / name / "server.log").write_text("".join(sorted(lines)))
    (notice,) = [each for each in read_logs([tmp_path]).notices if each.kind == "duplicated input"]
    assert notice.text.startswith("13 records that ")
