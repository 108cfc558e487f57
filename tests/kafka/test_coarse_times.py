"""Logs whose times have no milliseconds: the lines of a second have no order but that of their files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assay.cli.settings import load
from assay.traces.log_reader import read_logs
from assay.traces.result import TraceVerdict, Validation
from assay.traces.spec_selection import validate_with_selection

from .recorded import unpack


def answer(logs: list[Path]) -> Validation:
    """The answer of the model that the logs choose."""
    return validate_with_selection(read_logs(logs), None, lambda spec: load(spec, None, {}))[1]


def without_milliseconds(run: str, folder: Path) -> list[Path]:
    """The logs of a recording with the fractions of their times taken off."""
    logs = sorted(unpack(run, folder).rglob("*.log"))
    for log in logs:
        log.write_bytes(re.sub(rb"(?m)^(\[[\d-]{10} [\d:]{8}),\d{3}", rb"\1", log.read_bytes()))
    return logs


@pytest.mark.slow
@pytest.mark.parametrize("run", ["A0", "B3", "C2"])
def test_a_healthy_log_without_milliseconds_is_consistent(run: str, tmp_path: Path) -> None:
    found = answer(without_milliseconds(run, tmp_path))
    assert found.verdict is TraceVerdict.CONSISTENT


@pytest.mark.slow
@pytest.mark.parametrize("run", ["A3", "A6", "zookeeper-0.11.0.3"])
def test_lines_of_one_second_are_consistent_if_one_of_their_orders_is(run: str, tmp_path: Path) -> None:
    """A broker hears of what it knows, and of what is newer: which file's line was first, no time tells."""
    found = answer(without_milliseconds(run, tmp_path))
    assert found.verdict is TraceVerdict.CONSISTENT


@pytest.mark.slow
def test_a_wrong_leader_is_found_without_milliseconds(tmp_path: Path) -> None:
    logs = without_milliseconds("A0", tmp_path)
    found = _with_another_leader(logs)
    assert found.verdict is TraceVerdict.INCONSISTENT


def _with_another_leader(logs: list[Path]) -> Validation:
    """The answer where one line of a controller names another leader."""
    changed = 0
    for log in logs:
        text, count = re.subn(
            r"(?m)^(.* with state LeaderAndIsr\(leader=)1,", r"\g<1>2,", log.read_text(), count=1 - changed
        )
        changed += count
        log.write_text(text)
        if changed:
            break
    assert changed == 1
    return answer(logs)
