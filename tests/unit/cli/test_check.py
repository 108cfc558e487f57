"""`assay check` answers with a verdict, an exit code, and the same in JSON and JUnit XML."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import pytest


def test_a_spec_that_holds_exits_0_and_says_so_first(assay: Any) -> None:
    ran = assay("check", "counter.assay", "--engine", "reference")
    assert (ran.code, ran.out.splitlines()[0]) == (0, "holds")
    assert ran.err == ""


def test_a_violation_exits_1_with_a_counterexample(assay: Any) -> None:
    ran = assay("check", "counter.assay", "--set", "Step=2", "--set", "Most=9")
    assert ran.code == 1
    assert ran.out.startswith("VIOLATED: at_most_three")
    assert "count: 2 -> 4" in ran.out


def test_a_bound_that_cut_the_search_exits_5(assay: Any) -> None:
    ran = assay("check", "counter.assay", "--set", "Most=2", "--no-deadlock")
    assert ran.code == 5
    assert "most: hit 1 time" in ran.out


def test_a_search_that_was_limited_exits_3_and_never_says_holds(assay: Any) -> None:
    ran = assay("check", "counter.assay", "--max-states", "2", "--json")
    assert ran.code == 3
    assert ran.json["verdict"] == "unknown"
    assert "2 states" in ran.json["stopped"]


def test_a_depth_is_a_bound_that_the_answer_names(assay: Any) -> None:
    ran = assay("check", "counter.assay", "--depth", "2", "--json", "--property", "at_most_three")
    assert ran.code == 5
    assert (ran.json["verdict"], ran.json["up_to_depth"], ran.json["stopped"]) == ("holds up to bounds", 2, None)
    text = assay("check", "counter.assay", "--depth", "2")
    assert text.code == 3  # the reachable `two` was not found
    assert "Every run of up to 2 states was looked at" in text.out


@pytest.mark.parametrize("engine", ["reference", "native", "auto"])
def test_json_is_the_only_thing_on_standard_output(assay: Any, engine: str) -> None:
    answer = assay("check", "counter.assay", "--json", "--engine", engine).json
    assert answer["assay"] == "1"
    assert answer["verdict"] == "holds"
    assert answer["states"] == {"distinct": 4, "generated": 5, "depth": 4, "collision": 0.0}
    assert [p["name"] for p in answer["properties"]] == ["defined", "deadlock", "at_most_three", "two"]
    assert answer["engine"] == ("reference" if engine == "reference" else "native")


def test_a_property_is_selected_by_name(assay: Any) -> None:
    answer = assay("check", "counter.assay", "--property", "two", "--json").json
    assert [p["name"] for p in answer["properties"]] == ["defined", "two"]


def test_continue_gives_every_property_its_own_answer(assay: Any) -> None:
    short = assay("check", "counter.assay", "--model", "double", "--set", "Most=9", "--json").json
    whole = assay("check", "counter.assay", "--model", "double", "--set", "Most=9", "--json", "--continue").json
    assert short["stopped"] is not None
    assert whole["stopped"] is None
    assert whole["verdict"] == short["verdict"] == "violated"


def test_more_than_one_violation_is_looked_for_to_the_end(assay: Any) -> None:
    answer = assay("check", "counter.assay", "--model", "double", "--set", "Most=9", "--json", "--violations", "2").json
    found = {each["name"]: each for each in answer["properties"]}
    assert answer["stopped"] is None
    assert [each["trace"][-1]["state"] for each in found["at_most_three"]["others"]] == [{"count": 6}]
    assert found["deadlock"]["verdict"] == "violated"


def test_junit_and_json_agree(assay: Any, tmp_path: Path) -> None:
    ran = assay("check", "counter.assay", "--model", "double", "--set", "Most=9", "--json", "--junit", "out.xml")
    suite = Xml.parse(tmp_path / "out.xml").getroot()[0]
    violated = [p for p in ran.json["properties"] if p["verdict"] == "violated"]
    assert suite.get("failures") == str(len(violated))
    assert suite.get("tests") == str(len(ran.json["properties"]))


def test_a_result_that_cannot_be_written_exits_2_after_the_answer(assay: Any) -> None:
    ran = assay("check", "counter.assay", "--json", "--junit", "no/such/folder/out.xml")
    assert ran.code == 2
    assert ran.json["verdict"] == "holds"
    assert [d["code"] for d in ran.json["diagnostics"]] == ["E902"]


def test_a_bundled_spec_is_found_by_its_name_from_anywhere(assay: Any) -> None:
    for name in ("classics/two_phase", "spec/classics/two_phase.assay", "classics.two_phase"):
        answer = assay("check", name, "--json").json
        assert (answer["states"]["distinct"], answer["states"]["depth"]) == (288, 11)


def test_a_file_goes_before_a_bundled_spec_of_the_same_name(assay: Any, tmp_path: Path) -> None:
    (tmp_path / "classics").mkdir()
    (tmp_path / "classics" / "two_phase.assay").write_text(
        (tmp_path / "counter.assay").read_text().replace("counter", "classics.two_phase", 1)
    )
    assert assay("check", "classics/two_phase.assay", "--json").json["states"]["distinct"] == 4


def test_a_saved_counterexample_names_what_it_was_found_with(assay: Any, tmp_path: Path) -> None:
    assay("check", "counter.assay", "--model", "double", "--set", "Most=9", "--trace-out", "t.json")
    saved = json.loads((tmp_path / "t.json").read_text())
    assert (saved["spec"], saved["model"], saved["set"]) == ("counter.assay", "double", {"Most": "9"})
    assert saved["property"] == "at_most_three"


def test_no_trace_is_written_where_nothing_is_violated_and_that_is_said(assay: Any, tmp_path: Path) -> None:
    ran = assay("check", "counter.assay", "--trace-out", "t.json")
    assert ran.code == 0
    assert "t.json was not written" in ran.err
    assert not (tmp_path / "t.json").exists()


def test_the_answer_says_which_models_it_is_not_about(assay: Any) -> None:
    said = "  not checked: model double (`--model NAME`)\n"
    assert said in assay("check", "counter.assay").out
    assert said in assay("check", "counter.assay").out  # what the first run remembered
    assert "not checked" not in assay("check", "counter.assay", "--model", "double").out


def test_a_run_without_the_variables_of_a_view_is_saved_as_it_is(assay: Any, tmp_path: Path) -> None:
    hidden = "    log: seq[0 .. 3, max 1] = []\nview: x\nshow: count(log)\n"
    text = "module seen\nstate:\n    x: 0 .. 3 = 0\nLOGaction up:\n    log := log + [x]\n    x := x + 1\ninvariant i: x < 3\n"
    (tmp_path / "seen.assay").write_text(text.replace("LOG", hidden))
    # The run exceeds the capacity of `log`, so that it cannot be shown with it.
    ran = assay("check", "seen.assay", "--itf", "a.itf.json", "--trace-out", "a.json", "--diagram", "a.mmd")
    assert ran.code == 1
    assert json.loads((tmp_path / "a.itf.json").read_text())["vars"] == ["x"]
    assert (tmp_path / "a.mmd").read_text().startswith("sequenceDiagram")
    replayed = assay("replay", "a.json", "seen.assay")
    assert "is cut by the bound `capacity of log`" in replayed.out
