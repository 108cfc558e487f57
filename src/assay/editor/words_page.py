"""The page docs/words.md: all words of the language, made of the word lists of the parser."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from assay.editor.textmate import contextual_words
from assay.grammar.elaborate.expressions.builtins import TABLE
from assay.grammar.elaborate.expressions.dispatch import NAMED_OPERATORS
from assay.grammar.parsing.split_declarations import DECLARATION_WORDS
from assay.grammar.syntax import RESERVED

WIDTH = 120
_STEPS = {"expect"}  # begins a step of a scenario, and is quoted there alone

PAGE = """# The words of the language

This page is made of the word lists of the parser; a test keeps it equal.

## Reserved words

These are no names, unless they stand in backticks:

{reserved}

So a variable called `then` is written with backticks wherever it stands: `` `then` := `then` + 1 ``. `assay fmt` keeps
the backticks that are needed, and takes away the others. `_` alone is no name at all. In a scenario, `expect` begins a
step, so that an action of this name needs backticks there.

## Words that begin a declaration

They have their meaning as the first word of a line that is not indented; everywhere else they are names:

{declarations}

## Words with a meaning in some place

They have their meaning where the grammar wants them, and are names everywhere else. Where both are possible, a word in
backticks is the name:

{contextual}

## Names that mean something before parentheses

A function that the spec declares itself, or a variant or record, comes first:

{functions}
"""


def words_page() -> str:
    """The whole page."""
    return PAGE.format(
        reserved=_listed(RESERVED - {"_"} - _STEPS),
        declarations=_listed(DECLARATION_WORDS),
        contextual=_listed(contextual_words() - DECLARATION_WORDS),
        functions=_listed({*TABLE, *NAMED_OPERATORS}),
    )


def _listed(words: Iterable[str]) -> str:
    return textwrap.fill(", ".join(f"`{word}`" for word in sorted(words)), WIDTH)
