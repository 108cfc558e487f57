"""Runs that cover a model: they cover what the whole graph of states says can be covered, and each step is possible."""

from __future__ import annotations

from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.checker.covering.cover import covering_runs
from assay.checker.covering.runs import KINDS, CoveringRuns, CoverItem, GuardRefusal, NeverCovered
from assay.checker.covering.uncoverable_items import never_covered
from assay.checker.report import EnginesDisagreeError, Step
from assay.checker.stategraph.build import explore
from assay.grammar.load import load_text

LEASE = """module lease
param Client: set = {a, b}
state:
    holder: Client? = none
action acquire(c: Client):
    when free: holder == none
    holder := c
action release(c: Client):
    when holds: holder == c
    holder := none
action expire:
    when taken: holder != none
    when never: false
    holder := none
"""


@pytest.fixture(scope="module")
def two_phase() -> CoveringRuns:
    spec = assay.load("classics/two_phase", settings={"ResourceManager": 2})
    return covering_runs(spec.kernel, KINDS, 10_000)


def test_all_is_covered_that_the_graph_of_states_allows(two_phase: CoveringRuns) -> None:
    graph = explore(two_phase.kernel, 10_000)
    names = [
        (source, target, text.partition("(")[0]) for (source, target), texts in graph.edges.items() for text in texts
    ]
    actions = {CoverItem("actions", (name,)) for _, _, name in names}
    pairs = {
        CoverItem("pairs", (first, second)) for (_, at, first), (source, _, second) in product(names, names) if at == source
    }  # fmt: skip
    covered = set(two_phase.items) - set(two_phase.missed)
    assert {each for each in covered if each.kind == "actions"} == actions
    assert {each for each in covered if each.kind == "pairs"} == pairs
    assert two_phase.states == len(graph.states)
    assert two_phase.stopped is None


def test_each_step_is_possible_and_each_refusal_is_by_that_guard_alone(two_phase: CoveringRuns) -> None:
    stepper = assay.load("classics/two_phase", settings={"ResourceManager": 2}).stepper()
    for run in two_phase.runs:
        stepper.begin(run.initial)
        for each in run.steps:
            if isinstance(each.content, Step):
                assert stepper.take(stepper.find_call(each.text)) == each.content.state
            else:
                action, given = stepper.read_call(each.text.partition(" is refused")[0])
                (refused,) = stepper.refused(action, given)
                assert [guard.label for guard in refused.guards] == [each.content.label]
    covers = [item for run in two_phase.runs for item in run.covers]
    assert sorted(covers) == sorted(set(two_phase.items) - set(two_phase.missed))


def test_a_refusal_is_where_the_action_is_possible_with_other_arguments(tmp_path: Path) -> None:
    (tmp_path / "lease.assay").write_text(LEASE)
    found = covering_runs(assay.load(tmp_path / "lease.assay").kernel, ["guards"], 100)
    tells = {each.content.label: each.content.tells for each in refusals(found)}
    assert tells == {"free": False, "holds": True, "never": False}
    assert [str(each) for each in found.missed] == ["expire.taken"]


def refusals(found: CoveringRuns) -> list[Any]:
    return [each for run in found.runs for each in run.steps if isinstance(each.content, GuardRefusal)]


def test_what_the_limits_leave_out_is_said() -> None:
    kernel = assay.load("classics/two_phase").kernel
    few = covering_runs(kernel, ["actions"], 1)
    assert few.stopped == "the limit of 1 states was reached"
    assert "obey_abort" in map(str, few.missed)
    assert covering_runs(kernel, ["actions"], 100, lambda: "the time was over").stopped == "the time was over"


DEEP = """
module deep
param Axis: set = {x, y, z}
state:
    at: map[Axis, 0 .. 30] = [a -> 0]
action on(a: Axis):
    when more: at[a] < 30
    at[a] := at[a] + 1
action arrive(a: Axis):
    when there: at[a] == 14
    at := [b -> 0]
"""


