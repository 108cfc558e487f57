"""Fairness of several actions together: which groups there can be, and what they mean."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from assay.grammar.kernel import Kernel

SPEC = """module top
param Node: set = {a, b}
state:
    x: 0 .. 3 = 0
action one(n: Node):
    x := 1
action two(n: Node, m: Node):
    x := 2
action three(n in {a}):
    x := 3
action four:
    x := 0
"""


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("fair per n: one, four", "E408 `four` has no parameter `n`"),
        ("fair per n, n: one", "E408 `n` is named twice"),
        ("fair: one, one", "E408 `one` is listed twice"),
        ("fair: one, nowhere", "E101 unknown name `nowhere`"),
        ("fair per n: one, three", "E408 `n` of `three` ranges over other values"),
        ("next: one, two\nfair: one, four", "E408 `four` is no step of this system"),
    ],
)
def test_a_group_that_cannot_be_is_refused(errors_of: Callable[..., list[str]], line: str, error: str) -> None:
    assert [found[: len(error)] for found in errors_of(SPEC + line + "\n")] == [error]


def test_a_group_names_for_each_action_what_the_fairness_is_per(kernel_of: Callable[..., Kernel]) -> None:
    kernel = kernel_of(SPEC + "strong fair per n: one, two\nfair:\n    four\n    three, one\n")
    assert [(each.strong, each.members) for each in kernel.fair_together] == [
        (True, (("one", ("n",)), ("two", ("n",)))),
        (False, (("four", ()), ("three", ()), ("one", ()))),
    ]
