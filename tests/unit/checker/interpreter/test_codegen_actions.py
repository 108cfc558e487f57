"""What is generated of actions and conditions, and where the reference evaluator is asked instead."""

from __future__ import annotations

import pytest

from assay.checker.interpreter.actions import codegen_actions
from assay.checker.interpreter.actions.codegen_actions import condition_code, entry_assignments
from assay.checker.interpreter.actions.outcome import Cut, Stuck, Successor
from assay.checker.interpreter.compiled_model import Model
from assay.checker.interpreter.expressions.frame import Frame
from assay.checker.interpreter.values.undefined import Undefined
from assay.grammar import kernel as k
from assay.grammar.load import load_text

STORE = """\
module store

param Shelf: set = {a, b}
type Slot = 0 .. 3

state:
    kept: map[Shelf, map[Slot, Slot, max 2]] = [s -> {}]
    last: map[Shelf, Slot?] = [s -> none]

action put(s: Shelf, at: Slot, what: Slot):
    when new: at not in keys(kept[s])
    kept[s] := kept[s] with {at -> what}

action put_after(s: Shelf, at: Slot, what: Slot):
    kept[s] := kept[s] with {at + 1 -> what}

action put_both(s: Shelf, at: Slot, what: Slot):
    let first = kept[s] with {at -> what}
    kept[s] := first with {what -> at}

action twice(s: Shelf, t: Shelf):
    kept[s] := kept[s] with {0 -> 1}
    kept[t] := kept[t] with {1 -> 1}

action take(s: Shelf, at: Slot):
    let found = kept[s][at]
    when some: found > 0
    last[s] := found

next: put, put_after, put_both, twice, take

invariant first_is_small: exists i in Slot: kept[a][i] > 0
"""


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codegen_actions, "WORTH_IT", 1)


def test_results_of_a_store_are_those_of_the_reference_evaluator() -> None:
    kernel = load_text(STORE).kernel
    plain, fast = Model(kernel, bounded=False), Model(kernel, bounded=False, remember=True)
    (first,) = plain.init.outcomes()
    assert isinstance(first, Successor)
    states, seen, cut, stuck = [first.state], {first.state}, 0, 0
    while states and len(seen) < 300:
        state = states.pop()
        for name in kernel.next:
            action = plain.actions[name]
            each = [(given, one) for given in action.instances for one in action.outcomes(state, given)]
            expected = [(given, one) for given, one in each if not isinstance(one, Stuck)]
            assert list(fast.actions[name].results(state, action.domains())) == expected
            cut += sum(isinstance(one, Cut) for _, one in expected)
            stuck += len(each) - len(expected)
            new = [one.state for _, one in expected if isinstance(one, Successor) and one.state not in seen]
            seen.update(new)
            states += new
    assert cut
    assert stuck


def test_the_entry_that_changes_is_assigned_alone() -> None:
    kernel = load_text(STORE).kernel
    assert len(_paths(kernel, "put")[0]) == 2
    assert all(len(path) == 1 for path in _paths(kernel, "twice"))


def _paths(kernel: k.Kernel, name: str) -> list[tuple[k.AtKey | k.AtField, ...]]:
    return [each.path for each in entry_assignments(kernel.action(name).body) if isinstance(each, k.Assign)]


def test_a_condition_without_a_value_says_why() -> None:
    kernel = load_text(STORE).kernel
    model = Model(kernel, remember=True)
    (first,) = model.init.outcomes()
    assert isinstance(first, Successor)
    condition = kernel.properties[0].conjuncts[0].condition
    code = condition_code(condition, model.scope)
    assert code is not None
    with pytest.raises(Undefined) as told:
        code(Frame(first.state))
    with pytest.raises(Undefined) as expected:
        Model(kernel).meaning(condition)(Frame(first.state))
    assert (told.value.message, told.value.span) == (expected.value.message, expected.value.span)


def test_code_that_never_has_an_answer_is_not_asked_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = codegen_actions.TieredCode()
    tried = 0

    def run(*_: object) -> codegen_actions.Found:
        nonlocal tried
        tried += 1
        raise KeyError

    monkeypatch.setattr(codegen_actions, "FAILURES", 3)
    asked.make = lambda: run
    assert all(asked.results((), ()) is None for _ in range(20))
    assert tried == 4


LARGE = """\
param Node: set = {a, b}

state:
    offset: 0 .. 100000000 = 50000000
    all: set[0 .. 29] = {i in 0 .. 29 if true}
    x: map[Node, 0 .. 3] = [n -> 0]

action read(n: Node, i: 0 .. 3):
    when written: i in 0 .. offset
    x[n] := i

action take(n: Node, s: set[0 .. 1]):
    when there: s in subsets(all)
    x[n] := count(s)

action count_all(n: Node):
    when never: x[n] > 2
    when even: count({i in 0 .. offset if i % 2 == 0}) > 4
    x[n] := 1

next: read, take, count_all

invariant some: exists i in 0 .. offset: i % 7 == x[a]
invariant protected: x[a] == 0 or x[a] < count({s in subsets(0 .. 29) if 3 in s})
"""


@pytest.mark.parametrize("remember", [False, True])
def test_membership_in_what_is_too_large_to_list_does_not_list_it(remember: bool) -> None:
    model = Model(load_text(LARGE).kernel, bounded=False, remember=remember)
    (first,) = model.init.outcomes()
    assert isinstance(first, Successor)
    for name in ("read", "take"):
        action = model.actions[name]
        results = list(action.results(first.state, action.domains()))
        assert [given for given, _ in results] == list(action.instances)


@pytest.mark.parametrize("remember", [False, True])
@pytest.mark.parametrize("values", [1, 2])
def test_a_guard_protects_from_listing_too_many_elements_in_any_order(remember: bool, values: int) -> None:
    model = Model(load_text(LARGE).kernel, bounded=False, remember=remember)
    (first,) = model.init.outcomes()
    assert isinstance(first, Successor)
    action = model.actions["count_all"]
    assert list(action.results(first.state, [action.domains()[0][:values]])) == []


def test_conditions_over_what_is_too_large_to_list_are_evaluated_as_written() -> None:
    kernel = load_text(LARGE).kernel
    model = Model(kernel, remember=True)
    (first,) = model.init.outcomes()
    assert isinstance(first, Successor)
    for each in kernel.properties:
        code = condition_code(each.conjuncts[0].condition, model.scope)
        assert code is not None
        assert code(Frame(first.state))
