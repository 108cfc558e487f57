"""Compiled code lists the initial states that the reference evaluator lists, in its order: whatever `init` picks, lets and assigns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.stages import rounds

from assay.checker.engines.engine_selection import compile_kernel
from assay.checker.explicit.bfs import BlockSearch
from assay.checker.interpreter.expressions.recursion_limit import deep_recursion
from assay.checker.options import SearchOptions
from assay.checker.reference.bfs import Search
from assay.checker.report_assembly import searched_model
from assay.grammar import kernel as k
from assay.grammar.kernel import types as t
from assay.grammar.load import load_text

from .random_kernel import Maker, initial, random_kernel
from .random_types import ATOM, SETS


@pytest.fixture(autouse=True, scope="module")
def _compile_all() -> Iterator[None]:
    """Code is made for few initial states too, and pauses often."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("assay.checker.native.initial_states.FEW", 0)
        patch.setattr("assay.checker.explicit.expansion.thread_buffer.BUDGET", 23)
        patch.setattr("assay.checker.explicit.expansion.parallel_round.ROOM", 16)
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("objects")


def random_init(random: Random, variables: tuple[k.Variable, ...]) -> k.Init:
    """Picks from sets of all kinds, some of which depend on earlier ones; assignments whole and in parts, some of them wrong."""
    maker = Maker(random)
    body: list[k.Statement] = []
    for variable in variables:
        body += [_choice(maker) for _ in range(random.randrange(3))]
        body += _given(maker, variable)
    maker.variables = list(variables)
    conditions = [
        k.Guard(random.choice(["when", "bound"]), f"start{at}", maker.expr(t.BOOL, 2))
        for at in range(random.randrange(3))
    ]
    return k.Init(tuple(body), tuple(conditions))


def _choice(maker: Maker) -> k.Statement:
    of = maker.random.choice(SETS)
    if maker.random.random() < 0.2:
        let = maker.local(of.item)
        value = maker.expr(of.item, 2)
        maker.scope.append(let)
        return k.Let(let, value)
    binder = maker.local(of.item)
    domain = maker.domain(of, 2)
    maker.scope.append(binder)
    return k.Pick(binder, domain)


def _given(maker: Maker, variable: k.Variable) -> list[k.Statement]:
    of, chance = variable.type, maker.random.random()
    if chance < 0.03:
        return []
    if chance < 0.5 and isinstance(of, t.MapType) and not of.partial and of.key == ATOM:
        binder = maker.local(ATOM)
        maker.scope.append(binder)
        value = maker.expr(of.value, 2)
        maker.scope.remove(binder)
        part = k.Assign(f"i{variable.name}", variable.name, (k.AtKey(binder),), value, of.value)
        return [k.For(binder, k.TypeDomain(t.SetType(ATOM), ATOM), (part,))]
    if chance < 0.6 and isinstance(of, t.RecordType):
        return [
            k.Assign(f"i{variable.name}", variable.name, (k.AtField(at),), maker.expr(field.type, 2), field.type)
            for at, field in enumerate(of.fields)
        ]
    if chance < 0.7:
        condition = maker.expr(t.BOOL, 2)
        return [k.If(condition, (_whole(maker, variable),), (_whole(maker, variable),))]
    return [_whole(maker, variable)]


def _whole(maker: Maker, variable: k.Variable) -> k.Assign:
    of = variable.type
    value = maker.expr(of, 2) if maker.random.random() < 0.7 else initial(of, {})
    return k.Assign(f"i{variable.name}", variable.name, (), value, of)


def agree(seed: int, folder: Path) -> bool:
    """Whether there is code for the initial states; they are compared, and so is what is found in them."""
    random = Random(seed)
    kernel = random_kernel(random, 2)
    return agree_about(replace(kernel, init=random_init(random, kernel.variables), actions=(), next=()), folder)


def agree_about(kernel: k.Kernel, folder: Path) -> bool:
    options = SearchOptions(max_depth=1, keep_going=True)
    with deep_recursion(kernel):
        model = searched_model(kernel, None)
        compiled = compile_kernel(kernel, options, folder)
        if compiled.machine.starts is None:
            return False
        slow, fast = Search(model, options), BlockSearch(model, options, compiled)
        slow.run()
        fast.run()
        try:
            assert [fast.rows[at] for at in range(len(fast.rows))] == slow.store.states
            assert (fast.generated, fast.depth, fast.initial) == (slow.generated, slow.depth, slow.initial)
            assert fast.bounds == slow.bounds
            assert fast.watch.found == slow.watch.found
            for at in range(min(3, len(slow.store))):
                assert fast.trace(at) == slow.trace(at)
        finally:
            fast.close()
    return True


def test_a_pick_begins_anew_after_a_pause_within_it(folder: Path) -> None:
    text = """
state:
    x: 0 .. 9
    y: 0 .. 9
init:
    pick a in 0 .. 9
    pick b in 0 .. 9 - a
    x := a
    y := b
"""
    assert agree_about(load_text(text).kernel, folder)


@pytest.mark.parametrize(
    ("condition", "listed"),
    [
        ("s != [] and forall i in 0 .. count(s) - 2: s[i] <= s[i + 1]", 3 * 461),
        ("s[0] == 2", 0),  # the empty sequence has no first element, so the set has no value
        ("count(s) < k + 1 or s[k] == 2", 3907 + 3911 + 3931),
        ("count(s) < 2 or s[k] == 2", 2 * 3911),  # with k = 2, sequences of two have no such element
    ],
)
def test_a_set_that_has_no_value_for_some_elements_gives_no_states(folder: Path, condition: str, listed: int) -> None:
    """The set is so large that each element is asked."""
    text = f"""
type List = seq[0 .. 4, max 6]
state:
    x: List
    n: 0 .. 2
init:
    pick k in 0 .. 2
    pick s in {{s in List if {condition}}}
    x := s
    n := k
"""
    kernel = load_text(text).kernel
    assert agree_about(kernel, folder)
    slow = Search(searched_model(kernel, None), SearchOptions(max_depth=1, keep_going=True))
    slow.run()
    assert slow.initial == listed


@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True)
@given(st.integers(0, 2**40))
@example(764_727)  # a choice between set literals whose elements are written in another order
def test_the_same_initial_states_are_listed(folder: Path, seed: int) -> None:
    agree(seed, folder)


@pytest.mark.slow
@settings(max_examples=600, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True)
@given(st.integers(0, 2**40))
def test_the_same_initial_states_are_listed_of_many(folder: Path, seed: int) -> None:
    agree(seed, folder)


@rounds(8, 40)
def test_most_of_them_are_listed_by_compiled_code(folder: Path, rounds: int) -> None:
    assert sum(agree(seed, folder) for seed in range(rounds)) >= rounds // 4
