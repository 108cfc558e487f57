"""Properties, terminal states, accepted bounds and shown expressions of the kernel."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from assay.grammar import kernel

KernelOf = Callable[..., kernel.Kernel]
ErrorsOf = Callable[..., list[str]]
CodesOf = Callable[..., list[str]]

SPEC = """module top
enum Role: Idle, Active(epoch: 0 .. 3)
state:
    x: 0 .. 3 = 0
    role: Role = Idle
    last: seq[0 .. 3, max 2] = []
action up:
    bound far: x < 3
    bound x < 3
    x := x + 1
    last := last + [x]
"""


def test_every_kind_of_property_keeps_its_kind(kernel_of: KernelOf) -> None:
    text = SPEC + (
        "invariant a: x <= 3\nlemma b: x >= 0\ntransition c: x >= old(x)\nreachable d: x == 2\nproperty e: eventually x == 3\n"
    )
    kinds = [(p.name, p.kind) for p in kernel_of(text).properties]
    assert kinds == [("a", "invariant"), ("b", "lemma"), ("c", "transition"), ("d", "reachable"), ("e", "temporal")]


def test_the_lines_of_a_block_are_conjuncts_with_labels(kernel_of: KernelOf) -> None:
    text = SPEC + 'invariant a:\n    "says why"\n    low: x >= 0\n    x <= 3\n'
    (made,) = kernel_of(text).properties
    assert made.doc == "says why"
    assert [conjunct.label for conjunct in made.conjuncts] == ["low", "spec.assay:15"]


def test_a_conjunct_sees_what_those_before_it_made_certain(codes_of: CodesOf) -> None:
    assert codes_of(SPEC + "invariant a:\n    role is Active(e)\n    e > 0\n") == []
    assert codes_of(SPEC + "invariant a:\n    e > 0\n    role is Active(e)\n") == ["E101"]


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("invariant a: x <= 3\nlemma a: x >= 0\n", ["E501"]),
        ("invariant a: x <= 3\nscenario a:\n    up\n", ["E501"]),
        ("invariant a:\n    low: x >= 0\n    low: x <= 3\n", ["E403"]),
        ("invariant up: x <= 3\n", []),
        ("invariant a: x\n", ["E201"]),
    ],
)
def test_names_and_labels_are_used_once(codes_of: CodesOf, text: str, codes: list[str]) -> None:
    assert codes_of(SPEC + text) == codes


@pytest.mark.parametrize(
    "text",
    [
        "invariant a: x >= old(x)\n",
        "reachable a: old(x) == 0\n",
        "invariant a: always x == 0\n",
        "transition a: eventually x == 0\n",
    ],
)
def test_old_and_temporal_operators_stand_in_their_places(codes_of: CodesOf, text: str) -> None:
    assert len(codes_of(SPEC + text)) == 1


def test_a_temporal_property_may_speak_of_actions(codes_of: CodesOf) -> None:
    assert codes_of(SPEC + "property a: always (enabled(up) implies eventually occurs(up))\n") == []
    assert codes_of(SPEC + "property a: always enabled(upp)\n") == ["E101"]


def test_each_terminal_is_one_condition(kernel_of: KernelOf) -> None:
    made = kernel_of(SPEC + "terminal: x == 3\nterminal lit:\n    x == 2\n    role is Idle\n").terminal
    assert [conjunct.label for conjunct in made] == ["spec.assay:12", "lit"]
    assert isinstance(made[1].condition, kernel.Logic)
    assert made[1].condition.op == "and"


def test_accepted_bounds_are_labels_or_variables_with_a_capacity(kernel_of: KernelOf) -> None:
    text = SPEC + "accept bounds: far\nmodel m:\n    accept bounds: last\n"
    assert kernel_of(text).accepted_bounds == {"far"}
    assert kernel_of(text, model="m").accepted_bounds == {"far", "capacity of last"}


def test_a_capacity_is_accepted_under_the_name_by_which_it_is_reported(kernel_of: KernelOf) -> None:
    assert kernel_of(SPEC + "accept bounds: capacity of last\n").accepted_bounds == {"capacity of last"}


@pytest.mark.parametrize("text", ["accept bounds: fax\n", "accept bounds: x\n", "model m:\n    accept bounds: near\n"])
def test_an_unknown_bound_is_not_accepted(codes_of: CodesOf, text: str) -> None:
    assert codes_of(SPEC + text) == ["E502"]


def test_shown_expressions_are_typed(kernel_of: KernelOf, codes_of: CodesOf) -> None:
    assert len(kernel_of(SPEC + "show: x + 1, role is Active\n").shows) == 2
    assert codes_of(SPEC + "show: y\n") == ["E101"]


ABSTRACT = (
    "module abstract\nstate:\n    n: 0 .. 9 = 0\n    ghost g: bool = true\naction step(by: 0 .. 3):\n    n := n + by\n"
)


def refines(codes_of: CodesOf, *lines: str) -> list[str]:
    """The codes of a refinement with these lines."""
    block = "".join(f"    {line}\n" for line in lines)
    return codes_of(
        SPEC + "action set_to(k: 0 .. 3):\n    x := k\nrefines abstract with:\n" + block, modules={"abstract": ABSTRACT}
    )


def test_a_refinement_is_a_property_by_name(kernel_of: KernelOf) -> None:
    made = kernel_of(
        SPEC + "refines abstract with:\n    n = x\n    action up = step(1)\n", modules={"abstract": ABSTRACT}
    )
    assert [(p.name, p.kind, p.conjuncts) for p in made.properties] == [("refines abstract", "refinement", ())]


@pytest.mark.parametrize(
    ("lines", "codes"),
    [
        (("n = x", "action set_to(k) = step(k)", "action up = stutter"), []),
        (("m = x", "n = x"), ["E510"]),
        (("n = x", "n = 0"), ["E511"]),
        (("action up = stutter",), ["E512"]),
        (("n = y",), ["E101"]),
        (("n = x", "action upp = stutter"), ["E101"]),
        (("n = x", "action up = stop"), ["E510"]),
        (("n = x", "action up = step"), ["E510"]),
        (("n = x", "action set_to(3) = stutter"), ["E510"]),
        (("n = x", "action set_to = stutter"), ["E510"]),
        (("n = x", "action set_to(k) = step(j)"), ["E101"]),
    ],
)
def test_what_a_refinement_maps_is_checked(codes_of: CodesOf, lines: tuple[str, ...], codes: list[str]) -> None:
    assert refines(codes_of, *lines) == codes
