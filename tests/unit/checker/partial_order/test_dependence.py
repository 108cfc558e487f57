"""Which instances depend on which, what is refused, and that compiled loops choose as Python does."""

from __future__ import annotations

from textwrap import dedent
from typing import Any

import numpy as np
import pytest

from assay.checker.interpreter.compiled_model import Model
from assay.checker.options import SearchOptions
from assay.checker.partial_order import stubborn_sets
from assay.checker.partial_order.dependence import Dependence, bits, dependence_of
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.load import load_text

RING = """
    module ring
    type P = 0 .. 2
    state:
        at: map[P, 0 .. 2] = [p -> 0]
        taken: map[P, bool] = [p -> false]
        seen: set[P] = {}
        total: 0 .. 9 = 0
    action take(p: P):
        when at[p] == 0
        when not taken[(p + 1) % 3]
        taken[(p + 1) % 3] := true
        at[p] := 1
    action look(p: P):
        when at[p] == 1
        seen := seen + {p}
        at[p] := 2
    action drop(p: P):
        when at[p] == 2
        taken[(p + 1) % 3] := false
        at[p] := 0
"""


def names(model: Model, found: Dependence, mask: int) -> set[str]:
    """Instances as text: the action with its argument."""
    listed = [f"{model.steps[at].node.name}{arguments[0]}" for at, arguments in found.instances]
    return {listed[at] for at in bits(mask)}


def dependence(text: str, properties: frozenset[str] | None = None) -> tuple[Model, Dependence]:
    model = Model(load_text(dedent(text)).kernel)
    found = dependence_of(model, SearchOptions(reduce=True, properties=properties))
    assert found is not None
    return model, found


def test_only_what_shares_a_place_depends() -> None:
    model, found = dependence(RING)
    assert names(model, found, found.dependent[0]) == {"take0", "look0", "drop0"}
    assert names(model, found, found.dependent[3]) == {"take0", "look0", "drop0"}, "adding to a set commutes"


def test_only_writes_of_the_right_value_make_a_condition_true() -> None:
    model, found = dependence(RING)
    assert [names(model, found, mask) for _, mask in found.disabling[0]] == [{"drop0"}, {"drop0"}]
    assert [names(model, found, mask) for _, mask in found.disabling[3]] == [{"take0"}]


def test_who_adds_to_a_set_may_make_a_condition_about_it_true() -> None:
    model, found = dependence(RING.replace("when at[p] == 2", "when p in seen"))
    assert [names(model, found, mask) for _, mask in found.disabling[6]] == [{"look0", "look1", "look2"}]


def test_steps_may_be_put_off_where_nothing_but_a_deadlock_can_show() -> None:
    assert dependence(RING)[1].may_ignore
    assert not dependence(RING + "    invariant few: count(seen) < 3\n")[1].may_ignore
    assert not dependence(RING.replace("seen := seen + {p}", "bound low: total < 3"))[1].may_ignore
    assert not dependence(RING.replace("seen := seen + {p}", "total := total + 1"))[1].may_ignore


def test_what_a_property_reads_is_visible() -> None:
    model, found = dependence(RING + "    invariant few: count(seen) < 3\n")
    assert names(model, found, found.visible) == {"look0", "look1", "look2"}


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("transition grows: old(seen) <= seen", "`grows` is a transition property, which sees every step"),
        ("property ends: eventually total == 3", "`ends` is a temporal property, which sees every step"),
    ],
)
def test_properties_that_see_every_step_are_refused(line: str, why: str) -> None:
    with pytest.raises(SpecError, match="no steps can be left out") as error:
        dependence(f"{RING}    {line}\n")
    assert why in error.value.diagnostics[0].message
    dependence(f"{RING}    {line}\n", frozenset({"deadlock"}))


def test_compiled_loops_choose_as_python_does(monkeypatch: pytest.MonkeyPatch) -> None:
    model, found = dependence(RING)
    tables = stubborn_sets.StubbornFilter(model.kernel, found)

    def kept() -> list[list[int]]:
        random = np.random.default_rng(7)
        answers: list[Any] = []
        for round_ in range(40):
            present = np.flatnonzero(random.random(9) < 0.6)
            actions, words = (present // 3).astype(np.uint32), (present % 3).astype(np.uint64)
            truth = np.zeros((1, 2 * len(found.conditions)), np.uint8)
            truth[0, : len(found.conditions)] = random.random(len(found.conditions)) < 0.5
            parents, turn = np.zeros(len(present), np.uint32), round_ % (stubborn_sets.LAST + 1)
            answers += tables.keep(parents, actions, words, len(present), truth, tables.room(9), turn)
        return [each.tolist() for each in answers]

    compiled = kept()
    for name in ("instance_at", "false_condition", "closure", "smallest", "keep_stubborn"):
        monkeypatch.setattr(stubborn_sets, name, getattr(stubborn_sets, name).python)
    assert compiled == kept()
    assert {0, 1} <= {flag for each in compiled for flag in each}
