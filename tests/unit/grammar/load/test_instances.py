"""Instances have variables of their own; an array's are maps from the index, its actions take the index first."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from assay.checker.reference.bfs import Search
from assay.grammar import kernel
from assay.grammar.kernel.types import AtomType, MapType, RangeType
from assay.grammar.values import Atom

KernelOf = Callable[..., kernel.Kernel]
CodesOf = Callable[..., list[str]]
SearchOf = Callable[[kernel.Kernel], Search]

CELL = """module cell
param Top: int = 2
state:
    n: 0 .. Top = 0
action up(k in {1, 2}):
    when room: n + k <= Top
    n := n + k
action reset:
    n := 0
invariant small: n <= Top
"""
REPLICA = """module replica
param Node: set = 2
param Me: Node
state:
    leader: Node? = none
    voted: bool = false
    vote: Node in Node
action follow(q: Node):
    when other: q != Me
    when free: leader == none
    leader := q
action stand:
    voted := true
invariant not_self: leader != Me
transition stays: old(voted) implies voted
"""
ARRAY = "module top\nparam Node: set = 2\ninstance r[p: Node] = replica(Node = Node, Me = p)\n"
MODULES = {"cell": CELL, "replica": REPLICA}


def test_instances_have_variables_of_their_own(kernel_of: KernelOf, search: SearchOf) -> None:
    made = kernel_of(
        "module top\ninstance a = cell\ninstance b = cell(Top = 4)\nnext: a.up, b.up, b.reset\n", modules=MODULES
    )
    assert [(v.name, v.type) for v in made.variables] == [("a.n", RangeType(0, 2)), ("b.n", RangeType(0, 4))]
    assert [p.name for p in made.properties] == ["a.small", "b.small"]
    assert len(search(made).store) == 15


def test_an_unbound_parameter_of_an_instance_can_be_set_by_its_long_name(kernel_of: KernelOf) -> None:
    made = kernel_of("module top\ninstance a = cell\n", modules=MODULES, overrides={"a.Top": "7"})
    assert made.variables[0].type == RangeType(0, 7)


def test_an_instance_may_take_a_set_of_its_owner(kernel_of: KernelOf) -> None:
    text = "module top\nparam Broker: set = {x, y}\ninstance a = replica(Node = Broker, Me = x)\n"
    made = kernel_of(text, modules=MODULES)
    assert [sort.name for sort in made.sorts] == ["Broker"]
    guard = made.action("a.follow").body[0]
    assert isinstance(guard, kernel.Guard)
    assert isinstance(guard.condition, kernel.Equal)
    assert guard.condition.right == kernel.Const(AtomType(made.sorts[0]), Atom("Broker", 0, "x"))


def test_the_variables_of_an_array_are_maps_from_the_index(kernel_of: KernelOf) -> None:
    made = kernel_of(ARRAY, modules=MODULES)
    for variable in made.variables:
        assert isinstance(variable.type, MapType)
        assert variable.type.key == AtomType(made.sorts[0])


def test_the_actions_of_an_array_take_the_index_first(kernel_of: KernelOf) -> None:
    made = kernel_of(ARRAY + "next: r.follow, r.stand\n", modules=MODULES)
    assert [p.binder.name for p in made.action("r.follow").parameters] == ["p", "q"]
    assign = made.action("r.stand").body[0]
    assert isinstance(assign, kernel.Assign)
    assert assign.variable == "r.voted"
    assert [type(step).__name__ for step in assign.path] == ["AtKey"]


def test_an_array_is_searched_like_so_many_instances(kernel_of: KernelOf, search: SearchOf) -> None:
    made = kernel_of(ARRAY + "next: r.follow, r.stand\n", modules=MODULES)
    found = search(made)
    assert found.initial == 4  # each of two replicas chooses its vote among two
    assert len(found.store) == 4 * (2 * 2) ** 2
    assert set(found.watch.found) == set()


def test_properties_of_an_array_hold_for_every_index(kernel_of: KernelOf) -> None:
    invariant = next(p for p in kernel_of(ARRAY, modules=MODULES).properties if p.name == "r.not_self")
    condition = invariant.conjuncts[0].condition
    assert isinstance(condition, kernel.Quantified)
    assert (condition.kind, condition.binder.name) == ("forall", "p'2")


def test_members_of_an_array_are_reached_by_index(codes_of: CodesOf, kernel_of: KernelOf, search: SearchOf) -> None:
    text = (
        ARRAY
        + "action pair(a: Node, b: Node) = r[a].follow(b) & r[b].stand\nreachable x: exists a in Node: r[a].voted\nnext: pair\n"
    )
    made = kernel_of(text, modules=MODULES)
    assert [p.binder.name for p in made.action("pair").parameters] == ["a", "b"]
    assert len(search(made).store) == 16
    assert codes_of(ARRAY + "reachable x: r.voted\n", modules=MODULES) == ["E103"]


def test_scenarios_name_the_instance(kernel_of: KernelOf) -> None:
    made = kernel_of(ARRAY + "next: r.stand\nscenario s:\n    r[n1].stand\n    expect r[n1].voted\n", modules=MODULES)
    step = made.scenarios[0].steps[0]
    assert isinstance(step, kernel.Do)
    assert step.call.arguments == (kernel.Const(AtomType(made.sorts[0]), Atom("Node", 0, "n1")),)


def test_an_instance_of_an_array_is_fair_by_itself(kernel_of: KernelOf) -> None:
    fair = {"replica": REPLICA.replace("action stand:", "action stand fair:")}
    fairness = kernel_of(ARRAY, modules=fair).action("r.stand").fairness
    assert fairness is not None
    assert fairness.per == ("p",)


def test_initial_blocks_run_for_every_index(kernel_of: KernelOf, search: SearchOf) -> None:
    text = "module die\nstate:\n    n: 1 .. 6\ninit:\n    pick v in 1 .. 6\n    n := v\n    when n != 6\n"
    made = kernel_of("module top\nparam Die: set = 2\ninstance d[i: Die] = die\n", modules={"die": text})
    assert search(made).initial == 25


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("instance a = cell(Tip = 3)\n", "E306"),
        ("instance a = cell(Top = 3, Top = 4)\n", "E309"),
        ("instance a = cell(Top = true)\n", "E201"),
        ("instance a = cel\n", "E302"),
        ("instance a = replica(Node = 3)\n", "E311"),
        ("instance a = replica\n", "E313"),
        ("instance a[i: 0 .. Top] = cell\nsize param Top: int = 3\n", "E317"),
        ("instance a[i: int] = cell\n", "E317"),
        ("instance a = cell\ninstance a = cell\n", "E301"),
        ("param Same: set = 2 symmetric\nparam One: Same\n", "E319"),
        ("param S: set = 2 symmetric\ninstance r[p: S] = replica(Node = S, Me = p)\n", "E318"),
        ("state:\n    x: 0 .. 3 = 0\ninstance a = cell(Top = x)\n", "E108"),
    ],
)
def test_mistakes_in_instances_are_reported(codes_of: CodesOf, line: str, code: str) -> None:
    assert code in codes_of("module top\n" + line, modules=MODULES)


def test_an_array_inside_an_array_is_refused(codes_of: CodesOf) -> None:
    middle = "module middle\nparam Node: set = 2\ninstance c[i: Node] = cell\n"
    text = "module top\nparam Node: set = 2\ninstance m[j: Node] = middle(Node = Node)\n"
    assert codes_of(text, modules={"middle": middle, **MODULES}) == ["E316"]


def test_an_instance_inside_an_array_shares_its_index(kernel_of: KernelOf) -> None:
    middle = "module middle\ninstance c = cell\n"
    text = "module top\nparam Node: set = 2\ninstance m[j: Node] = middle\nreachable x: m[n1].c.n == 1\nnext: m.c.up\n"
    made = kernel_of(text, modules={"middle": middle, **MODULES})
    assert made.variables[0].name == "m.c.n"
    assert isinstance(made.variables[0].type, MapType)
    assert [p.binder.name for p in made.action("m.c.up").parameters] == ["j", "k"]
