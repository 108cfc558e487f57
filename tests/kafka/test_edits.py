"""One digit of one epoch changed in a recorded log: the answer is the edited line, the rule, and both values.

Every kind of line that states an epoch is edited in at least two places. What the model cannot see is pinned as well, with the reason.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from assay.cli.main import invoke
from assay.traces.result import LogViolation, TraceVerdict

from .recorded import unpack, validate_paths


@dataclass(frozen=True)
class Edit:
    """A change of the first ``old`` in a line, and the action that the line then cannot be; ``old`` and ``new`` differ in one digit."""

    file: str
    line: int
    old: str
    new: str
    action: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.new}"


EDITS = [
    # the winner of an election, and the version that ZooKeeper gave the node
    Edit("broker-3/controller.log", 5, "Epoch incremented to 3", "Epoch incremented to 7", "controller.elect"),
    Edit("broker-2/controller.log", 64, "Epoch incremented to 4", "Epoch incremented to 5", "controller.elect"),
    Edit("broker-3/controller.log", 5, "zk version is now 3", "zk version is now 1", "controller.elect"),
    Edit("broker-3/controller.log", 102, "zk version is now 5", "zk version is now 8", "controller.elect"),
    # a controller at work
    Edit("broker-1/controller.log", 32, "new controller with epoch 2", "new controller with epoch 0", "observe"),
    Edit("broker-3/controller.log", 128, "new controller with epoch 5", "new controller with epoch 9", "observe"),
    Edit("broker-3/state-change.log", 101, "[Controller id=3 epoch=3]", "[Controller id=3 epoch=4]", "observe"),
    Edit("broker-2/state-change.log", 491, "[Controller id=2 epoch=4]", "[Controller id=2 epoch=1]", "observe"),
    # a broker that obeys it
    Edit("broker-3/state-change.log", 256, "from controller 2 epoch 4", "from controller 2 epoch 3", "controller.obey"),
    Edit("broker-2/state-change.log", 107, "from controller 3 epoch 3", "from controller 3 epoch 2", "controller.obey"),
    Edit(
        "broker-1/state-change.log",
        25,
        "sent by controller 2 epoch 1",
        "sent by controller 2 epoch 4",
        "controller.obey",
    ),
    Edit(
        "broker-3/state-change.log",
        157,
        "sent by controller 3 epoch 3",
        "sent by controller 3 epoch 8",
        "controller.obey",
    ),
    # broker epochs, where they are made and where they are read
    Edit("broker-1/server.log", 533, "(broker epoch): 61", "(broker epoch): 60", "observe"),
    Edit("broker-2/server.log", 1223, "(broker epoch): 138", "(broker epoch): 131", "observe"),
    Edit("broker-2/server.log", 531, "is: 58,", "is: 18,", "membership.register"),
    Edit("broker-2/server.log", 1221, "is: 138,", "is: 130,", "membership.register"),
    Edit("broker-1/controller.log", 54, "3 -> 66", "3 -> 86", "read_brokers"),
    Edit("broker-2/controller.log", 45, "1 -> 61", "1 -> 31", "read_brokers"),
    # the controller epoch kept with a partition, where it is later than any controller
    Edit("broker-2/controller.log", 172, "ControllerEpoch:4", "ControllerEpoch:5", "observe"),
    Edit("broker-3/controller.log", 152, "ControllerEpoch:5", "ControllerEpoch:6", "observe"),
]
UNSEEN = [
    Edit("broker-3/controller.log", 156, "ControllerEpoch:5", "ControllerEpoch:1", ""),
    Edit("broker-3/state-change.log", 42, "controller epoch 2)", "controller epoch 1)", ""),
]


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The logs of run A1, one directory a node."""
    return unpack("A1", tmp_path_factory.mktemp("A1"))


def apply(edit: Edit, logs: Path) -> str:
    """Make the edit; the file's text before it."""
    path = logs / edit.file
    before = path.read_text(encoding="utf-8")
    lines = before.splitlines(keepends=True)
    assert edit.old in lines[edit.line - 1]
    lines[edit.line - 1] = lines[edit.line - 1].replace(edit.old, edit.new, 1)
    path.write_text("".join(lines), encoding="utf-8")
    return before


def place(violation: LogViolation, logs: Path) -> tuple[str, int]:
    return Path(violation.place.file).relative_to(logs).as_posix(), violation.place.line


def edited(edit: Edit) -> str:
    """The number that holds the changed digit."""
    return next(new for old, new in zip(numbers(edit.old), numbers(edit.new), strict=True) if old != new)


def numbers(text: str) -> list[str]:
    return re.findall(r"\d+", text)


def test_each_edit_changes_one_digit() -> None:
    for edit in (*EDITS, *UNSEEN):
        differing = [(a, b) for a, b in zip(edit.old, edit.new, strict=True) if a != b]
        assert len(differing) == 1
        assert all(character.isdigit() for character in differing[0])
    assert len(set(map(str, EDITS))) == 20


@pytest.mark.slow
def test_an_edited_epoch_is_reported_with_its_line_the_rule_and_both_values(healthy: Path) -> None:
    edit = Edit("broker-1/controller.log", 32, "new controller with epoch 2", "new controller with epoch 4", "observe")
    before = apply(edit, healthy)
    try:
        _, validation = validate_paths([healthy])
    finally:
        (healthy / edit.file).write_text(before, encoding="utf-8")
    assert validation.verdict is TraceVerdict.INCONSISTENT
    (violation,) = validation.violations
    assert place(violation, healthy) == (edit.file, edit.line)
    assert violation.action == edit.action
    (part,) = violation.blame[0].parts
    assert part.kind == "observe"
    assert part.text == "e == epoch"
    assert part.spec.file.endswith("controller.assay")
    assert (part.log, part.model) == ((("epoch", "4"),), (("e", "2"),))
    assert (violation.repair.field, violation.repair.old, violation.repair.new) == ("epoch", "4", "2")


@pytest.mark.slow
@pytest.mark.parametrize("edit", EDITS, ids=str)
def test_an_edited_digit_of_an_epoch_is_reported_at_its_line(
    edit: Edit, healthy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = apply(edit, healthy)
    try:
        code = invoke(["validate", str(healthy), "--json"])
    finally:
        (healthy / edit.file).write_text(before, encoding="utf-8")
    answer = json.loads(capsys.readouterr().out)
    assert (code, answer["verdict"]) == (1, "inconsistent")
    first = answer["violations"][0]
    assert (Path(first["file"]).relative_to(healthy).as_posix(), first["line"]) == (edit.file, edit.line)
    assert first["action"] == edit.action
    parts = first["blame"][0]["parts"]
    assert parts != []
    # Where the line is what made a node, the model has the edited value, and the lines that read the node say otherwise.
    teller = "model" if edit.action == "membership.register" else "log"
    assert any(edited(edit) in numbers(json.dumps(part[teller])) and part["log"] and part["model"] for part in parts)


@pytest.mark.everyday(1)
@pytest.mark.parametrize("edit", UNSEEN, ids=str)
def test_an_older_controller_epoch_kept_with_a_partition_is_not_seen(edit: Edit, healthy: Path) -> None:
    """The line states who last wrote a partition's state. Partitions are not in this model, and any past epoch may have been the last."""
    before = apply(edit, healthy)
    try:
        _, validation = validate_paths([healthy])
    finally:
        (healthy / edit.file).write_text(before, encoding="utf-8")
    assert validation.verdict is TraceVerdict.CONSISTENT
