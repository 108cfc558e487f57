"""A TextMate grammar of the language, for editors that colour by one; made of the word lists of the parser.

The format: https://macromates.com/manual/en/language_grammars
"""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Any

from assay.grammar.elaborate.expressions.builtins import TABLE
from assay.grammar.elaborate.expressions.dispatch import NAMED_OPERATORS
from assay.grammar.parsing.split_declarations import DECLARATION_WORDS
from assay.grammar.syntax import RESERVED

_TERMINAL = re.compile(r"^_?[A-Z_]+(?:\.\d+)?: (?:/(?P<regex>.*)/|\"(?P<text>[a-z_]+)\")$", re.MULTILINE)
_NO_KEYWORDS = ("NAME", "_UNDERSCORE", "INT", "STRING", "_NL", "_BLANKS", "_COMMENT", "_JOIN")
_WORD = re.compile(r"(?<![\\a-z])[a-z][a-z_]+")
_CONSTANTS = {"true", "false", "none"}
_TYPES = ("bool", "int", "set", "map", "seq", "bag")


def contextual_words() -> frozenset[str]:
    """The words that the grammar knows at some place, besides those that are reserved everywhere."""
    text = (files("assay.grammar") / "assay.lark").read_text(encoding="utf-8")
    found: set[str] = set()
    for match in _TERMINAL.finditer(text):
        if match[0].partition(":")[0].partition(".")[0] not in _NO_KEYWORDS:
            found |= set(_WORD.findall(match["text"] or match["regex"]))
    return frozenset(word for word in found if not word.endswith("_")) - RESERVED


def textmate_grammar() -> dict[str, Any]:
    """The grammar as an object for JSON. Words of declarations count in the first column, the others anywhere."""
    operators = RESERVED - _CONSTANTS - {"_", "expect"}
    lines = contextual_words() - DECLARATION_WORDS - set(_TYPES)
    rules = [
        ("comment.line.number-sign", r"#.*$"),
        ("keyword.declaration", rf"^(?:(?:size|ghost)\s+)?(?:{_any(DECLARATION_WORDS)})\b"),
        ("keyword.control", rf"\b(?:{_any(operators)})\b"),
        ("constant.language", rf"\b(?:{_any(_CONSTANTS)})\b"),
        ("storage.type", rf"\b(?:{_any(_TYPES)})\b(?=\s*[\[,)=?]|\s*$)"),
        ("support.function", rf"\b(?:{_any([*TABLE, *NAMED_OPERATORS])})(?=\()"),
        ("keyword.other", rf"(?:^\s+|(?<=[:;,])\s*)(?:{_any(lines | {'expect'})})\b"),
        ("variable.other.quoted", r"`[A-Za-z_][A-Za-z0-9_]*`"),
        ("constant.numeric", r"\b[0-9]+\b"),
        ("keyword.operator", r":=|==|!=|<=|>=|->|\.\.|//|[-+*%&<>=?]"),
        ("entity.name.type", r"\b[A-Z][A-Za-z0-9_]*\b"),
    ]
    # Three quotes before one: of rules that match at one place, the first counts.
    strings = [
        {
            "name": "string.quoted.triple.assay",
            "begin": '"""',
            "end": '"""',
            "patterns": [_rule("constant.character.escape", r"\\.")],
        },
        {
            "name": "string.quoted.double.assay",
            "begin": '"',
            "end": '"|$',
            "patterns": [_rule("constant.character.escape", r"\\.")],
        },
    ]
    return {
        "$schema": "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json",
        "name": "Assay",
        "scopeName": "source.assay",
        "patterns": [*strings, *(_rule(name, match) for name, match in rules)],
    }


def _rule(name: str, match: str) -> dict[str, str]:
    return {"name": f"{name}.assay", "match": match}


def _any(words: Any) -> str:
    return "|".join(sorted(words, key=lambda word: (-len(word), word)))
