"""A node whose clock is far from the others'. Its times are corrected where enough lines show by how much. Elsewhere
they are no proof that a rule was broken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from tests.stages import everyday

from assay.cli.settings import load
from assay.traces.diagnosis import clock_correction
from assay.traces.diagnosis.clock_against_server import APART, ClockEstimate, far_apart
from assay.traces.diagnosis.clock_correction import CORRECTED, agreed, offsets
from assay.traces.event import LogPosition
from assay.traces.log_reader import read_logs
from assay.traces.options import Options
from assay.traces.result import TraceVerdict
from assay.traces.scoped_validate import validate_in_scope
from assay.traces.spec_selection import validate_with_selection

from .recorded import unpack

STAMP = re.compile(r"(?m)^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),(\d{3})\]")


def shifted(by: timedelta) -> Callable[[re.Match[str]], str]:
    return lambda found: f"[{datetime.fromisoformat(found[1]) + by:%Y-%m-%d %H:%M:%S},{found[2]}]"


def with_clock(name: str, node: str, by: timedelta, root: Path) -> Path:
    """A recorded run of which one node's clock is so much ahead."""
    (folder,) = unpack(name, root).glob(node)
    for file in folder.iterdir():
        file.write_text(STAMP.sub(shifted(by), file.read_text()))
    return root


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "node", "by"),
    [
        ("A3", "broker-3", timedelta(hours=1)),
        ("A3", "broker-1", timedelta(seconds=-2)),
        ("C2", "broker-1", timedelta(seconds=2)),
        ("C2", "controller-102", timedelta(hours=-1)),
    ],
)
def test_a_clock_that_is_off_is_put_right_and_told(name: str, node: str, by: timedelta, tmp_path: Path) -> None:
    """As that of a node that logs in local time, while the others do not."""
    reading = read_logs([str(with_clock(name, node, by, tmp_path))])
    _, found = validate_with_selection(reading, None, lambda spec: load(spec, None, {}), Options(mismatches=1))
    assert found.verdict is TraceVerdict.CONSISTENT, found.reason
    (notice,) = (each for each in found.notices if each.kind == CORRECTED)
    assert notice.text.startswith(f"the clock of {node} is {'ahead of' if by > timedelta() else 'behind'} that of ")
    assert abs(offsets(reading)[node].ahead - by / timedelta(milliseconds=1)) < 500


def test_of_many_lines_those_of_some_partitions_are_compared(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    reading = read_logs([str(with_clock("C1", "broker-2", timedelta(seconds=5), tmp_path))])
    every = offsets(reading)["broker-2"]
    monkeypatch.setattr(clock_correction, "MANY", 1_500)
    some = offsets(reading)["broker-2"]
    assert abs(some.ahead - 5_000) < 500
    assert some.occasions <= every.occasions


@pytest.mark.slow
def test_who_says_how_far_clocks_may_differ_is_believed(tmp_path: Path) -> None:
    reading = read_logs([str(with_clock("A3", "broker-3", timedelta(hours=1), tmp_path))])
    found = validate_in_scope(load("kafka/cluster", None, {}), reading, Options(mismatches=1, skew=5))
    assert found.verdict is not TraceVerdict.CONSISTENT
    assert [each.kind for each in found.notices if each.kind in (CORRECTED, APART)] == [APART]


@pytest.mark.parametrize("name", everyday(["A0", "A1", "A2", "A3", "A4", "A6", "A9", "B1", "B3", "C1", "C2"], 3))
def test_clocks_of_one_machine_agree(name: str, tmp_path: Path) -> None:
    assert offsets(read_logs([str(unpack(name, tmp_path))])) == {}


@pytest.mark.parametrize(
    ("later", "ahead"),
    [
        ([3, 5, 9], 5),
        ([5_003, 5_004, 5_400], 5_004),
        ([5_003, 5_004], None),  # too few
        ([5_003, 5_004, 5_005, 5_006, 90, 70_000], 5_004.5),
        ([1_503, 1_504, 1_505, 3, 4], None),  # slow to hear, quick to tell
        ([5_003, 15_004, 25_005, 35_000], None),
        ([-7_200_000, -7_199_990, -7_199_900], -7_199_990),
    ],
)
def test_what_occasions_agree_on(later: list[int], ahead: float | None) -> None:
    one = np.arange(len(later)) * 60_000
    found = agreed(one, one + np.array(later))
    assert (found and found.ahead) == ahead


def test_what_is_told_at_once_is_one_occasion() -> None:
    one = np.arange(100) * 10
    assert agreed(one, one + 30_000) is None


@pytest.mark.parametrize(
    ("ahead", "reported"),
    [
        ({"a": 3, "b": 5}, set()),
        ({"a": 3, "b": 3_600_000}, {"b"}),
        ({"a": 3, "b": -2_000}, {"b"}),
        ({"a": 3, "b": -200}, set()),
        ({"a": 3_600_000, "b": 3_600_009}, set()),
        ({"a": -3_600_000, "b": -3_600_009}, set()),
        ({"a": 40_000, "b": 3}, set()),
        ({}, set()),
    ],
)
def test_clocks_are_compared_with_one_another(ahead: Mapping[str, int], reported: set[str]) -> None:
    known = {node: ClockEstimate(late, 1, LogPosition(node, 1, 0)) for node, late in ahead.items()}
    assert {notice.place.file for notice in far_apart(known) if notice.place is not None} == reported
