"""Symmetry reduction: orbits of known models, what is refused, and runs that are shown unreduced."""

from __future__ import annotations

from dataclasses import replace
from math import factorial
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING, cast

import pytest

from assay.checker.engines.engine_selection import Engine, check
from assay.checker.interpreter.actions.outcome import Successor
from assay.checker.interpreter.compiled_model import Model, outcomes
from assay.checker.options import SearchOptions
from assay.checker.report import Outcome, Report
from assay.checker.symmetry.reduction import LARGEST, reduction_of
from assay.checker.symmetry_group import Group, plain_changes
from assay.grammar import kernel as k
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.kernel.types import Sort
from assay.grammar.load import load_spec, load_text

if TYPE_CHECKING:
    from assay.grammar.values import FrozenMap

ON = SearchOptions(symmetry=True)
ENGINES: list[Engine] = ["native", "reference"]


def kernel(text: str) -> k.Kernel:
    return load_text(dedent(text)).kernel


def spec(name: str, **sets: str) -> k.Kernel:
    return load_spec(Path("spec") / f"{name}.assay", overrides=sets).kernel


def reduced(model: k.Kernel, engine: Engine, folder: Path, *, keep_going: bool = False) -> Report:
    return check(model, SearchOptions(symmetry=True, keep_going=keep_going), None, engine, folder).report


@pytest.mark.parametrize("n", range(7))
def test_plain_changes_lead_through_every_arrangement_once(n: int) -> None:
    things = list(range(n))
    seen = [tuple(things)]
    for at in plain_changes(n):
        things[at], things[at + 1] = things[at + 1], things[at]
        seen.append(tuple(things))
    assert len(seen) == len(set(seen)) == factorial(n)


def test_the_walk_of_several_sorts_has_as_many_steps_as_there_are_other_permutations() -> None:
    group = Group((Sort("A", ("a", "b", "c"), symmetric=True), Sort("B", ("x", "y", "z", "w"), symmetric=True)))
    assert len(group.walk()) == group.order - 1 == 143
    assert len(set(map(str, group))) == 144


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("name", "orbits", "depth"), [("two_phase", 80, 11), ("transaction_commit", 13, 7)])
def test_known_models_have_these_orbits_in_every_engine(
    name: str, orbits: int, depth: int, engine: Engine, tmp_path: Path
) -> None:
    report = reduced(spec(f"classics/{name}"), engine, tmp_path)
    assert (report.statistics.distinct, report.statistics.depth) == (orbits, depth)
    assert report.outcome is Outcome.HOLDS


@pytest.mark.slow
def test_three_symmetric_sets_are_reduced_together(tmp_path: Path) -> None:
    report = reduced(spec("kafka/membership"), "native", tmp_path)
    whole = check(spec("kafka/membership"), None, None, "native", tmp_path).report
    assert (report.statistics.distinct, report.statistics.depth) == (3_514, whole.statistics.depth)
    assert [(p.name, p.outcome) for p in report.properties] == [(p.name, p.outcome) for p in whole.properties]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_counterexample_is_a_run_of_the_system(engine: Engine, tmp_path: Path) -> None:
    model = spec("classics/two_phase", WaitForAll="false")
    found = next(p for p in reduced(model, engine, tmp_path).properties if p.name == "consistent")
    whole = next(p for p in check(model, None, None, engine, tmp_path).report.properties if p.name == "consistent")
    assert found.trace is not None
    assert whole.trace is not None
    assert len(found.trace) == len(whole.trace)
    for before, step in zip(found.trace.steps, found.trace.steps[1:], strict=False):
        after = [each.state for _, _, each in outcomes(Model(model), before.state) if isinstance(each, Successor)]
        assert step.state in after


