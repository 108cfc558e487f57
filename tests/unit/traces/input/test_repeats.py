"""Records that a file holds twice because they were shipped twice are counted once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from assay.traces.log_reader import read_logs

CHANGED = (
    "[2021-03-04 09:00:00,{at:03}] INFO [Controller id=3] Newly added brokers: , deleted brokers: {deleted}, "
    "bounced brokers: , all live brokers: 2,3 (kafka.controller.KafkaController)\n"
)


def kinds(tmp_path: Path, text: str) -> tuple[list[Any], list[str]]:
    """The sets of deleted brokers that were read, and the texts of the notices about repeats."""
    (tmp_path / "controller.log").write_text(text)
    found = read_logs([tmp_path])
    deleted = [each.fields["deleted"] for each in found.events if each.kind == "BrokerSetChanged"]
    return deleted, [each.text for each in found.notices if each.kind == "repeated records"]


def line(at: int, deleted: str) -> str:
    return CHANGED.format(at=at, deleted=deleted)


def test_a_batch_that_was_sent_again_is_read_once(tmp_path: Path) -> None:
    batch = [line(at, str(at)) for at in range(1, 21)]
    deleted, [notice] = kinds(tmp_path, "".join(batch[:12] + batch[2:]))
    assert [set(each) for each in deleted] == [{at} for at in range(1, 21)]
    assert notice.endswith(": 10")


def test_equal_words_at_another_time_or_other_words_at_that_time_are_no_repeat(tmp_path: Path) -> None:
    deleted, notices = kinds(tmp_path, "".join(line(at, "1") + line(at, "4") for at in range(10)))
    assert len(deleted) == 20
    assert not notices


def test_where_times_are_known_to_the_second_only_nothing_is_dropped(tmp_path: Path) -> None:
    deleted, notices = kinds(tmp_path, 20 * line(0, "1").replace(",000]", "]"))
    assert len(deleted) == 20
    assert not notices
