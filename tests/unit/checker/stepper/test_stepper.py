"""The stepper: what is possible and what is refused are all instances, and the values that it gives are the model's."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from assay.checker.explain import LONGEST_VALUE
from assay.checker.interpreter.actions.outcome import Successor
from assay.checker.interpreter.compiled_model import Model
from assay.checker.interpreter.expressions.cancellation import heeding
from assay.checker.stepper.split_call import NoSuchStepError, split_call, split_picks
from assay.checker.stepper.stepper import MOST_REFUSED, Stepper
from assay.grammar.load import UnusableSpecError, bundled_specs, load_spec, load_text

SPECS = ["classics/two_phase", "classics/german", "kafka/broker_epoch", "kafka/kraft/voting"]

LOCK = """\
module lock
param Client: set symmetric
type Turn = 0 .. 3

enum Message: Ask(c: Client), Nothing

state:
    holder: Client? = none
    turns: map[Client, Turn] = [c -> 0]
    net: set[Message] = {}

action ask(c: Client):
    when quiet: not (Ask(c) in net)
    net := net + {Ask(c)}

action give(c: Client):
    let free = holder == none
    when free: free
    when asked: Ask(c) in net
    pick lost in 0 .. 1
    bound short: turns[c] < 2
    holder := c
    turns[c] := turns[c] + 1
    if lost == 1:
        net := net - {Ask(c)}

action release(c: Client):
    when own: holder == c
    holder := none

invariant few_turns: forall c in Client: turns[c] < 2
transition one_at_a_time: holder == none or old(holder) == none or holder == old(holder)

