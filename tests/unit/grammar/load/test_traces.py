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


def test_two_lines_of_hidden_actions_are_to_be_one() -> None:
    line = "    hidden lose; at most 1 between two pinned events\n"
    with pytest.raises(SpecError, match="hidden a, b; at most n"):
        load_text(SPEC + "trace logs:\n    from kafka\n" + 2 * line)


def test_a_field_may_be_called_as_a_state_variable_or_an_action() -> None:
    text = "trace logs:\n    from kafka\n    on A(owner: Broker, lose: Broker) if owner == b1: elect(owner, _); lose\n"
    rule = load_text(SPEC + text.replace("b1", "lose")).kernel.traces[0].rules[0]
    assert [field.field for field in rule.fields] == ["owner", "lose"]
    assert [call.action for step in rule.steps for call in step] == ["elect", "lose"]


@pytest.mark.parametrize(
    "line", ["on A(owner: Broker): lose then owner == none", "on A(owner: Broker): observe owner == none"]
)
def test_where_the_state_is_read_such_a_field_is_renamed(line: str) -> None:
    with pytest.raises(SpecError) as caught:
        load_text(SPEC + f"trace logs:\n    from kafka\n    {line}\n")
    assert ("E104", "read the field under another name") in {
        (found.code, found.notes[-1].message.partition(":")[0]) for found in caught.value.diagnostics
    }


def test_a_field_is_not_called_as_a_type_or_a_parameter(codes_of: CodesOf) -> None:
    assert codes_of(SPEC + "trace logs:\n    from kafka\n    on A(Epoch: Epoch): lose\n") == ["E104"]


SOURCE = """trace logs:
    from events:
        event = "event.name"; node = "nid"; time = "ts" in ns
        zone = "Europe/Berlin"; sequence = "n"
        field n = "state.epoch" * 100 // 3 rounded down as Epoch else 0
    order: sequence
    on "became leader"(b: Broker, n): elect(b, n)
"""


def test_a_block_says_how_an_event_is_read() -> None:
    plan = load_text(SPEC + SOURCE).kernel.traces[0]
    source, (rule,) = plan.source, plan.rules
    assert {source.path(key) for key in ("event", "node", "time", "sequence", "run")} == {
        "event.name",
        "nid",
        "ts",
        "n",
        "run",
    }
    assert (source.time_form, source.zone, source.order) == ("ns", "Europe/Berlin", "sequence")
    (field,) = source.fields
    assert (field.path, field.times, field.divided, field.rounding) == ("state.epoch", 100, 3, "down")
    assert (field.optional, field.default) == (True, 0)
    assert source.needed == {"b", "n"}
    assert (rule.event, [each.field for each in rule.fields]) == ("became leader", ["b", "n"])


@pytest.mark.parametrize(
    ("wrong", "codes"),
    [
        ('tiem = "ts"', ["E517"]),
        ('node = "a"; node = "b"', ["E517"]),
        ('node = "a..b"', ["E517"]),
        ('node = ""', ["E517"]),
        ('node = "a" in ns', ["E517"]),
        ('time = "ts" in fortnights', ["E517"]),
        ('zone = "Europe/Atlantis"', ["E517"]),
        ('field e = "a"; field e = "b"', ["E517"]),
        ('node = "a"; field node = "b"', ["E517"]),
        ('field e = "a" // 0', ["E517"]),
        ('field e = "a" rounded sideways', ["E517"]),
        ('field e = "a" as Nothing', ["E101"]),
    ],
)
def test_mistakes_in_a_block_are_reported(codes_of: CodesOf, wrong: str, codes: list[str]) -> None:
    assert (
        codes_of(SPEC + f"trace logs:\n    from events:\n        {wrong}\n    on A(b: Broker): elect(b, _)\n") == codes
    )


def test_only_events_and_text_have_a_block(codes_of: CodesOf) -> None:
    text = 'trace logs:\n    from kafka:\n        node = "a"\n    on A(b: Broker): elect(b, _)\n'
    assert codes_of(SPEC + text) == ["E517"]


def test_a_field_without_type_has_one_in_the_block(codes_of: CodesOf) -> None:
    assert codes_of(SPEC + "trace logs:\n    from events\n    on A(b): elect(b, _)\n") == ["E517"]


def test_an_order_by_numbers_needs_their_key(codes_of: CodesOf) -> None:
    assert codes_of(SPEC + "trace logs:\n    from events\n    on A(b: Broker): elect(b, _)\n    order: sequence\n") == [
        "E517"
    ]


@pytest.mark.parametrize(
    ("keys", "lines"),
    [
        ('node = "n"', "order: causal"),
        ('sends = "id" in "A"', "order: causal"),
        ('clock = "vc"', "order: file"),
        ('clock = "vc"', "order: causal; skew 5 ms"),
        ('clock = "vc"', "order: causal\n    begins anywhere"),
        ('clock = "vc"', "order: causal\n    slice Broker by b"),
    ],
)
def test_what_an_order_by_causes_needs_and_what_it_cannot_have(codes_of: CodesOf, keys: str, lines: str) -> None:
    text = f"trace logs:\n    from events:\n        {keys}\n    on A(b: Broker): elect(b, _)\n    {lines}\n"
    assert "E517" in codes_of(SPEC + text)


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


def test_steps_are_numbered_only_where_the_clause_has_slices(codes_of: CodesOf) -> None:
    text = f"{SPEC}trace logs:\n    from kafka\n    on Elected(node: Broker, e: Epoch) at e: elect(node, e)\n"
    assert codes_of(text) == ["E515"]


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("{slice} of {{all}}", []),
        ("{broker}", ["E516"]),
        ("{", ["E516"]),
        ("{slice:x}", ["E516"]),
        ("{slice!r}", ["E516"]),
    ],
)
def test_the_text_of_a_note_names_fields_as_they_are(codes_of: CodesOf, text: str, codes: list[str]) -> None:
    lines = ("from events", "slice Broker by broker", "ignore A", f'note B(slice: Broker) as risk "{text}": epoch == 0')
    clause = "".join(f"    {line}\n" for line in lines).replace("ignore A\n", 'ignore A "says nothing"\n')
    assert codes_of(SPEC.replace(" symmetric", "") + "trace logs:\n" + clause) == codes
