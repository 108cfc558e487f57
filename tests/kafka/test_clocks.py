"""A node whose clock is far from the others': what has no explanation by such times is no proof that a rule was broken."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from assay.cli.settings import load
from assay.traces.answer import validated
from assay.traces.clocks import APART, ClockEstimate, far_apart
from assay.traces.conduct import Options
from assay.traces.events import Place
from assay.traces.read import read_logs
from assay.traces.validation import TraceVerdict

from .recorded import unpack

STAMP = re.compile(r"(?m)^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),(\d{3})\]")


def shifted(by: timedelta) -> Callable[[re.Match[str]], str]:
    return lambda found: f"[{datetime.fromisoformat(found[1]) + by:%Y-%m-%d %H:%M:%S},{found[2]}]"


@pytest.mark.parametrize("hours", [-1, 1])
def test_a_clock_an_hour_off_is_told_and_no_false_alarm(hours: int, tmp_path: Path) -> None:
    """As that of a node that logs in local time, while the others do not."""
    nodes = sorted(path for path in unpack("A3", tmp_path).glob("broker-*") if path.is_dir())
    for file in nodes[-1].iterdir():
        file.write_text(STAMP.sub(shifted(timedelta(hours=hours)), file.read_text()))
    found = validated(load("kafka/cluster", None, {}), read_logs([str(tmp_path)]), Options(mismatches=1))
    assert found.verdict is not TraceVerdict.INCONSISTENT
    (notice,) = (each for each in found.notices if each.kind == APART)
    assert notice.text.startswith(f"the clock of {nodes[-1].name} is {'ahead' if hours > 0 else 'behind'} by ")
    assert found.reason is None or "clocks differ" in found.reason


@pytest.mark.parametrize(
    ("ahead", "told"),
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
def test_clocks_are_compared_with_one_another(ahead: Mapping[str, int], told: set[str]) -> None:
    known = {node: ClockEstimate(late, 1, Place(node, 1, 0)) for node, late in ahead.items()}
    assert {notice.place.file for notice in far_apart(known) if notice.place is not None} == told
