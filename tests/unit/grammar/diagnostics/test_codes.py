"""The table of codes is closed, ordered and complete."""

from __future__ import annotations

import re
from pathlib import Path

from assay.grammar.diagnostics.codes import CODES, TABLE


def test_every_code_is_given_once() -> None:
    assert len(CODES) == len(TABLE)
    assert all(re.fullmatch(r"E[0-8]\d\d", code) for code in CODES)


def test_every_code_has_a_title_and_a_paragraph() -> None:
    for code in TABLE:
        assert code.title[:1] == code.title[:1].lower() or code.title.startswith("`"), code
        assert code.explanation.endswith("."), code
        assert len(code.explanation) > 30, code


def test_every_code_in_the_grammar_is_in_the_table(checkout: Path) -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in (checkout / "grammar").rglob("*.py"))
    assert set(re.findall(r'"(E\d\d\d)"', sources)) <= set(CODES)
