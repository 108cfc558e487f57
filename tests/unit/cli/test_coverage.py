"""`assay coverage` adds up what it has written itself, all of one spec."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

COVERAGE = {"assay_coverage": "1", "spec": "counter", "logs": 1, "actions": {"grow": 2}, "guards": [], "pairs": []}


def test_coverage_of_one_spec_is_not_held_against_another(assay: Any, tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text(json.dumps(COVERAGE))
    assert "exercised by 1 log" in assay("coverage", "merge", "c.json", "--spec", "counter.assay").out
    ran = assay("coverage", "merge", "c.json", "--spec", "classics/two_phase")
    assert ran.code == 2
    assert "coverage of counter says nothing of classics.two_phase" in ran.err


def test_what_holds_no_coverage_is_refused_before_logs_are_read(assay: Any, tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text("{}")
    ran = assay("coverage", "logs", "no.log", "--into", "c.json")
    assert ran.code == 2
    assert "c.json: error[E907]" in ran.err
