"""`assay replay` follows a saved counterexample in the spec as it is now."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def spec(assay: Any, tmp_path: Path) -> Path:
    """The spec of a counterexample that was saved as ``t.json``."""
    ran = assay("check", "counter.assay", "--model", "double", "--set", "Most=9", "--trace-out", "t.json")
    assert ran.code == 1
    return tmp_path / "counter.assay"


def test_an_unchanged_spec_is_still_violated(assay: Any, spec: Path) -> None:
    ran = assay("replay", "t.json", "--json")
    assert ran.code == 1
    assert ran.json["verdict"] == "still violated"
    assert ran.json["steps"] == {"saved": 3, "followed": 3}


def test_a_run_is_printed_as_a_scenario_of_the_spec(assay: Any, spec: Path) -> None:
    ran = assay("replay", "t.json", "--scenario", "found")
    assert ran.out.startswith("scenario found:\n    grow\n")
    spec.write_text(spec.read_text() + ran.out)
    ran = assay("check", "counter.assay", "--model", "double", "--set", "Most=9", "--property", "found")
    assert (ran.code, "holds" in ran.out) == (0, True)
    assert assay("replay", "t.json", "--scenario", "no name").code == 2
    assert assay("replay", "t.json", "--scenario", "found", "--json").code == 2


def test_a_guard_that_now_refuses_a_step_is_named(assay: Any, spec: Path) -> None:
    spec.write_text(spec.read_text().replace("count < 2 * Step + 1", "count < 1"))
    ran = assay("replay", "t.json")
    assert ran.code == 0
    assert ran.out.startswith("at_most_three: no longer possible")
    assert "small: count < 1" in ran.out
    assert "nothing of other runs" in ran.out


def test_a_property_that_was_weakened_is_no_longer_violated_by_the_run(assay: Any, spec: Path) -> None:
    spec.write_text(spec.read_text().replace("count <= 3", "count <= 4"))
    assert assay("replay", "t.json", "--json").json["verdict"] == "no longer violated"


def test_a_property_that_is_gone_is_undecided(assay: Any, spec: Path) -> None:
    spec.write_text(spec.read_text().replace("at_most_three", "renamed"))
    ran = assay("replay", "t.json", "--json")
    assert (ran.code, ran.json["verdict"]) == (3, "undecided")


def test_another_spec_can_be_given(assay: Any, spec: Path, tmp_path: Path) -> None:
    (tmp_path / "moved.assay").write_text(spec.read_text())
    spec.unlink()
    assert assay("replay", "t.json").code == 2
    assert assay("replay", "t.json", "moved.assay").code == 1


@pytest.mark.parametrize(
    "text", ["", "no json", "9" * 9_000, "[]", "{}", '{"assay": "9"}', "[" * 100_000, '{"assay": "1", "steps": [1]}']
)
def test_a_file_that_is_no_saved_trace_exits_2(assay: Any, tmp_path: Path, text: str) -> None:
    (tmp_path / "bad.json").write_text(text)
    ran = assay("replay", "bad.json", "--json")
    assert ran.code == 2
    assert ran.json["diagnostics"][0]["code"] in {"E805", "E605"}
