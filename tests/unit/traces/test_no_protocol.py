"""What a protocol's words mean is said by specs and by data files: no Python of validation knows them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
WORDS = {"leader", "leaders", "isr", "controller", "controllers", "epoch", "epochs"}
TEXTS_OF_LINES = {
    ("traces/diagnosis/redact.py", "/controller"),  # ZooKeeper's own paths, which tell nothing of a user
    ("traces/diagnosis/redact.py", "/isr_change"),
}
READERS_OF_ONE_FORMAT = {
    "traces/input/lines/pasted_lines.py",  # a pattern of the names of loggers
    "traces/input/lines/moments.py",  # log4j's name of the seconds since 1970
    "traces/input/containers/fields.py",  # likewise
    "traces/input/kraft_metadata_dump.py",  # a dump names a batch's epoch as it names its offset
}
ABOUT_WARNINGS_OF_KAFKA = ("traces/trouble/", "traces/patterns/statement_catalogue.py")
"""What Kafka's own warnings mean to an operator: no part of the verdict."""
FILES = sorted(
    path
    for folder in ("traces", "spark")
    for path in (ROOT / folder).rglob("*.py")
    if not path.relative_to(ROOT).as_posix().startswith(ABOUT_WARNINGS_OF_KAFKA)
)


def words(text: str) -> set[str]:
    """The words of an identifier or a text: ``leaderEpoch``, ``leader_epoch``, ``the leader's epoch``."""
    return {part.lower() for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", text)}


def documentation(tree: ast.AST) -> set[int]:
    """The string constants that only document."""
    bodies = (getattr(node, "body", None) for node in ast.walk(tree))
    statements = (each for body in bodies if isinstance(body, list) for each in body)
    return {
        id(each.value) for each in statements if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)
    }


def spoken(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The identifiers and texts of a module, each with its line."""
    left_out = documentation(tree)
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
                yield node.lineno, name
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield node.lineno, name
            case ast.keyword(arg=str(name)):
                yield node.lineno, name
            case ast.Constant(value=str(text)) if id(node) not in left_out:
                yield node.lineno, text
            case _:
                continue


def found(path: Path) -> list[str]:
    name = path.relative_to(ROOT).as_posix()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [
        f"{name}:{line}: {text}"
        for line, text in spoken(tree)
        if words(text) & WORDS and (name, text) not in TEXTS_OF_LINES
    ]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_identifier_and_no_text_of_validation_is_a_word_of_the_protocol(path: Path) -> None:
    if path.relative_to(ROOT).as_posix() not in READERS_OF_ONE_FORMAT:
        assert found(path) == []


def test_the_search_finds_such_words(tmp_path: Path) -> None:
    tree = ast.parse('def f(leaderEpoch):\n    """The leader."""\n    return fields["isr"] or state.controller_epoch\n')
    assert [text for _, text in spoken(tree) if words(text) & WORDS] == ["leaderEpoch", "controller_epoch", "isr"]
