"""`assay simulate`: exit codes, JSON, and the files that it writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def test_a_simulation_without_violation_is_inconclusive(assay: Any) -> None:
    ran = assay("simulate", "counter.assay", "--walks", "50", "--depth", "10", "--seed", "5")
    assert ran.code == 3
    assert "A simulation proves nothing: only 50 random walks were made, of up to 10 states" in ran.out
    assert "seed 5" in ran.out


def test_everything_reachable_found_exits_0(assay: Any) -> None:
    ran = assay("simulate", "counter.assay", "--property", "two", "--json")
    assert ran.code == 3  # `defined` is always asked for
    assert {p["name"]: p["verdict"] for p in ran.json["properties"]} == {"defined": "unknown", "two": "holds"}
    assert ran.json["walks"]["number"] == 1000


def test_a_violating_walk_is_saved_and_replayed(assay: Any, tmp_path: Path) -> None:
    out = ("--trace-out", "walk.json", "--itf", "walk.itf.json")
    ran = assay("simulate", "counter.assay", "--model", "double", "--set", "Most=9", "--json", *out)
    assert ran.code == 1
    assert assay("replay", "walk.json").code == 1
    saved = json.loads((tmp_path / "walk.itf.json").read_text())
    assert saved["vars"] == ["count"]
    assert len(saved["states"]) == len(json.loads((tmp_path / "walk.json").read_text())["steps"])


def test_itf_is_written_by_check_too_and_only_where_something_is_violated(assay: Any, tmp_path: Path) -> None:
    assert assay("check", "counter.assay", "--itf", "none.itf.json").code in {0, 5}
    assert not (tmp_path / "none.itf.json").exists()
    assay("check", "counter.assay", "--model", "double", "--set", "Most=9", "--itf", "found.itf.json")
    assert json.loads((tmp_path / "found.itf.json").read_text())["#meta"]["format"] == "ITF"
