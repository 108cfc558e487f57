"""The parser's tables come with the package: of this grammar, and without making them again."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.grammar import parser_tables
from assay.grammar.parser_tables import TABLES, make_parser, new_tables
from assay.grammar.parsing.logical_lines import Layout

EXPRESSION = "(a + b) * c[x] == {each for each in S if not p(each)} and true"


def test_the_tables_are_those_of_the_grammar(checkout: Path, request: pytest.FixtureRequest) -> None:
    file = checkout / "grammar" / TABLES
    if request.config.getoption("--rewrite") and parser_tables._of_this_grammar(file.read_bytes()) is None:
        file.write_bytes(new_tables(Layout()))
    assert parser_tables._of_this_grammar(file.read_bytes()), "pytest --rewrite tests/unit/grammar writes them anew"


def test_tables_that_come_along_are_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parser_tables, "new_tables", lambda _: pytest.fail("made"))
    assert make_parser(Layout()).parse("true", start="lone_expression")


@pytest.mark.slow
def test_of_another_version_they_are_made_once_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))
    known = make_parser(Layout()).parse(EXPRESSION, start="lone_expression")
    monkeypatch.setattr(parser_tables, "_version", lambda: "0" * 64)
    assert make_parser(Layout()).parse(EXPRESSION, start="lone_expression") == known
    assert [each.name for each in tmp_path.iterdir()] == ["parser-" + "0" * 64]
    monkeypatch.setattr(parser_tables, "new_tables", lambda _: pytest.fail("made again"))
    assert make_parser(Layout()).parse(EXPRESSION, start="lone_expression") == known


def test_places_are_those_of_lark_where_a_rule_hands_on_its_node(monkeypatch: pytest.MonkeyPatch) -> None:
    def places() -> list[tuple[str, int, int, int, int]]:
        tree = make_parser(Layout()).parse(EXPRESSION, start="lone_expression")
        found = [(each.data, each.meta) for each in tree.iter_subtrees() if not each.meta.empty]
        return [(name, at.line, at.column, at.end_line, at.end_column) for name, at in found]

    quick = places()
    monkeypatch.setattr(parser_tables, "_hands_on", lambda _: False)
    assert quick == places()
