"""The second opinion keeps to the time limit while it writes quantifiers out, not only between questions."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.checker.symbolic.smt.recheck import SecondOpinion
from assay.grammar.load import load_spec, load_text

NESTED = """module nested
type Place = 0 .. 9
state:
    seen: set[Place] = {}
action see(p: Place):
    when exists a, b, c, d in Place: a in seen and b in seen and c in seen and d not in seen or a == p
    seen := seen + {p}
invariant few: count(seen) < 11
"""


def test_a_time_limit_ends_it_while_a_step_is_read(tmp_path: Path) -> None:
    path = tmp_path / "nested.assay"
    path.write_text(NESTED)
    asked = 0

    def expired() -> bool:
        nonlocal asked
        asked += 1
        return asked > 20

    kernel = load_spec(path).kernel
    doubt = SecondOpinion(kernel, expired=expired).inductive([kernel.properties[0].conjuncts[0].condition])
    assert doubt is not None
    assert "the time limit was reached" in str(doubt)
    assert asked == 21


QUEUE = """module queue
type Value = 0 .. 3
state:
    q: seq[Value, max 2] = []
action push(v: Value):
    when v < 2
    when count(q) < 2
    q := q + [v]
action pop:
    when count(q) > 0
    q := drop(q, 1)
invariant small: forall v in elements(q): v < 2
"""


def test_what_lies_behind_the_end_of_a_sequence_is_no_element_of_it() -> None:
    kernel = load_text(QUEUE).kernel
    assert SecondOpinion(kernel).inductive([kernel.properties[0].conjuncts[0].condition]) is None


FILTERED = """module filtered
type Value = 0 .. 3
state:
    seen: set[Value] = {}
action see(v: Value):
    when v < 2
    seen := seen + {v}
invariant small: forall v in {w in {0, 3} if w in seen}: v < 2
"""


def test_an_element_of_a_listed_set_is_left_out_where_the_condition_is_false() -> None:
    kernel = load_text(FILTERED).kernel
    assert SecondOpinion(kernel).inductive([kernel.properties[0].conjuncts[0].condition]) is None


ANCESTORS = """module ancestors
param Node: set = 3
state:
    parent: map[Node, Node?] = [n -> none]
def ancestors(of: set[Node]): set[Node]:
    let more = of + MORE
    if more == of then of else ancestors(more)
action adopt(n: Node, m: Node):
    when n != n1 and parent[n] == none
    parent[n] := m
invariant rooted: parent[n1] == none
invariant alone: ancestors({n1}) == {n1}
invariant apart: n1 not in ancestors({n2})
"""


@pytest.mark.parametrize(
    "more", ["{m for n in of, m in Node if parent[n] == m}", "{m in Node if exists n in of: parent[n] == m}"]
)
def test_a_set_that_grows_by_recursion_is_encoded_once_at_each_level(more: str) -> None:
    asked = 0

    def expired() -> bool:
        nonlocal asked
        asked += 1
        return asked > 300

    kernel = load_text(ANCESTORS.replace("MORE", more)).kernel
    rooted, alone, apart = (each.conjuncts[0].condition for each in kernel.properties)
    opinion = SecondOpinion(kernel, expired=expired)
    assert opinion.inductive([rooted, alone]) is None
    doubt = opinion.inductive([rooted, apart])
    assert doubt is not None
    assert "time limit" not in str(doubt)
    assert asked < 300
