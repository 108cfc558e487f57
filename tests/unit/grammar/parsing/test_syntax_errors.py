"""What the parser says about mistakes, in a golden file: a comment, the text, ``----``, what is said. ``--rewrite`` writes it anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.grammar.diagnostics.codes import SYNTAX
from assay.grammar.diagnostics.render import render
from assay.grammar.parsing.parse import parse

GOLDEN = Path(__file__).parents[1] / "goldens" / "syntax_errors.txt"
BETWEEN_CASES = "====\n"
BEFORE_ANSWER = "----\n"


def _cases() -> list[tuple[str, str, str]]:
    cases = []
    for case in GOLDEN.read_text(encoding="utf-8").split(BETWEEN_CASES):
        question, _, answer = case.partition(BEFORE_ANSWER)
        title, _, text = question.partition("\n")
        cases.append((title, text, answer))
    return cases


def _answer(text: str) -> str:
    found = parse(text, "spec.assay").diagnostics
    return render(found, {"spec.assay": text}) + "\n" if found else ""


def test_rewriting_is_asked_for_or_the_file_stands(request: pytest.FixtureRequest) -> None:
    cases = _cases()
    if request.config.getoption("--rewrite"):
        written = [f"{title}\n{text}{BEFORE_ANSWER}{_answer(text)}" for title, text, _ in cases]
        GOLDEN.write_text(BETWEEN_CASES.join(written), encoding="utf-8")
    assert [title[:2] for title, _, _ in _cases()] == ["# "] * len(cases)


@pytest.mark.parametrize("number", range(len(_cases())), ids=[title.strip("# .") for title, _, _ in _cases()])
def test_mistakes_are_reported_as_written_in_the_golden_file(number: int) -> None:
    _, text, answer = _cases()[number]
    assert _answer(text) == answer


def test_every_code_of_a_syntax_error_occurs() -> None:
    found = {d.code for _, text, _ in _cases() for d in parse(text, "spec.assay").diagnostics}
    found |= {d.code for d in parse(f"invariant a: {'(' * 70}x{')' * 70} < {'9' * 1001}", "spec.assay").diagnostics}
    assert found == {code.code for code in SYNTAX}
