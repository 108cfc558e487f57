"""Mutants: one mistake each, at every guard, comparison and update of what a spec's actions do."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from assay.checker.mutation.mutants import Mutant, mutants, mutated
from assay.grammar import kernel as k
from assay.grammar.load import Loaded, load_text

LAMP = """\
module lamp
param Node: set = {a, b}
state:
    lit: set[Node] = {}
    count: 0 .. 3 = 0
    last: Node? = none
def dark(n: Node): bool = n not in lit and count < 3
action light(n: Node):
    when dark: dark(n)
    bound few: count < 2
    lit := lit + {n}
    if count == 0:
        last := n
    count := count + 1
action quench(n: Node):
    when is_lit: n in lit
    lit := lit - {n}
invariant counted: count(lit) <= count
"""


@pytest.fixture(scope="module")
def lamp() -> Loaded:
    return load_text(LAMP)


def found(loaded: Loaded) -> list[Mutant]:
    return mutants(loaded.kernel, loaded.sources, frozenset(("spec.assay",)))


def test_every_guard_comparison_and_update_has_its_mutants_and_bounds_have_none(lamp: Loaded) -> None:
    assert [(each.span.line, each.kind, each.text) for each in found(lamp)] == [
        (7, "swap", "`in` for `not in` in `n not in lit`"),
        (7, "swap", "`<=` for `<` in `count < 3`"),
        (9, "drop", "without `when dark: dark(n)`"),
        (9, "weaken", "without `count < 3` in `when dark: dark(n)`"),
        (9, "weaken", "without `n not in lit` in `when dark: dark(n)`"),
        (11, "keep", "without `lit := lit + {n}`"),
        (12, "swap", "`!=` for `==` in `count == 0`"),
        (13, "keep", "without `last := n`"),
        (14, "keep", "without `count := count + 1`"),
        (16, "drop", "without `when is_lit: n in lit`"),
        (16, "swap", "`not in` for `in` in `n in lit`"),
        (17, "keep", "without `lit := lit - {n}`"),
    ]


def test_lines_of_other_files_are_left_alone(lamp: Loaded) -> None:
    assert mutants(lamp.kernel, lamp.sources, frozenset(("other.assay",))) == []


def test_only_guards_that_are_dropped_add_steps(lamp: Loaded) -> None:
    assert {each.kind for each in found(lamp) if each.grows} == {"drop", "weaken"}


def guards(kernel: k.Kernel) -> Iterator[k.Guard]:
    for action in kernel.actions:
        yield from (each for each in action.body if isinstance(each, k.Guard))


def test_a_mutant_changes_actions_and_leaves_properties_as_they_are(lamp: Loaded) -> None:
    for mutant in found(lamp):
        made = mutated(lamp.kernel, mutant)
        assert made.actions != lamp.kernel.actions, mutant
        assert made.properties == lamp.kernel.properties
        assert [(each.kind, each.label) for each in guards(made)] == [
            (each.kind, each.label) for each in guards(lamp.kernel)
        ]


SHARED = """\
module shared
state:
    n: 0 .. 2 = 0
action one:
    when small: n < 2
    n := n + 1
"""
JOINT = """\
module joint
use shared
state:
    m: 0 .. 2 = 0
action two:
    m := shared.n
action both = shared.one() & two()
next: both, shared.one
"""


def test_a_line_that_is_part_of_two_steps_is_one_mutant_and_changed_in_both() -> None:
    loaded = load_text(JOINT, modules={"shared": SHARED})
    (shared,) = set(loaded.sources) - {"spec.assay"}
    dropped = [each for each in mutants(loaded.kernel, loaded.sources, frozenset((shared,))) if each.kind == "drop"]
    assert [each.actions for each in dropped] == [("both", "shared.one")]
    made = mutated(loaded.kernel, dropped[0])
    conditions = [
        each.condition for action in made.next for each in made.action(action).body if isinstance(each, k.Guard)
    ]
    assert conditions == [k.true(), k.true()]


def test_a_pattern_is_one_conjunct() -> None:
    text = (
        "enum Role: Idle, Active(n: 0 .. 3)\nstate:\n    role: Role = Idle\n    x: 0 .. 3 = 0\n"
        "action a:\n    when role is Active(2)\n    role := Idle\naction b:\n    when role is Active(2) and x < 3\n    x := 1\n"
    )
    parts = [each.text for each in found(load_text(text)) if each.kind == "weaken"]
    assert parts == [
        "without `role is Active(2)` in `when role is Active(2) and x < 3`",
        "without `x < 3` in `when role is Active(2) and x < 3`",
    ]
