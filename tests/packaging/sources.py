"""The texts of source files. Trees of all of them take seconds to make, so that most questions are put to the text."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

STRING = re.compile(r'"""(?:[^\\]|\\.)*?"""', re.DOTALL)


@cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def without_strings(text: str) -> str:
    """The text with as many lines, and nothing in the strings that may hold several."""
    return STRING.sub(lambda found: "\n" * found[0].count("\n"), text)
