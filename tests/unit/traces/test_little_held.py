"""Few lines that agree with each other, from a log that begins in the middle, show little about a cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.cli.settings import load
from assay.traces.log_reader import read_logs
from assay.traces.result import TraceVerdict
from assay.traces.spec_selection import validate_with_selection
from assay.traces.validate import LITTLE_HELD

LINES = """\
[2022-02-03 10:00:00,100] INFO [Controller id=4] 4 successfully elected as the controller. Epoch incremented to 3 and epoch zk version is now 3 (kafka.controller.KafkaController)
[2022-02-03 10:00:01,100] INFO [Controller id=4] Ready to serve as the new controller with epoch 3 (kafka.controller.KafkaController)
"""


def test_an_answer_that_supposes_more_than_it_holds_is_inconclusive(tmp_path: Path) -> None:
    (tmp_path / "controller.log").write_text(LINES)
    reading = read_logs([tmp_path])
    _, validation = validate_with_selection(reading, None, lambda name: load(name, None, {}))
    assert validation.verdict is TraceVerdict.INCONCLUSIVE
    assert (validation.reason or "").startswith(LITTLE_HELD)
    assert validation.held == 1
    assert validation.violations == ()


@pytest.mark.slow
def test_one_line_of_a_log_that_begins_later_is_held_against_nothing(tmp_path: Path) -> None:
    line = "[2022-02-03 10:00:00,100] INFO Session: 0x30041c8b7da0002 closed (org.apache.zookeeper.ZooKeeper)\n"
    (tmp_path / "in.log").write_text(line)
    _, validation = validate_with_selection(read_logs([tmp_path]), None, lambda name: load(name, None, {}))
    assert validation.verdict is TraceVerdict.VACUOUS
    assert validation.held == 0
