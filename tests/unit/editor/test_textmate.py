"""The TextMate grammar of the VS Code extension covers every word of the language."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from assay.editor.textmate import contextual_words, textmate_grammar
from assay.grammar.elaborate.expressions.builtins import TABLE
from assay.grammar.parsing.split_declarations import DECLARATION_WORDS
from assay.grammar.syntax import RESERVED

CHECKOUT = Path(__file__).resolve().parents[3]
EXTENSION = CHECKOUT / "editors" / "vscode"
FILE = EXTENSION / "syntaxes" / "assay.tmLanguage.json"


def scope(line: str, word: str) -> str:
    """The name that a word of a line gets: as an editor does it, the rule that matches first, at the earliest place."""
    rules = textmate_grammar()["patterns"]
    at = 0
    while at < len(line):
        found = []
        for order, rule in enumerate(rules):
            match = re.compile(rule.get("match") or rule["begin"]).search(line, at)
            if match and match.end() > at:
                found.append((match.start(), order, match.end(), rule["name"]))
        if not found:
            return ""
        start, order, end, name = min(found)
        if "end" in rules[order]:
            closed = re.compile(rules[order]["end"]).search(line, end)
            end = closed.end() if closed else len(line)
        if word in line[start:end]:
            return str(name)
        at = end
    return ""


def test_the_file_is_made_of_the_word_lists(request: pytest.FixtureRequest) -> None:
    text = json.dumps(textmate_grammar(), indent=1, ensure_ascii=False) + "\n"
    if request.config.getoption("--rewrite"):
        FILE.write_text(text, encoding="utf-8")
    assert FILE.read_text(encoding="utf-8") == text


def test_every_word_has_a_colour() -> None:
    for word in RESERVED - {"_", "expect"}:
        assert scope(f"    x {word} y", word).startswith(("keyword.control", "constant.language")), word
    for word in DECLARATION_WORDS:
        assert scope(f"{word} x:", word).startswith("keyword.declaration"), word
    for word in TABLE:
        assert scope(f"    x := {word}(y)", word).startswith("support.function"), word
    assert {"when", "bound", "pick", "fair", "symmetric", "hidden", "observe"} <= contextual_words()
    for word in {"when", "bound", "pick", "ghost", "expect", "refuse", "hidden", "order"} & (
        contextual_words() | {"expect"}
    ):
        assert scope(f"    {word} x", word).startswith("keyword"), word


@pytest.mark.parametrize(
    ("line", "word", "name"),
    [
        ("# when and", "when", "comment"),
        ('    "a text with when"', "when", "string"),
        ("    x := 42", "42", "constant.numeric"),
        ("    when_ready := true", "when_ready", ""),
        ("    `type` := 1", "type", "variable.other.quoted"),
        ("    role: map[Node, Role]", "map", "storage.type"),
        ("    x := nonesuch", "nonesuch", ""),
    ],
)
def test_words_are_coloured_by_their_place(line: str, word: str, name: str) -> None:
    assert scope(line, word).startswith(name)
    assert bool(scope(line, word)) == bool(name)


def test_the_extension_names_files_that_are_there() -> None:
    package: dict[str, Any] = json.loads((EXTENSION / "package.json").read_text())
    contributes = package["contributes"]
    named = [package["main"], contributes["languages"][0]["configuration"], contributes["grammars"][0]["path"]]
    assert all((EXTENSION / each).is_file() for each in named)
    assert contributes["grammars"][0]["scopeName"] == textmate_grammar()["scopeName"]
    script = (EXTENSION / "extension.js").read_text()
    assert {each["command"] for each in contributes["commands"]} == set(
        re.findall(r'registerCommand\("([\w.]+)"', script)
    )
    adapters = re.findall(r'registerDebugAdapterDescriptorFactory\("(\w+)"', script)
    assert [each["type"] for each in contributes["debuggers"]] == adapters
