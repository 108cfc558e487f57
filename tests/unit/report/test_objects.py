"""JSON and JUnit answers carry what the text says, in a form that programs read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import pytest

from assay.api.log_answers import validate
from assay.checker.report import Outcome, PropertyResult
from assay.grammar.diagnostics.diagnostic import NOWHERE, Diagnostic, Note, Span
from assay.grammar.kernel import types as t
from assay.grammar.load import load_text
from assay.grammar.values import Atom
from assay.report.diagnostics import diagnostics_text, error_object
from assay.report.junit import Case, junit, junit_of_report
from assay.report.specs.check_object import model_object, report_object
from assay.report.specs.text import model_lines
from assay.traces.result import LogViolation

PLACE = Span("lamp.assay", 2, 5, 2, 9)
SORT = t.Sort("Broker", ("b1", "b2"), symmetric=False)
BROKER = t.AtomType(SORT)
B1, B2 = Atom("Broker", 0, "b1"), Atom("Broker", 1, "b2")
ROLE = t.EnumType(
    "Role", (t.VariantType("Idle", ()), t.VariantType("Active", (t.FieldType("epoch", t.RangeType(0, 9)),)))
)
VOTE = t.RecordType("Vote", (t.FieldType("voter", BROKER), t.FieldType("granted", t.BOOL)))
DOORS = """\
module doors
param Door: set = {d}
state:
    open: map[Door, bool] = [d -> false]
action unlock(d: Door):
    when shut: not open[d]
    open[d] := true
trace log:
    from events
    slice Door by door
    on Opened(door: Door): unlock(door)
    order: file
"""


def test_parameters_are_written_as_values_of_their_types() -> None:
    text = "param P: set[0 .. 3] = {3, 1}\nparam Q: (0 .. 3)? = none\nparam R: (bool, 0 .. 3) = (true, 2)\n"
    made = load_text(text).kernel
    assert json.loads(json.dumps(model_object(made)))["parameters"] == {"P": [1, 3], "Q": None, "R": [True, 2]}
    assert [each.text for each in model_lines(made)] == ["  spec, default model: P = {1, 3}; Q = none; R = (true, 2)"]


def test_the_answer_of_a_check_is_one_versioned_object(sample: Any) -> None:
    result = PropertyResult("one_active", "invariant", Outcome.VIOLATED, PLACE, trace=sample.trace)
    answer = json.loads(json.dumps(report_object(sample.report(result, bounds={"epochs": 2}))))
    assert answer["assay"] == "1"
    assert answer["verdict"] == "violated"
    assert answer["parameters"] == {"Broker": ["b1", "b2"], "Fence": False}
    assert answer["states"] == {"distinct": 1204, "generated": 5000, "depth": 7, "collision": 0.0}
    assert answer["bounds"] == {"epochs": 2}
    (found,) = answer["properties"]
    assert found["place"] == {"file": "lamp.assay", "line": 2, "column": 5}
    assert [step["text"] for step in found["trace"]] == ["initial state", "elect(b1)", "elect(b2)"]
    assert found["trace"][2]["arguments"] == {"b": "b2"}
    assert found["trace"][2]["changes"] == ["role[b2]: Standby -> Active(1)", "live: - b1"]
    assert found["trace"][0]["state"] == {"role": [["b1", "Standby"], ["b2", "Standby"]], "live": ["b1"]}


def test_diagnostics_become_an_object_without_a_place_where_there_is_none() -> None:
    placed = Diagnostic("E001", PLACE, "unexpected text", (Note("opened here", PLACE),))
    answer = error_object([placed, Diagnostic("E901", NOWHERE, "no such option")])
    assert answer["verdict"] == "error"
    assert answer["diagnostics"][0]["notes"] == [
        {"message": "opened here", "place": {"file": "lamp.assay", "line": 2, "column": 5}}
    ]
    assert "place" not in answer["diagnostics"][1]


def test_a_file_is_read_once_and_only_where_a_line_of_it_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def text_of(file: str) -> str:
        read.append(file)
        return ""

    monkeypatch.setattr("assay.report.diagnostics._read", text_of)
    places = [Span("a", 1, 1, 1, 2), Span("a", 2, 1, 2, 2), Span("known", 1, 1, 1, 2), Span("whole", 0, 0, 0, 0)]
    diagnostics_text([Diagnostic("E001", place, "unexpected text") for place in places], {"known": "text"})
    assert read == ["a"]


def test_a_diagnostic_underlines_its_place(tmp_path: Any) -> None:
    path = tmp_path / "a.assay"
    path.write_text("module a\nstate: x := 3\n")
    found = Diagnostic("E005", Span(str(path), 2, 10, 2, 12), "`=` is meant", (Note("names take `=`"),))
    assert diagnostics_text([found]).splitlines() == [
        f"{path}:2:10: error[E005]: `=` is meant",
        "    2 | state: x := 3",
        "      |          ^^",
        "      = note: names take `=`",
    ]


def test_several_diagnostics_are_counted() -> None:
    found = [Diagnostic("E001", NOWHERE, "one"), Diagnostic("E001", NOWHERE, "two")]
    assert diagnostics_text(found).splitlines()[-1] == "2 errors"


def test_a_place_in_a_file_that_is_no_text_is_told_without_its_line(tmp_path: Any) -> None:
    path = tmp_path / "a.assay"
    path.write_bytes(b"\xff\xfe\x00")
    (line,) = diagnostics_text([Diagnostic("E603", Span(str(path), 1, 1, 1, 2), "no text")]).splitlines()
    assert line == f"{path}:1:1: error[E603]: no text"


def test_control_characters_of_a_message_do_not_reach_the_terminal() -> None:
    assert "\x1b" not in diagnostics_text([Diagnostic("E016", NOWHERE, "found \x1b[31m")])


def test_junit_counts_failures_errors_and_skips(sample: Any) -> None:
    results = [
        PropertyResult(
            outcome.name, "invariant", outcome, PLACE, trace=sample.trace if outcome is Outcome.VIOLATED else None
        )
        for outcome in Outcome
    ]
    suite = Xml.fromstring(junit_of_report(sample.report(*results)))[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors"), suite.get("skipped")) == (
        "5",
        "1",
        "1",
        "1",
    )
    (failure,) = suite.iter("failure")
    assert "elect(b2)" in (failure.text or "")


def test_junit_survives_characters_that_xml_forbids() -> None:
    document = junit("suite", [Case("a\x00b", "failure", "m\x1b", "d\x01\nsecond")], 1.0)
    (failure,) = Xml.fromstring(document).iter("failure")
    assert failure.get("message") == "m\\x1b"
    assert failure.text == "d\\x01\nsecond"


def test_each_mismatch_names_its_slice_and_none_is_compared_with_all_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "doors.assay").write_text(DOORS)
    lines = [f'{{"event": "Opened", "door": "{door}", "time": {at}}}' for at, door in enumerate("ababc")]
    (tmp_path / "log.jsonl").write_text("\n".join(lines) + "\n")
    found = validate(tmp_path / "log.jsonl", tmp_path / "doors.assay")
    monkeypatch.setattr(LogViolation, "__eq__", lambda *_: pytest.fail("mismatches are compared"))
    assert [each["slice"] for each in found.to_object()["violations"]] == ["a", "b"]
