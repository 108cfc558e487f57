"""A condition that is asked of one step after another has the value that the evaluator gives it on each of them."""

from __future__ import annotations

from random import Random

import pytest

from assay.grammar import kernel as k
from assay.grammar.load import load_text
from assay.traces.properties.incremental_conditions import IncrementalCondition
from assay.traces.search.transition_system import ANY, TraceModel

SPEC = """\
module small

param Node: set = {n1, n2, n3, n4, n5} symmetric
param Slot: set = {x} symmetric

state:
    up: set[Node] = {}
    rank: map[Node, 0 .. 2] = [n -> 0]
    peer: map[Node, Node?] = [n -> none]
    seen: map[Slot, map[Node, 0 .. 2]] = [x -> [n -> 0]]
    grid: map[Node, map[Node, 0 .. 1]] = [n -> [m -> 0]]
    top: 0 .. 2 = 0

action set_rank(n: Node, r: 0 .. 2):
    rank[n] := r

action set_peer(n: Node, m: Node):
    peer[n] := m

action toggle(n: Node):
    up := if n in up then up - {n} else up + {n}

action hear(x: Slot, n: Node, r: 0 .. 2):
    seen[x][n] := r

action mark(n: Node, m: Node, r: 0 .. 1):
    grid[n][m] := r

action lift(r: 0 .. 2):
    top := r

next: set_rank, set_peer, toggle, hear, mark, lift

trace log:
    from toy
    on Toggled(node: Node): toggle(node)
    order: file

invariant below: forall n in Node: rank[n] <= top
invariant distinct_peers: forall n, m in Node: n != m and n in up and m in up implies peer[n] != peer[m]
invariant ranked_peer: forall n in Node: peer[n] is some(m) implies rank[m] >= rank[n]
invariant few: forall x in Slot, n in Node: seen[x][n] <= rank[n]
invariant known: count(up) <= 3
transition heard_grows: forall x in Slot, n in Node: seen[x][n] >= old(seen[x][n])
transition pairs: forall n, m in Node: old(rank[n]) <= old(rank[m]) or rank[n] > rank[m] or top == 0
transition of_two: forall n, m in Node: grid[n][m] >= old(grid[n][m]) or n == m
"""


@pytest.mark.parametrize("worth_it", [2, 1000])
def test_it_has_the_value_that_plain_evaluation_gives(monkeypatch: pytest.MonkeyPatch, worth_it: int) -> None:
    monkeypatch.setattr("assay.traces.properties.incremental_conditions.WORTH_IT", worth_it)
    kernel = load_text(SPEC).kernel
    conditions = [(prop.name, part.condition) for prop in kernel.properties for part in prop.conjuncts]
    answers = {answer for seed in range(4) for answer in answered(kernel, conditions, Random(seed))}
    assert answers == {(name, held) for name, _ in conditions for held in (True, False)}


def answered(kernel: k.Kernel, conditions: list[tuple[str, k.Expr]], random: Random) -> set[tuple[str, bool]]:
    """What the conditions are on the steps of a random run, asked both ways."""
    model = TraceModel(kernel, kernel.traces[0])
    standing = [(name, condition, IncrementalCondition(model, condition)) for name, condition in conditions]
    state, answers = model.initial[0], set[tuple[str, bool]]()
    for _ in range(100):
        action = random.choice(kernel.next)
        before, taken = state, random.choice(model.call(action, (ANY,) * len(kernel.action(action).parameters), state))
        state = taken.state
        for name, condition, asked in standing:
            expected = model.holds(condition, {}, state, before)
            assert asked.holds(state, before) == expected, (name, before, state)
            answers.add((name, expected))
    return answers
