"""docs/words.md has the words that the parser knows (`pytest --rewrite tests/docs` writes it anew), and all can be quoted."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.editor.textmate import contextual_words
from assay.editor.words_page import words_page
from assay.grammar.parsing.parse import parse
from assay.grammar.parsing.split_declarations import DECLARATION_WORDS
from assay.grammar.syntax import RESERVED

NAMES = sorted(RESERVED - {"_", "expect"})


def test_the_page_is_made_of_the_lists(checkout: Path, request: pytest.FixtureRequest) -> None:
    page = checkout / "docs" / "words.md"
    if request.config.getoption("--rewrite"):
        page.write_text(words_page(), encoding="utf-8")
    assert page.read_text(encoding="utf-8") == words_page()


def test_a_reserved_word_is_a_name_in_backticks_alone() -> None:
    for word in NAMES:
        assert not parse(f"state:\n    {word}: bool = true\n", "spec.assay").ok, word
        assert parse(f"state:\n    `{word}`: bool = true\n", "spec.assay").ok, word


def test_every_other_word_is_a_name_of_a_variable_as_it_is() -> None:
    for word in sorted({*contextual_words(), *DECLARATION_WORDS, "expect"}):
        text = f"state:\n    {word}: bool = true\naction step:\n    {word} := not {word}\ninvariant i: {word} or not {word}\n"
        assert parse(text, "spec.assay").ok, word