model two: Client = {c1, c2}
"""


def stepper(text: str = LOCK) -> Stepper:
    """A walk that stands in the first initial state."""
    made = Stepper(load_text(text, file="lock.assay", model="two"), "lock.assay")
    made.begin()
    return made


def walk(made: Stepper, length: int) -> Iterator[None]:
    """Steps, each the last possible one, so that the walk leaves the first states."""
    for _ in range(length):
        yield
        steps = list(made.possible())
        if not steps:
            return
        made.take(steps[len(steps) // 2])


@pytest.mark.parametrize("spec", SPECS)
def test_every_instance_is_either_possible_or_refused_for_a_reason(spec: str) -> None:
    loaded = load_spec(bundled_specs()[0] / f"{spec}.assay")
    made = Stepper(loaded)
    made.begin()
    reference = Model(loaded.kernel)
    for _ in walk(made, 6):
        expected = {
            (action.node.name, arguments): [
                x for x in action.outcomes(made.state, arguments) if isinstance(x, Successor)
            ]
            for action in reference.steps
            for arguments in action.instances
        }
        possible = [(each.step.action, tuple(v for _, v in each.step.arguments)) for each in made.possible()]
        assert possible == [instance for instance, found in expected.items() for _ in found]
        refused = list(made.refused())
        named = [(each.action, tuple(value for _, value in each.arguments)) for each in refused]
        assert named == [instance for instance, found in expected.items() if not found]
        assert all(each.guards for each in refused)


def test_changes_and_picks_are_in_the_text_of_a_step() -> None:
    made = stepper()
    made.take(made.find_call("ask(c1)"))
    given = list(made.possible("give"))
    assert [each.text for each in given] == ["give(c1) with lost = 0", "give(c1) with lost = 1"]
    assert ("holder", "none", "c1") in given[0].changes
    assert ("net", "{Ask(c1)}", "{}") in given[1].changes


def test_a_refusal_has_the_guard_with_its_values_and_lets() -> None:
    made = stepper()
    made.take(made.find_call("ask(c1)"))
    made.take(made.find_call("give(c1) with lost = 0"))
    refused = next(made.refused("give", {"c": made.evaluate("c1").value}))
    assert [guard.label for guard in refused.guards] == ["free"]
    explanation = refused.guards[0].explanation
    assert explanation is not None
    assert [(part.text, part.holds) for part in explanation.parts] == [("free", False)]


def test_a_bound_refuses_under_its_label() -> None:
    made = stepper(LOCK.replace("turns[c] < 2", "turns[c] < 0"))
    made.take(made.find_call("ask(c1)"))
    refused = next(made.refused("give", {"c": made.evaluate("c1").value}))
    assert [(guard.kind, guard.label) for guard in refused.guards] == [("bound", "short")]


def test_undo_redo_and_a_new_step_after_an_undo() -> None:
    made = stepper()
    first = made.state
    after = made.take(made.find_call("ask(c1)"))
    assert made.undo()
    assert made.state == first
    assert not made.undo()
    assert made.redo()
    assert made.state == after
    made.undo()
    made.take(made.find_call("ask(c2)"))
    assert not made.redo()
    assert made.evaluate("Ask(c2) in net").value is True


def test_expressions_read_the_state_before_and_any_place_of_the_path() -> None:
    made = stepper()
    made.take(made.find_call("ask(c2)"))
    assert made.evaluate("net").shown == "{Ask(c2)}"
    assert made.evaluate("old(net)").shown == "{}"
    assert made.evaluate("count(net)", 0).value == 0
    undefined = made.evaluate("1 // (turns[c1])")
    assert undefined.undefined is not None
    assert undefined.value is None


def test_properties_name_what_is_broken() -> None:
    made = stepper()
    made.take(made.find_call("ask(c1)"))
    for _ in range(2):
        made.take(made.find_call("give(c1) with lost = 0"))
        assert made.evaluate("holder == c1").value is True
        made.take(made.find_call("release(c1)"))
    found = {each.name: each for each in made.properties()}
    assert found["few_turns"].holds is False
    assert found["few_turns"].explanation is not None
    assert found["one_at_a_time"].holds is True


def test_a_saved_path_is_followed_again_as_far_as_the_spec_allows(tmp_path: Path) -> None:
    made = stepper()
    made.take(made.find_call("ask(c1)"))
    made.take(made.find_call("give(c1) with lost = 1"))
    made.save(tmp_path / "path.json")
    again = stepper()
    assert again.load(tmp_path / "path.json") is None
    assert again.trace == made.trace
    stricter = stepper(LOCK.replace("when own: holder == c", "when own: holder == c").replace("Ask(c) in net", "false"))
    stopped = stricter.load(tmp_path / "path.json")
    assert stopped is not None
    assert "asked" in stopped
    assert len(stricter.trace) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("relase(c1)", "did you mean `release`"),
        ("ask(c1, c2)", "has the parameters (c)"),
        ("ask(_)", "several steps fit"),
        ("give(c1)", "asked: Ask(c) in net"),
        ("ask(c1) with lost = 3", "with these picks"),
        ("???", "is no step"),
    ],
)
def test_a_step_that_is_not_there_is_refused_with_a_reason(text: str, message: str) -> None:
    with pytest.raises(NoSuchStepError) as raised:
        stepper().find_call(text)
    assert message in str(raised.value)


def test_a_mistake_in_an_expression_has_its_place() -> None:
    with pytest.raises(UnusableSpecError) as raised:
        stepper().evaluate("holder == nobody")
    (diagnostic,) = raised.value.diagnostics
    assert (diagnostic.span.file, diagnostic.span.column) == ("expression", 11)


def test_arguments_are_split_outside_of_brackets() -> None:
    assert split_call("send(Vote(a, b), {x, y}, _)") == ("send", ["Vote(a, b)", "{x, y}", "_"])
    assert split_call("tick") == ("tick", [])
    assert split_call("a.b()") == ("a.b", [])


def test_an_argument_may_have_a_with_of_its_own() -> None:
    text = "state:\n    m: map[0 .. 1, 0 .. 3] = [x -> 0]\naction put(x: 0 .. 1, y: 0 .. 3):\n    m[x] := y\n"
    made = Stepper(load_text(text))
    made.begin()
    assert made.find_call("put(1, (m with {0 -> 2})[0])").text == "put(1, 2)"
    assert split_picks("give(r with {a = 1}) with q = r with {a = 2}") == (
        "give(r with {a = 1})",
        "q = r with {a = 2}",
    )


OF_ALL_TYPES = """\
enum Mode: Idle, Busy(k: 0 .. 2)
param Node: set = {n1, n2}
state:
    done: set[0 .. 9] = {}
