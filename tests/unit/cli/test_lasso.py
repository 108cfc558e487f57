"""A run that goes on for ever, in JSON, in ITF, and followed again by `assay replay`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

DOOR = """\
module door
state:
    open: bool = false
    inside: bool = false
action swing fair:
    when waiting: not inside
    open := not open
action enter fair:
    when can: open and not inside
    inside := true
terminal: inside
property gets_in: eventually inside
"""


@pytest.fixture
def saved(assay: Any, tmp_path: Path) -> Any:
    """What `check` says of the door; the run is saved in both forms."""
    (tmp_path / "door.assay").write_text(DOOR)
    ran = assay("check", "door.assay", "--json", "--trace-out", "t.json", "--itf", "t.itf.json")
    assert ran.code == 1
    return next(each for each in ran.json["properties"] if each["name"] == "gets_in")


def test_json_says_which_state_comes_again_and_which_fairness_is_missing(saved: Any) -> None:
    states = [step["state"]["open"] for step in saved["trace"]]
    assert states[-1] == states[saved["loop"]]
    assert True in states
    assert False in states
    assert [remark.partition(" on ")[0] for remark in saved["remarks"]] == ["no strong fairness"]


def test_itf_goes_back_to_the_state_that_comes_again(saved: Any, tmp_path: Path) -> None:
    found = json.loads((tmp_path / "t.itf.json").read_text())
    assert found["loop"] == saved["loop"]
    assert [state["open"] for state in found["states"]] == [step["state"]["open"] for step in saved["trace"][:-1]]
    assert found["#meta"]["loop"]["action"] == "swing"


def test_a_lasso_is_followed_again(assay: Any, saved: Any) -> None:
    ran = assay("replay", "t.json", "--json")
    assert (ran.code, ran.json["verdict"]) == (1, "still violated")
    assert ran.json["loop"] == saved["loop"]


def test_a_lasso_that_became_unfair_is_no_longer_a_counterexample(assay: Any, saved: Any, tmp_path: Path) -> None:
    (tmp_path / "door.assay").write_text(DOOR.replace("enter fair", "enter strong fair"))
    assert assay("replay", "t.json", "--json").json["verdict"] == "no longer violated"


def test_a_lasso_that_does_not_come_back_is_no_run_any_more(assay: Any, saved: Any, tmp_path: Path) -> None:
    (tmp_path / "door.assay").write_text(DOOR.replace("open := not open", "open := true"))
    assert assay("replay", "t.json", "--json").json["verdict"] != "still violated"
