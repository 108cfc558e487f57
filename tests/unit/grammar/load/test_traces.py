"""Trace clauses become plans: events with typed fields, alternatives of calls, observations, hidden actions, ordering."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from assay.grammar import kernel
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.kernel.types import AtomType, RangeType
from assay.grammar.load import load_text

KernelOf = Callable[..., kernel.Kernel]
CodesOf = Callable[..., list[str]]

SPEC = """module top
param Broker: set = 2 symmetric
size param Top: int = 2
type Epoch = 0 .. Top
state:
    epoch: Epoch = 0
    owner: Broker? = none
action elect(b: Broker, e: Epoch):
    when vacant: owner == none
    bound far: epoch < Top
    owner := b
    epoch := e
action lose:
    owner := none
action other:
    owner := none
next: elect, lose
"""


def plan(kernel_of: KernelOf, *lines: str) -> kernel.TracePlan:
    """The plan of a trace clause with these lines."""
    (made,) = kernel_of(SPEC + "trace logs:\n    from kafka\n" + "".join(f"    {line}\n" for line in lines)).traces
    return made


def test_an_event_has_typed_fields_and_alternatives(kernel_of: KernelOf) -> None:
    line = "on Elected(node: Broker, e: Epoch) if e > 0: elect(node, _) ; lose or other then epoch == e and old(owner) == none"
    (rule,) = plan(kernel_of, line).rules
    assert (rule.label, rule.event) == ("spec.assay:20", "Elected")
    assert [(f.field, f.binder.name) for f in rule.fields] == [("node", "node"), ("e", "e")]
    assert isinstance(rule.fields[0].binder.type, AtomType)
    assert isinstance(rule.fields[1].binder.type, RangeType)
    assert [[call.action for call in alternatives] for alternatives in rule.steps] == [["elect"], ["lose", "other"]]
    assert rule.steps[0][0].arguments == (rule.fields[0].binder, None)
    assert rule.condition is not None
    assert rule.then is not None
    assert rule.observe is None


def test_an_observation_has_no_steps(kernel_of: KernelOf) -> None:
    (rule,) = plan(kernel_of, "on Line(node: Broker, e: Epoch): observe owner == node and e == epoch").rules
    assert rule.steps == ()
    assert rule.observe is not None


def test_the_rest_of_a_clause_is_kept(kernel_of: KernelOf) -> None:
    made = plan(
        kernel_of,
        'ignore Started, Stopped "says nothing"',
        "hidden lose; at most count(Broker) + 1 between two pinned events",
        "order: thread; commit before line within 50 ms; skew 5 ms",
    )
    assert (made.name, made.catalogue) == ("logs", "kafka")
    assert [(i.event, i.reason) for i in made.ignored] == [("Started", "says nothing"), ("Stopped", "says nothing")]
    assert (made.hidden, made.hidden_limit) == (("lose",), 3)
    assert made.ordering == kernel.Ordering("thread", 50, 5)


@pytest.mark.parametrize(
    ("lines", "codes"),
    [
        (("from kafka", "from kafka"), ["E507"]),
        (('ignore A, A "x"',), ["E506", "E508"]),
        (("from kafka", "on A(b: Broker): lose", 'ignore A "x"'), ["E508"]),
        (("from kafka", "on A(b: Broker) if b == b: lose", 'ignore A "x"'), []),
        (("from kafka", "on A(b: Broker, b: Epoch): lose"), ["E104"]),
        (("from kafka", "on A(b: Brokr): lose"), ["E101"]),
        (("from kafka", "on A(b: Broker): elect(b)"), ["E205"]),
        (("from kafka", "on A(b: Broker): elect(1, b)"), ["E201", "E201"]),
        (("from kafka", "on A(b: Broker): loose"), ["E101"]),
        (("from kafka", "on A(b: Broker) if owner == b: lose"), ["E108"]),
        (("from kafka", "on A(b: Broker): observe b1 == b"), ["E106"]),
        (("from kafka", "hidden lose, lose; at most 1 between two pinned events"), ["E507"]),
        (("from kafka", "hidden lose; at most epoch between two pinned events"), ["E108"]),
        (("from kafka", "hidden lose; at most 0 - 1 between two pinned events"), ["E509"]),
        (("from kafka", "order: file", "order: file"), ["E507"]),
    ],
)
def test_mistakes_in_a_clause_are_reported(codes_of: CodesOf, lines: tuple[str, ...], codes: list[str]) -> None:
    block = "".join(f"    {line}\n" for line in lines)
    assert sorted(codes_of(SPEC + "trace logs:\n" + block)) == codes


def test_a_field_keeps_the_name_that_it_has_in_the_log() -> None:
    with pytest.raises(SpecError) as caught:
        load_text(SPEC + "trace logs:\n    from kafka\n    on A(epoch: Epoch): lose\n")
    (found,) = caught.value.diagnostics
    advice = "a field is called as in the log: give the other another name"
    assert (found.code, found.notes[-1].message) == ("E104", advice)


def test_two_clauses_have_two_names(codes_of: CodesOf) -> None:
    clause = "trace logs:\n    from kafka\n    on A(b: Broker): lose\n"
    assert codes_of(SPEC + clause + clause) == ["E301"]


def test_an_observed_action_that_is_no_step_is_warned_of() -> None:
    loaded = load_text(SPEC + "trace logs:\n    from kafka\n    on A(b: Broker): other\n")
    assert [d.code for d in loaded.diagnostics] == ["E513"]


def test_an_action_beyond_the_system_may_be_reported_where_it_occurs() -> None:
    clause = (
        'trace logs:\n    from kafka\n    on A(b: Broker): other\n    report other as risk "it is beyond the system"\n'
    )
    assert not load_text(SPEC + clause).diagnostics