def test_a_model_that_names_an_element_is_refused_with_the_place() -> None:
    text = """
        param Node: set = {a, b}
        state:
            at: Node = a
        action move(n: Node):
            at := n
    """
    plain = kernel(text)
    declared = Sort("Node", ("a", "b"), symmetric=True)
    with pytest.raises(SpecError, match="E809") as none_symmetric:
        reduction_of(plain, ON)
    assert none_symmetric.value.diagnostics[0].message == "no set parameter is symmetric"
    with pytest.raises(SpecError, match="E809") as named:
        reduction_of(replace(plain, sorts=(declared,)), ON)
    assert named.value.diagnostics[0].span.line == 4


def test_a_temporal_property_is_refused_unless_it_is_not_asked_for() -> None:
    text = """
        param Node: set = {a, b} symmetric
        state:
            done: set[Node] = {}
        action finish(n: Node) fair:
            done := done + {n}
        invariant some: count(done) <= 2
        property all_finish: eventually done == Node
    """
    with pytest.raises(SpecError, match="temporal"):
        reduction_of(kernel(text), ON)
    assert reduction_of(kernel(text), SearchOptions(symmetry=True, properties=frozenset({"some"}))) is not None


def test_of_too_many_permutations_the_largest_set_is_left_out() -> None:
    text = """
        param Node: set = 9 symmetric
        param Client: set = 4 symmetric
        state:
            up: set[Node] = {}
            asked: set[Client] = {}
        action rise(n: Node): up := up + {n}
        action ask(c: Client): asked := asked + {c}
    """
    reduction = reduction_of(
        kernel(text.replace("): up", "):\n            up").replace("): asked", "):\n            asked")), ON
    )
    assert reduction is not None
    assert [sort.name for sort in reduction.group.sorts] == ["Client"]
    assert [sort.name for sort in reduction.left] == ["Node"]
    assert reduction.group.order <= LARGEST


ORDER = """
    param Node: set = {a, b, c} symmetric
    state:
        share: map[Node, 0 .. 1] = [n -> 1]
    action lose(n: Node):
        share[n] := 0
    action go_on(n: Node):
        when some_share: exists m in Node: 1 // share[m] == 1
        share[n] := 1
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_undefined_in_some_order_of_the_elements_is_found_with_its_run(engine: Engine, tmp_path: Path) -> None:
    """Unreduced, the state in which the first element has nothing is undefined; the representative may be another one."""
    model = kernel(ORDER)
    found = reduced(model, engine, tmp_path).properties[0]
    whole = check(model, None, None, engine, tmp_path).report.properties[0]
    assert found.outcome is whole.outcome is Outcome.VIOLATED
    assert found.trace is not None
    assert whole.trace is not None
    assert len(found.trace) == len(whole.trace)
    assert found.reason == whole.reason


@pytest.mark.parametrize("engine", ENGINES)
def test_nothing_is_claimed_after_something_undefined(engine: Engine, tmp_path: Path) -> None:
    report = reduced(
        kernel(ORDER + "    reachable none_left: forall n in Node: share[n] == 0\n"), engine, tmp_path, keep_going=True
    )
    assert report.stopped is not None
    assert next(p for p in report.properties if p.name == "none_left").outcome is Outcome.UNKNOWN


@pytest.mark.parametrize("engine", ENGINES)
def test_what_a_run_picks_is_what_it_changes(engine: Engine, tmp_path: Path) -> None:
    text = """
        param Node: set = {a, b, c} symmetric
        state:
            rank: map[Node, 0 .. 3] = [n -> 0]
            next: 0 .. 3 = 1
        action rise:
            when next < 3
            pick n in {m in Node if rank[m] == 0}
            rank[n] := next
            next := next + 1
        invariant at_most_one: next < 3
    """
    found = next(p for p in reduced(kernel(text), engine, tmp_path).properties if p.name == "at_most_one")
    assert found.trace is not None
    ranks, *later = (cast("FrozenMap", step.state[0]) for step in found.trace.steps)
    assert len(later) == 2
    for step, after in zip(found.trace.steps[1:], later, strict=True):
        assert [node for node in after if after[node] != ranks[node]] == [value for _, value in step.picks]
        ranks = after
