"""Scenarios name elements; those of another model make them inapplicable; guards are named by their labels."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from assay.grammar import kernel

KernelOf = Callable[..., kernel.Kernel]
CodesOf = Callable[..., list[str]]

SPEC = """module top
param Broker: set = {b1, b2, b3} symmetric
state:
    up: set[Broker] = {}
action start(b: Broker):
    when down: b not in up
    bound few: count(up) < 2
    up := up + {b}
action stop:
    up := {}
model small: Broker = {b1}
"""


def test_a_scenario_is_a_list_of_steps(kernel_of: KernelOf) -> None:
    made = kernel_of(
        SPEC + 'scenario s:\n    "why"\n    start(b1); stop\n    refuse start(_) by down\n    expect b1 in up\n'
    )
    (scenario,) = made.scenarios
    assert (scenario.doc, scenario.inapplicable) == ("why", None)
    assert [type(step).__name__ for step in scenario.steps] == ["Do", "Do", "Refuse", "Expect"]
    refuse = scenario.steps[2]
    assert isinstance(refuse, kernel.Refuse)
    assert (refuse.label, refuse.call.arguments) == ("down", (None,))


def test_a_scenario_with_an_element_that_the_model_lacks_cannot_be_run(kernel_of: KernelOf) -> None:
    text = SPEC + "scenario one:\n    start(b1)\nscenario two:\n    start(b1); start(b2)\n"
    assert [s.inapplicable for s in kernel_of(text).scenarios] == [None, None]
    assert [s.inapplicable for s in kernel_of(text, model="small").scenarios] == [
        None,
        "this model has no element `b2`",
    ]
    assert kernel_of(text, overrides={"Broker": "{x}"}).scenarios[0].inapplicable == "this model has no element `b1`"


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("start(b9)", "E101"),
        ("start", "E504"),
        ("start(b1, b2)", "E205"),
        ("start(3)", "E201"),
        ("strat(b1)", "E101"),
        ("refuse start(b1) by few", "E505"),
        ("refuse start(b1) by dwon", "E505"),
        ("refuse stop by down", "E505"),
        ("expect b1", "E201"),
        ("expect old(up) == up", "E111"),
    ],
)
def test_mistakes_in_steps_are_reported(codes_of: CodesOf, line: str, code: str) -> None:
    assert codes_of(SPEC + f"scenario s:\n    {line}\n") == [code]


def test_a_scenario_takes_steps_of_the_system_only(codes_of: CodesOf) -> None:
    assert codes_of(SPEC + "next: start\nscenario s:\n    stop\n") == ["E503"]


def test_elements_of_a_symmetric_set_are_named_nowhere_else(codes_of: CodesOf) -> None:
    assert codes_of(SPEC + "invariant i: b1 not in up\n") == ["E106"]