action sets(x: set[Node]):
    done := {1}
action options(x: Node?):
    done := {2}
action sequences(x: seq[0 .. 1, max 2]):
    done := {3}
action bags(x: bag[Node, max 2]):
    done := {4}
action partial(x: map[Node, 0 .. 1, max 2]):
    done := {5}
action total(x: map[Node, bool]):
    done := {6}
action enums(x: Mode, y: Mode?):
    done := {7}
action tuples(x: (Node, Node?)):
    done := {8}
"""


def test_the_text_of_every_step_is_read_as_that_step() -> None:
    made = Stepper(load_text(OF_ALL_TYPES))
    made.begin()
    steps = list(made.possible())
    assert {"options(none)", "options(n1)", "sets({})", "bags(bag{})", "total({n1 -> true, n2 -> false})"} <= {
        each.text for each in steps
    }
    assert [made.find_call(each.text) for each in steps] == steps


def test_steps_are_listed_lazily() -> None:
    made = Stepper(load_text(LOCK.replace("{c1, c2}", "{" + ", ".join(f"c{n}" for n in range(60)) + "}"), model="two"))
    made.begin()
    assert len(list(islice(made.possible(), 3))) == 3


def test_of_very_many_picks_only_those_are_made_that_are_asked_for() -> None:
    def heed() -> None:
        raise AssertionError("a million subsets are gone through")

    many = "module m\nstate:\n    chosen: set[0 .. 19] = {}\naction choose_some:\n"
    many += "    pick s in subsets({x in 0 .. 19 if x >= 0})\n    when more: s != {}\n    chosen := s\n"
    made = Stepper(load_text(many))
    made.begin()
    with heeding(heed):
        found = [each.text for each in islice(made.possible(), 2)]
        assert found == ["choose_some with s = {0}", "choose_some with s = {1}"]
        assert list(islice(made.refused(), 1)) == []


def test_very_large_values_are_not_shown_whole() -> None:
    made = Stepper(
        load_text(
            "module m\nstate:\n    x: 0 .. 1 = 0\naction on:\n"
            "    when few: count({y in 0 .. 2000 if y >= x}) == 0\n    x := 1\n"
        )
    )
    made.begin()
    (refused,) = made.refused()
    assert refused.guards[0].explanation is not None
    assert ("{y in 0 .. 2000 if y >= x}", "2,001 elements") in refused.guards[0].explanation.parts[0].values
    many = "module m\nstate:\n    cells: map[0 .. 999, bool] = [s -> true]\naction on:\n    when off: not cells[7]\n    cells[7] := true\n"
    made = Stepper(load_text(many))
    made.begin()
    (refused,) = made.refused()
    assert refused.guards[0].explanation is not None
    values = dict(refused.guards[0].explanation.parts[0].values)
    assert values["cells"].startswith("{0 -> true, ")
    assert len(values["cells"]) == LONGEST_VALUE + 1


def test_a_list_that_is_not_read_to_its_end_leaves_the_recursion_limit_as_it_was() -> None:
    before = sys.getrecursionlimit()
    made = stepper()
    unread = [made.possible(), made.refused()]
    assert all(next(each) is not None for each in unread)
    assert sys.getrecursionlimit() == before


def test_a_refusal_names_the_closest_of_the_first_instances(monkeypatch: pytest.MonkeyPatch) -> None:
    explained: list[object] = []
    plain = Stepper._refused

    def counted(*arguments: Any) -> Any:
        explained.append(arguments)
        return plain(*arguments)

    monkeypatch.setattr(Stepper, "_refused", counted)
    text = "state:\n    x: 0 .. 3 = 0\naction go(a: 0 .. 99, b: 0 .. 99):\n    when never: x > a + b + 3\n    x := 0\n"
    made = Stepper(load_text(text))
    made.begin()
    with pytest.raises(NoSuchStepError, match=r"`go\(0, 0\)` is not possible: never: x > a \+ b \+ 3"):
        made.find_call("go(_, _)")
    assert len(explained) == MOST_REFUSED
