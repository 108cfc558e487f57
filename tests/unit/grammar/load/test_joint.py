"""Joint actions: all guards, disjoint updates, arguments for parameters; ``next`` lists the steps."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from assay.checker.reference.bfs import Search
from assay.grammar import kernel

KernelOf = Callable[..., kernel.Kernel]
ErrorsOf = Callable[..., list[str]]
CodesOf = Callable[..., list[str]]
SearchOf = Callable[[kernel.Kernel], Search]

MEMBERS = """module members
param Broker: set = 2
state:
    live: set[Broker] = Broker
action expire(b: Broker):
    when live: b in live
    live := live - {b}
"""
MODULES = {"members": MEMBERS}
TOP = """module top
use members
state:
    owner: Broker? = none
action claim(b: Broker):
    when vacant: owner == none
    owner := b
action lose(b: Broker):
    when live: owner == b
    owner := none
"""


def labels(action: kernel.Action) -> list[str]:
    """The labels of the guards."""
    return [statement.label for statement in action.body if isinstance(statement, kernel.Guard)]


def test_a_joint_action_has_the_guards_and_updates_of_its_parts(kernel_of: KernelOf) -> None:
    made = kernel_of(
        TOP + "action expire(b: Broker) = members.expire(b) & lose(b)\nnext: claim, expire\n", modules=MODULES
    )
    action = made.action("expire")
    assert labels(action) == ["live", "lose.live"]
    assert [s.variable for s in action.body if isinstance(s, kernel.Assign)] == ["members.live", "owner"]
    assert [p.binder.name for p in action.parameters] == ["b"]
    assert made.next == ("claim", "expire")


def test_a_joint_action_does_both(kernel_of: KernelOf, search: SearchOf) -> None:
    made = kernel_of(
        TOP + "action expire(b: Broker) = members.expire(b) & lose(b)\nnext: claim, expire\n", modules=MODULES
    )
    # every set of live brokers with every owner or none: who owns dies with the ownership, and the dead may claim again
    assert len(search(made).store) == 4 * 3


def test_parts_may_be_joint_actions(kernel_of: KernelOf) -> None:
    text = TOP + "state:\n    n: 0 .. 3 = 0\naction count_it:\n    n := n + 1\n"
    text += "action expire(b: Broker) = members.expire(b) & lose(b)\naction all(q: Broker) = expire(q) & count_it\n"
    action = kernel_of(text, modules=MODULES).action("all")
    assert [s.variable for s in action.body if isinstance(s, kernel.Assign)] == ["members.live", "owner", "n"]


def test_an_argument_that_is_computed_is_computed_once(kernel_of: KernelOf, search: SearchOf) -> None:
    text = (
        "module top\nstate:\n    n: 0 .. 5 = 0\n    m: 0 .. 9 = 0\naction add(k: 0 .. 5):\n    n := k\n    m := k + k\n"
    )
    made = kernel_of(text + "action both = add(n + 1)\nnext: both\n")
    assert [type(s).__name__ for s in made.action("both").body] == ["Let", "Assign", "Assign"]
    assert len(search(made).store) == 5


def test_an_argument_outside_a_smaller_domain_blocks(kernel_of: KernelOf, search: SearchOf) -> None:
    text = "module top\nstate:\n    n: 0 .. 5 = 0\naction put(k in {0, 1, 2}):\n    n := k\n"
    made = kernel_of(text + "action step = put(n + 1)\nnext: step\n")
    assert len(search(made).store) == 3


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("action j(b: Broker) = claim(b) & lose(b)\n", "E404"),
        ("action j(b: Broker) = members.expire(b) & members.expire(b)\n", "E404"),
        ("action j(b: Broker) = j(b) & claim(b)\n", "E409"),
        ("action j(b: Broker) = k(b)\naction k(b: Broker) = j(b)\n", "E409"),
        ("action j(b: Broker) = claim & members.expire(b)\n", "E410"),
        ("action j(b: Broker) = claim(b, b) & members.expire(b)\n", "E205"),
        ("action j(b: Broker) = claimm(b)\n", "E101"),
        ("action j(b: Broker) = members.expired(b)\n", "E101"),
        ("action j(b: Broker) = claim(3)\n", "E201"),
        ("action j(b: Broker) = owner(b)\n", "E103"),
    ],
)
def test_mistakes_in_joint_actions_are_reported(codes_of: CodesOf, text: str, code: str) -> None:
    assert code in codes_of(TOP + text, modules=MODULES)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("next: claim, members.expird\n", "E101"),
        ("next: clam\n", "E101"),
        ("next: owner\n", "E103"),
        ("next: claim, claim\n", "E413"),
    ],
)
def test_next_lists_actions_once(codes_of: CodesOf, line: str, code: str) -> None:
    assert codes_of(TOP + line, modules=MODULES) == [code]
