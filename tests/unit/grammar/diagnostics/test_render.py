"""Diagnostics as text: the line, the carets, the notes, and sources that are odd or missing."""

from __future__ import annotations

from assay.grammar.diagnostics.diagnostic import NOWHERE, Diagnostic, Note, Severity, Span
from assay.grammar.diagnostics.render import render, render_one

SOURCE = {"a.assay": "state:\n    x: Count = lamp\n"}


def at(line: int, column: int, end_line: int, end_column: int) -> Span:
    return Span("a.assay", line, column, end_line, end_column)


def test_a_diagnostic_shows_its_line_underlined_and_its_notes() -> None:
    notes = (Note("declared here", at(1, 1, 1, 6)), Note("did you mean `Lamp`?"))
    assert render([Diagnostic("E201", at(2, 16, 2, 20), "expected Count, found Lamp", notes)], SOURCE) == (
        "a.assay:2:16: error[E201]: expected Count, found Lamp\n"
        "    2 |     x: Count = lamp\n"
        "      |                ^^^^\n"
        "a.assay:1:1: note: declared here\n"
        "    1 | state:\n"
        "      | ^^^^^\n"
        "      = note: did you mean `Lamp`?"
    )


def test_diagnostics_are_sorted_by_place_and_shown_once() -> None:
    later = Diagnostic("E101", at(2, 1, 2, 2), "later", severity=Severity.WARNING)
    sooner = Diagnostic("E102", at(1, 1, 1, 2), "sooner")
    lines = render([later, sooner, later], {}).split("\n\n")
    assert lines == ["a.assay:1:1: error[E102]: sooner", "a.assay:2:1: warning[E101]: later"]


def test_a_place_beyond_the_end_still_gets_a_caret() -> None:
    assert render_one(Diagnostic("E001", at(2, 99, 2, 120), "m"), SOURCE).endswith("\n      |                    ^")


def test_a_line_that_does_not_exist_is_not_shown() -> None:
    assert render_one(Diagnostic("E001", at(99, 1, 99, 2), "m"), SOURCE) == "a.assay:99:1: error[E001]: m"


def test_a_diagnostic_without_a_place_has_none_in_its_text() -> None:
    assert render_one(Diagnostic("E801", NOWHERE, "m"), SOURCE) == "error[E801]: m"


def test_a_stretch_over_several_lines_is_underlined_to_the_end_of_its_first() -> None:
    assert render_one(Diagnostic("E001", at(1, 3, 2, 5), "m"), SOURCE).endswith("    1 | state:\n      |   ^^^^")


def test_tabs_and_wide_characters_do_not_shift_the_carets() -> None:
    source = {"a.assay": "\tx 名 y"}
    assert render_one(Diagnostic("E001", at(1, 6, 1, 7), "m"), source).endswith("    1 |  x 名 y\n      |       ^")


def test_a_wide_line_is_cut_around_the_place() -> None:
    source = {"a.assay": "a" * 500 + "HERE" + "b" * 500}
    _, line, carets = render_one(Diagnostic("E001", at(1, 501, 1, 505), "m"), source).split("\n")
    assert len(line) < 125
    assert line[carets.index("^") : carets.rindex("^") + 1] == "HERE"
    assert line.count("…") == 2


def test_control_characters_of_a_source_do_not_reach_the_terminal() -> None:
    shown = render_one(Diagnostic("E001", at(1, 1, 1, 2), "m"), {"a.assay": "x\x1b[2J\x07"})
    assert "\x1b" not in shown
    assert "\x07" not in shown


def test_colours_appear_only_where_they_are_asked_for() -> None:
    diagnostic = Diagnostic("E001", at(1, 1, 1, 2), "m", (Note("n"),))
    assert "\x1b[31m^" in render_one(diagnostic, SOURCE, color=True)
    assert "\x1b" not in render_one(diagnostic, SOURCE)
