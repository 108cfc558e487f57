"""No binder has the name of a local in whose scope it stands: engines write a bound value and restore nothing."""

from __future__ import annotations

from collections.abc import Callable

from assay.checker.reference.bfs import Search
from assay.grammar import kernel

KernelOf = Callable[..., kernel.Kernel]
CodesOf = Callable[..., list[str]]
SearchOf = Callable[[kernel.Kernel], Search]

PARTS = """module top
param T: set = {t1, t2, t3}
state:
    n: 0 .. 3 = 0
    last: T = t1
action part(q in {x in T if x != t3}):
    last := q
action other(x: T):
    when n < 3
    when x == t1
    n := n + 1
"""
CHANNEL = """module channel
param T: set
param P: T
param Others: set[T] = {x in T if x != P}
state:
    seen: set[T] = {}
action go(q in {p in T if p != P}):
    seen := seen + {q}
action mark:
    seen := Others
"""
ARRAY = "module top\nparam T: set = {t1, t2, t3}\ninstance r[p: T] = channel(T = T, P = p)\n"
ASKED = """module top
param T: set = {t1, t2}
state:
    on: bool = false
action a(x: T, y: T):
    when x == t1 and y == t2
    on := not on
next: a
"""


def test_the_domain_of_a_part_leaves_the_parameters_of_a_joint_action_alone(
    kernel_of: KernelOf, search: SearchOf
) -> None:
    made = kernel_of(PARTS + "action both(x: T) = part(x) & other(x)\nnext: both\n")
    assert len(search(made).store) == 4


def test_the_domain_of_a_parameter_leaves_other_parameters_alone(kernel_of: KernelOf) -> None:
    made = kernel_of("param T: set = 3\naction a(q in {x in T if x != t1}, x: T):\n    when q == x\n")
    assert [each.binder.name for each in made.actions[0].parameters] == ["q", "x"]
    domain = made.actions[0].parameters[0].domain
    assert isinstance(domain, kernel.Filter)
    assert domain.binder.name not in ("q", "x")


def test_a_domain_may_have_a_binder_of_the_name_of_the_index(kernel_of: KernelOf, search: SearchOf) -> None:
    made = kernel_of(ARRAY + "next: r.go\n", modules={"channel": CHANNEL})
    assert len(search(made).store) == 4**3


def test_a_value_of_a_parameter_may_have_a_binder_of_the_name_in_the_index(
    kernel_of: KernelOf, search: SearchOf
) -> None:
    made = kernel_of(ARRAY + "action all(x: T) = r[x].mark()\nnext: all\n", modules={"channel": CHANNEL})
    assert len(search(made).store) == 2**3


def test_arguments_of_enabled_may_have_names_of_the_action(kernel_of: KernelOf, search: SearchOf) -> None:
    swapped = "invariant swapped: forall x in T, y in T: enabled(a(y, x)) == (x == t2 and y == t1)\n"
    some = "invariant some_first: forall x in T: enabled(a(_, x)) == (x == t2)\n"
    assert set(search(kernel_of(ASKED + swapped + some)).watch.found) == set()


def test_a_group_is_fair_per_parameters_whose_domains_differ_in_names_of_binders(codes_of: CodesOf) -> None:
    text = """param T: set = 3
state:
    n: set[T] = {}
action a(q in {x in T if x != t1}, x: T):
    when q == x
    n := n + {q}
action b(q in {x in T if x != t1}):
    n := n - {q}
fair per q: a, b
"""
    assert codes_of(text) == []