def test_scenarios_and_walks_reach_what_is_deep(tmp_path: Path) -> None:
    path = tmp_path / "deep.assay"
    path.write_text(DEEP)
    walked = covering_runs(assay.load(path).kernel, ["actions", "pairs"], 400)
    assert walked.depth < 14
    assert "arrive" in {name for run in walked.runs for item in run.covers for name in item.names}
    path.write_text(DEEP + "scenario far:\n" + "    on(x)\n" * 14 + "    arrive(x)\n")
    assert covering_runs(assay.load(path).kernel, ["actions"], 1).missed == ()


TWO_WAYS = """
module two_ways
enum At: Start, Half, Whole, End
state:
    at: At = Start
action crawl:
    when at == Start or at == Half
    at := if at == Start then Half else Whole
action arrive:
    when at == Whole
    at := End
action jump:
    when at == Start
    at := End
action rest:
    when at == End
    at := End
"""


def test_of_runs_that_cover_as_much_the_shortest_comes_first(tmp_path: Path) -> None:
    """To crawl and arrive takes three steps, to jump and rest two."""
    path = tmp_path / "two_ways.assay"
    path.write_text(TWO_WAYS)
    runs = covering_runs(assay.load(path).kernel, ["actions"], 100).runs
    assert [[each.text for each in run.steps] for run in runs] == [["jump", "rest"], ["crawl", "crawl", "arrive"]]


LONG = """
module long
param Resets: bool = false
state:
    at: 0 .. 150 = 0
action on:
    when more: at < 150
    at := at + 1
action reset:
    when there: at == 150
    bound resets: Resets
    at := 0
accept bounds: resets
"""


def test_an_engine_says_what_no_run_covers(tmp_path: Path) -> None:
    (tmp_path / "long.assay").write_text(LONG)
    kernel = assay.load(tmp_path / "long.assay").kernel
    found = covering_runs(kernel, KINDS, 120, never=partial(never_covered, kernel, KINDS, 60, lambda: None))
    assert (found.states, found.whole) == (120, 151)
    assert {"reset", "on then reset", "reset.there"} <= set(map(str, found.never))
    assert [str(each) for each in found.not_reached] == ["on.more"]
    complete = covering_runs(kernel, KINDS, 200, never=partial(never_covered, kernel, KINDS, 60, lambda: None))
    assert (complete.stopped, complete.not_reached, complete.states, complete.whole) == (None, (), 151, 151)
    actions = covering_runs(
        kernel, ["actions"], 200, never=partial(never_covered, kernel, ["actions"], 60, lambda: None)
    )
    assert (actions.stopped, actions.not_reached, actions.states, actions.whole) == (None, (), 100, 151)
    with pytest.raises(EnginesDisagreeError, match="`on`"):
        covering_runs(kernel, KINDS, 120, never=lambda: NeverCovered(frozenset([CoverItem("actions", ("on",))]), 151))
    limited = covering_runs(kernel, KINDS, 120)
    assert (limited.never, limited.missed) == (frozenset(), limited.not_reached)


def test_what_an_engine_says_is_what_a_whole_search_misses(two_phase: CoveringRuns) -> None:
    never = never_covered(two_phase.kernel, KINDS, 60, lambda: None)
    assert never is not None
    assert never.states == two_phase.states
    missed = {kind: {each for each in two_phase.missed if each.kind == kind} for kind in KINDS}
    assert {each for each in never.items if each.kind != "pairs"} == missed["actions"] | missed["guards"]
    assert {each for each in never.items if each.kind == "pairs"} <= missed["pairs"]
    assert never_covered(two_phase.kernel, KINDS, 60, lambda: "interrupted") is None


def test_walks_begin_where_the_search_does_so_long_as_nothing_is_covered() -> None:
    counter = (
        "module counter\nstate:\n    n: 0 .. 1000 = 0\naction count_up:\n    when below: n < 1000\n    n := n + 1\n"
    )
    found = covering_runs(load_text(counter).kernel, ["guards"], 300)
    assert found.stopped == "the limit of 300 states was reached"
    assert [(each.kind, each.names) for each in found.missed] == [("guards", ("count_up", "below"))]
