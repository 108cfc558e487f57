"""Cuts a trace clause into its lines, so that after an edit only the edited line is parsed again.

Trace clauses are the longest declarations: parsing one takes a fifth of a second.

A cut that is wrong, in a string or behind an operator, leaves a part that cannot be read and that ``goes_on``. Then the
clause is read as a whole. (Brackets that are not closed were reported before.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.grammar.parsing.logical_lines import LogicalLine
from assay.grammar.parsing.split_declarations import lexemes

_HEAD = re.compile(r"trace\b[^\n:]*:[ \t]*(?:#[^\n]*)?\n")
_WORDS = "from ignore hidden order slice numbered thread report ends begins on call measure note"
_LINE = re.compile(rf"^([ \t]+)(?:{_WORDS.replace(' ', '|')})\b", re.MULTILINE)


def clause_parts(source: str) -> Iterator[tuple[str, int]]:
    """Clauses of one line each that together are the clause, each with the number of lines by which it has to be moved
    down. None where the text is no trace clause of several lines.
    """
    head = _HEAD.match(source)
    first = None if head is None else _LINE.search(source, head.end())
    if head is None or first is None:
        return
    # Only lines as deep as the first one begin a part: below `on E:` a deeper line may begin with such a word too.
    starts = [each.start() for each in _LINE.finditer(source, head.end()) if each[1] == first[1]]
    if len(starts) < 2:
        return
    lines = 0
    for start, end in zip([head.end(), *starts[1:]], [*starts[1:], len(source)], strict=True):
        part = source[start:end]
        yield head[0] + part, lines
        # The part before has as many lines more than the head alone. So the next one is moved down by them.
        lines += part.count("\n")


def goes_on(part: str) -> bool:
    """Whether the text ends within a line or a string."""
    line = LogicalLine()
    for each in lexemes(part, ""):
        if each.kind == "unterminated":
            return True
        if each.kind not in ("newline", "blank", "comment"):
            line.feed(each.text)
        elif each.kind == "newline" and not line.goes_on:
            line = LogicalLine()
    return line.goes_on
