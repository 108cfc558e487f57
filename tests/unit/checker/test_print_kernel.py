"""A condition is shown as written where its text is at hand, and printed from the kernel otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from assay.checker.print_kernel import expression_text, print_expression, span_text
from assay.grammar.diagnostics.diagnostic import NOWHERE, Span

Load = Callable[..., Any]

DECLARATIONS = """
param Node: set = {a, b}
enum Role: Follower, Leader(epoch: 0 .. 3)
record Entry: by: Node, at: 0 .. 3
state:
    x: 0 .. 3 = 0
    role: map[Node, Role] = [n -> Follower]
    part: map[Node, 0 .. 3, max 2] = {}
    entry: Entry = Entry(by = a, at = 0)
    log: seq[Node, max 3] = []
    many: bag[Node, max 3] = {}
    few: set[Node] = {}
    who: Node? = none
"""

SAME = [
    "x + 1 == 2 * (x - 3) // 4 % 5",
    "x - (1 - x) < -x",
    "not (x == 1 or x == 2) and (x > 1 implies x >= 2)",
    "forall n in Node: exists m in few: n != m",
    "role[a] is Leader",
    "who != none",
    "entry.by in {a, b} and entry.at not in 1 .. 2",
    "{n in few if n != a} <= few + {a} - {b} & Node",
    "{n for n in Node, m in few if n == m} == few",
    "count(log + [a]) + times(many, a) == sum({x, 1})",
    "first(log) == last(take(log, 1)) and log[0] == a",
    "keys(part) == elements(many)",
    "few in subsets(Node)",
    "part == without(part, a)",
    "if x == 1 then x == 2 else x == 3",
    "let y = x + 1: y > x",
    "role[a] == Leader(2)",
    "many == bag{a, a}",
]


@pytest.mark.parametrize("text", SAME)
def test_an_expression_is_printed_as_it_was_written(load: Load, text: str) -> None:
    loaded = load(f"{DECLARATIONS}\ninvariant i: {text}\n")
    condition = loaded.kernel.properties[0].conjuncts[0].condition
    assert print_expression(condition) == text
    assert expression_text(condition, loaded.sources) == text


def test_text_over_several_lines_becomes_one(load: Load) -> None:
    loaded = load(f"{DECLARATIONS}\ninvariant i: x == 1   # one\n    or x == 2\n")
    condition = loaded.kernel.properties[0].conjuncts[0].condition
    assert expression_text(condition, loaded.sources) == "x == 1 or x == 2"


def test_a_line_separator_in_a_comment_ends_no_line(load: Load) -> None:
    loaded = load(f"# one\u2028two\x0cthree\x85four\n{DECLARATIONS}\ninvariant i: x == 1\n")
    condition = loaded.kernel.properties[0].conjuncts[0].condition
    assert expression_text(condition, loaded.sources) == "x == 1"


@pytest.mark.parametrize("span", [NOWHERE, Span("other", 1, 1, 1, 3), Span("file", 9, 1, 9, 3)])
def test_a_place_without_text_has_none(span: Span) -> None:
    assert span_text(span, {"file": "abc"}) is None
