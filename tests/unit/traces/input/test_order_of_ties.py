"""An export that begins with the newest line is read as it was written, whichever way lines of one millisecond stand."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.traces.log_reader import read_logs

STEPS = (
    "[Controller id=1] 1 successfully elected as the controller. "
    "Epoch incremented to 5 and epoch zk version is now 5 (kafka.controller.KafkaController)",
    "[Controller id=1] Newly added brokers: 2, deleted brokers: , bounced brokers: , all live brokers: 1,2 "
    "(kafka.controller.KafkaController)",
    "[Controller id=1] Resigned (kafka.controller.KafkaController)",
)


def written() -> list[tuple[int, str]]:
    """Lines by milliseconds: the steps are repeated, every third time within a millisecond."""
    return [
        (1_000 * turn + (0 if turn % 3 == 0 else 10 * at), text) for turn in range(12) for at, text in enumerate(STEPS)
    ]


def line(at: int, text: str) -> str:
    return f"[2021-03-04 09:00:{at // 1_000:02},{at % 1_000:03}] INFO {text}\n"


@pytest.mark.parametrize("ties_reversed", [True, False])
def test_lines_of_one_millisecond_are_read_as_they_were_written(tmp_path: Path, ties_reversed: bool) -> None:
    lines = written()
    exported = lines[::-1] if ties_reversed else sorted(lines, key=lambda each: each[0], reverse=True)
    (tmp_path / "controller.log").write_text("".join(line(*each) for each in exported))
    found = read_logs([tmp_path])
    kinds = ["ControllerElected", "BrokerSetChanged", "Resigned"]
    assert [each.kind for each in found.events] == kinds * 12
    [notice] = [each.text for each in found.notices if each.kind == "newest first"]
    assert ("in the order of the file" in notice) is not ties_reversed
