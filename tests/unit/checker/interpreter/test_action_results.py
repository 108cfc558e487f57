"""Results of actions computed with the first parameters' part of the body once: those of each instance by itself."""

from __future__ import annotations

from random import Random

import pytest

from assay.checker.interpreter.actions import action
from assay.checker.interpreter.actions.outcome import Stuck, Successor
from assay.checker.interpreter.compiled_model import Model
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.load import load_text

ROOMS = """\
module rooms

param Guest: set = {g1, g2, g3}
type Room = 0 .. 3

state:
    inside: map[Guest, Room?] = [g -> none]
    keys: map[Room, set[Guest]] = [r -> {}]
    full: map[Guest, Room, max 2] = {}

action give(r: Room, g: Guest):
    when new: g not in keys[r]
    keys[r] := keys[r] + {g}

action enter(r: Room, g: Guest):
    let holders = keys[r]
    when has_key: g in holders
    when outside: inside[g] == none
    bound upstairs: r < 3
    inside[g] := r

action next_door(g: Guest, r: Room):
    when somewhere: inside[g] is some(now)
    when key: g in keys[now + 1]
    when other: r == now + 1
    inside[g] := r

action swap(g: Guest, h: Guest):
    when inside: inside[g] is some(mine)
    pick taken in keys[mine]
    when wanted: taken == h and g != h
    let theirs = inside[h]
    inside := inside with {g -> theirs, h -> mine}

action trade(g: Guest, h: Guest):
    when inside: inside[g] is some(mine)
    let holders = {f in Guest if inside[f] == mine}
    let theirs = inside[h]
    pick taken in keys[mine]
    when wanted: taken == h
    when other: theirs != mine or g in holders and h in holders
    inside := inside with {h -> mine}

action move_all(g: Guest):
    when inside: inside[g] is some(mine)
    let next_room = mine + 1
    pick r in {mine, next_room}
    pick again in keys[mine]
    when there: r == next_room
    when same: g == again
    inside[g] := r

action note(g: Guest):
    when inside: inside[g] is some(r)
    full[g] := r

next: give, enter, next_door, swap, trade, move_all, note
"""


@pytest.mark.everyday(2)
@pytest.mark.parametrize("seed", range(4))
def test_results_are_the_outcomes_of_the_instances_that_are_neither_disabled_nor_stuck(seed: int) -> None:
    model = Model(load_text(ROOMS).kernel, bounded=False)
    (first,) = model.init.outcomes()
    assert isinstance(first, Successor)
    random, state, seen = Random(seed), first.state, 0
    for _ in range(60):
        after = []
        for each in model.actions.values():
            results = list(each.results(state, each.domains()))
            outcomes = [
                (arguments, outcome)
                for arguments in each.instances
                for outcome in each.outcomes(state, arguments)
                if not isinstance(outcome, Stuck)
            ]
            assert results == outcomes
            after += [result.state for _, result in results if isinstance(result, Successor)]
        seen += len(after)
        state = random.choice(after or [first.state])
    assert seen > 200


def test_more_instances_than_can_be_listed_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(action, "ENUMERATION_LIMIT", 8)
    give = Model(load_text(ROOMS).kernel).actions["give"]
    assert len(give.matching((0, None), (True, False))) == 3
    with pytest.raises(SpecError, match="has 12 values, too many to list"):
        give.matching((None, None), (False, False))
