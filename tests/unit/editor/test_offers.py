"""Fixes that messages propose, checks to run, and the number of instances, as an editor shows them."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.editor.analysis import Document
from assay.editor.offers import Lens, fixes, hints, lenses

SPEC = """module light
param Room: set = {hall, attic}
state:
    on: map[Room, bool] = [r -> false]
action press(r: Room):
    on[r] := not on[r]
action turn(a: Room, b: Room):
    on[a] := on[b]
action off:
    on := [r -> false]
invariant dark: forall r in Room: not on[r]
scenario lit:
    press(hall)
"""


def document(text: str, path: Path = Path("light.assay")) -> Document:
    opened = Document(path)
    opened.parse(text)
    opened.analyse()
    return opened


@pytest.mark.parametrize(
    ("written", "fixed"),
    [
        ("a && b", ["a and b"]),
        ("a&&b", ["a and b"]),
        ("~a", ["not a"]),
        ("a <> b", ["a != b", "a eventually b"]),
        ("a = b", ["a == b"]),
        ("True", ["true"]),
        ("voted2 == a", ["voted == a"]),
        ("voted.contains(a)", []),
    ],
)
def test_what_a_message_proposes_is_a_fix(written: str, fixed: list[str]) -> None:
    head = "state:\n    a: bool = true\n    b: bool = true\n    voted: bool = true\ninvariant i: "
    opened = document(head + written)
    found = []
    for each in opened.diagnostics:
        for fix in fixes(opened, each):
            at = len(head.rsplit("\n", maxsplit=1)[-1])
            begin, end = fix.span.column - 1 - at, fix.span.end_column - 1 - at
            found.append(written[:begin] + fix.text + written[end:])
    assert found == fixed


def test_a_mistake_in_another_file_has_no_fix_here(tmp_path: Path) -> None:
    (tmp_path / "other.assay").write_text("module other\nstate:\n    a: bool = True\n")
    opened = document("module top\nuse other\n", tmp_path / "top.assay")
    assert [each.code for each in opened.diagnostics] == ["E101"]
    assert not list(fixes(opened, opened.diagnostics[0]))


def test_the_spec_its_properties_and_its_scenarios_can_be_run() -> None:
    assert list(lenses(document(SPEC))) == [
        Lens(2, "check this spec", None),
        Lens(11, "check dark", "dark"),
        Lens(12, "run lit", "lit"),
    ]
    assert not list(lenses(document("")))


def test_actions_with_parameters_say_how_many_instances_there_are() -> None:
    opened = document(SPEC)
    assert [(each.line, each.text) for each in hints(opened)] == [(5, "2 instances"), (7, "4 instances")]
    opened.parse("# a line above\n" + SPEC)
    assert [each.line for each in hints(opened)] == [6, 8]


def test_an_array_of_instances_says_how_many_there_are(checkout: Path) -> None:
    path = checkout / "tests" / "corpus" / "specs" / "array_of_instances.assay"
    assert [each.text for each in hints(document(path.read_text(), path))] == ["2 instances"]


def test_an_assignment_that_is_written_as_elsewhere_has_a_fix() -> None:
    opened = document("state:\n    a: bool = true\naction s:\n    a = false\n")
    assert [fix.text for each in opened.diagnostics for fix in fixes(opened, each)] == [":="]


def test_a_file_is_saved_however_its_lines_end(tmp_path: Path) -> None:
    path = tmp_path / "light.assay"
    assert not document(SPEC, path).is_saved()
    path.write_bytes(SPEC.replace("\n", "\r\n").encode())
    assert document(SPEC, path).is_saved()
    assert not document(f"{SPEC}# more\n", path).is_saved()
    path.write_bytes(b"\xff")
    assert not document(SPEC, path).is_saved()
