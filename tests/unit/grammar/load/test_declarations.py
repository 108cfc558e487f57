"""Types, variables, functions and initial states: names are unique, everything is checked even if unused."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from assay.checker.reference.bfs import Search
from assay.grammar.kernel import Kernel

KernelOf = Callable[..., Kernel]
CodesOf = Callable[..., list[str]]
SearchOf = Callable[[Kernel], Search]


@pytest.mark.parametrize(
    "text",
    [
        "type T = 0 .. 1\ntype T = 0 .. 2\n",
        "type T = bool\nstate:\n    T: bool = true\n",
        "state:\n    x: bool = true\n    x: bool = false\n",
        "enum E: A, B, A\n",
        "record R: f: bool, f: bool\n",
        "action a:\n    when true\naction a:\n    when true\n",
        "enum E: a\naction a:\n    when true\n",
        "param N: int = 1\ndef N(): int = 2\n",
    ],
)
def test_a_name_is_declared_once(codes_of: CodesOf, text: str) -> None:
    assert codes_of("module top\n" + text) == ["E301"]


def test_two_enums_may_share_a_variant(codes_of: CodesOf) -> None:
    assert codes_of("module top\nenum E: A, B\nenum F: B, C\nstate:\n    e: E = B\n    f: F = B\n") == []


@pytest.mark.parametrize("text", ["type A = B\ntype B = A\n", "record R: tail: R?\n", "enum E: Leaf, Node(left: E)\n"])
def test_a_type_that_contains_itself_is_reported(codes_of: CodesOf, text: str) -> None:
    assert codes_of("module top\n" + text) == ["E305"]


def test_declarations_stand_in_any_order(codes_of: CodesOf) -> None:
    assert codes_of("module top\nstate:\n    x: T = Off\ntype T = E\nenum E: Off, On\n") == []


def test_functions_are_checked_although_nobody_calls_them(codes_of: CodesOf) -> None:
    assert codes_of("module top\ndef f(x: bool): bool = x + 1\n") == ["E202"]
    assert codes_of("module top\ndef f(x: 0 .. 3): bool = x + 1 > 2\n") == []


def test_types_are_checked_although_nobody_uses_them(codes_of: CodesOf) -> None:
    assert codes_of("module top\ntype T = set[Nothing]\n") == ["E101"]


@pytest.mark.parametrize("type_", ["int", "set[int]", "int?", "seq[bool]", "bag[0 .. 1]"])
def test_state_has_finitely_many_values(codes_of: CodesOf, type_: str) -> None:
    assert codes_of(f"module top\nparam P: bool = true\nstate:\n    x: {type_}\n") == ["E411", "E214"]


INIT = "module top\nstate:\n    x: 0 .. 3 in {1, 2}\n    y: 0 .. 3\n    z: 0 .. 3 = 1\n"


def test_initial_states_are_all_choices_that_satisfy_the_conditions(kernel_of: KernelOf, search: SearchOf) -> None:
    text = INIT + "init:\n    pick v in {0, 1, 2, 3}\n    y := v\n    when sorted: x <= y\n    when v != 3 or z == 0\n"
    kernel = kernel_of(text)
    assert [guard.label for guard in kernel.init.conditions] == ["sorted", "spec.assay:10"]
    assert search(kernel).initial == 3


def test_a_variable_without_start_is_reported(codes_of: CodesOf) -> None:
    assert codes_of(INIT) == ["E411"]


def test_a_variable_with_two_starts_is_reported(codes_of: CodesOf) -> None:
    assert codes_of(INIT + "init:\n    y := 0\n    z := 2\n") == ["E412"]


def test_a_variable_assigned_twice_in_init_is_reported(codes_of: CodesOf) -> None:
    assert codes_of(INIT + "init:\n    y := 0\n    y := 1\n") == ["E404"]


@pytest.mark.parametrize("text", ["init:\n    y := z\n", "init:\n    pick v in 0 .. z\n    y := v\n"])
def test_initial_values_read_no_state(codes_of: CodesOf, text: str) -> None:
    assert "E108" in codes_of(INIT + text)


def test_a_start_reads_no_state(codes_of: CodesOf) -> None:
    assert codes_of("module top\nstate:\n    x: bool = true\n    y: bool = x\n") == ["E108"]


def test_what_an_unreadable_init_might_assign_is_not_said_to_lack_a_value(codes_of: CodesOf) -> None:
    text = "module top\nstate:\n    x: 0 .. 1\n    y: 0 .. 1\ninit:\n    pick x_ in if\n    x := x_\n"
    assert codes_of(text) == ["E411", "E001"]
    assert codes_of(text.replace("x := x_", "x := x_\n    y := 0")) == ["E001"]


def test_an_element_choice_fits_an_optional_variable(kernel_of: KernelOf, search: SearchOf) -> None:
    kernel = kernel_of("module top\nparam B: set = 3\nstate:\n    x: B? in B\n")
    assert search(kernel).initial == 3


def test_five_different_mistakes_are_all_reported(codes_of: CodesOf) -> None:
    text = """
module top
param Broker: set = 2
type Epoch = 0 .. Top
state:
    x: bool = 3
    y: set[Broker] = {}
action set_twice:
    x := true
    x := false
action add(p: Brokr):
    y := y + {p}
invariant i: x and
invariant j: forall b in Broker: b in x
"""
    assert codes_of(text) == ["E101", "E201", "E404", "E101", "E001", "E203"]


def test_a_name_that_only_a_broken_declaration_has_is_not_reported_again(codes_of: CodesOf) -> None:
    assert codes_of("module top\nstate:\n    x: bool ==\ninvariant i: x\n") == ["E005"]


@pytest.mark.parametrize(
    "text",
    [
        "module top\nparam Server: set = 2\nstate:\n    m: map[Sever, bool] = [s -> true]\naction a(s: Server):\n    m[s] := false\ninvariant i: forall s in Server: m[s]\n",
        "module top\nparam Server: set = 2\nrecord R: x: bool, y: Sever\nstate:\n    r: map[Server, R] = [s -> R(true, s)]\naction a(s: Server):\n    r[s].y := s\n    r[s].x := false\n",
        "module top\nparam Server: set = 2\nstate:\n    m: map[Server, Rekord] = [s -> none]\naction a(s: Server):\n    m[s].x := false\n    m[s].y[s] := 1\n",
        "module top\nparam Server: set = 2\nstate:\n    m: map[Server, map[Sever, bool]] = [s -> [t -> true]]\n",
    ],
    ids=["key", "field", "value", "inner"],
)
def test_an_unknown_type_is_reported_and_nothing_that_follows_from_it(
    codes_of: Callable[..., list[str]], text: str
) -> None:
    assert codes_of(text) == ["E101"]
